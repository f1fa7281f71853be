"""Variables of engines that a note names."""

from __future__ import annotations

import pytest

from app.importing.importer import import_text
from app.importing.named_variables import named_variables
from app.importing.text_error import TextError


@pytest.mark.parametrize(
    "text",
    [
        "My settings are\nOLLAMA_NUM_PARALLEL = 2\nOLLAMA_KV_CACHE_TYPE = q8_0\nand it is slow.",
        "| Variable | Value |\n|---|---|\n| `OLLAMA_NUM_PARALLEL` | `2` |\n"
        "| OLLAMA_KV_CACHE_TYPE | q8_0 |",
        "I use:\n- OLLAMA_NUM_PARALLEL: 2\n- **OLLAMA_KV_CACHE_TYPE**: q8_0 (half of it)",
        "1. OLLAMA_NUM_PARALLEL -> 2\n2. OLLAMA_KV_CACHE_TYPE -> q8_0",
    ],
)
def test_that_they_are_read(text: str) -> None:
    (found,) = import_text(text)
    assert found.env == {"OLLAMA_NUM_PARALLEL": "2", "OLLAMA_KV_CACHE_TYPE": "q8_0"}
    assert found.settings["cache_type_k"] == "q8_0"
    assert any("taken out of a note" in note for note in found.notes)


def test_that_sentences_that_name_them_set_nothing() -> None:
    text = "Should I set OLLAMA_NUM_PARALLEL to something? OLLAMA_KV_CACHE_TYPE did not help."
    assert not named_variables(text)
    with pytest.raises(TextError):
        import_text(text)
