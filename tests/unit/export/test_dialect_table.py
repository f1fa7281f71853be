"""The page that says what each engine can be told is what the dialects answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.export import dialect_table, koboldcpp, ollama, vllm
from app.export.carried import Manner
from app.export.dialect import Dialect
from app.export.targets import TARGETS
from engine_bridge.settings.table import SETTINGS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "export.md"


def test_that_the_page_is_up_to_date() -> None:
    made = dialect_table.page()
    assert PAGE.read_text(encoding="utf-8") == made, (
        "write it anew: python -m app.export.dialect_table > docs/export.md"
    )


def test_that_every_setting_has_a_row_and_every_dialect_a_column() -> None:
    lines = dialect_table.page().splitlines()
    head = next(line for line in lines if line.startswith("| setting"))
    assert [cell.strip() for cell in head.split("|")[2:-1]] == list(TARGETS)
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| `")]
    assert rows == [f"`{setting.key}`" for setting in SETTINGS]


@pytest.mark.parametrize(
    ("dialect", "key", "seen"),
    [
        (ollama.export, "ctx_per_slot_tok", {Manner.SAID}),
        (ollama.export, "cache_type_k", {Manner.SAID, Manner.TRANSLATED}),
        (ollama.export, "n_cpu_moe", set()),
        (vllm.export, "cache_type_k", {Manner.TRANSLATED}),
        (vllm.export, "model_path", set()),
        (koboldcpp.export, "n_cpu_moe", {Manner.SAID}),
    ],
)
def test_that_the_cells_are_what_a_dialect_answers(
    dialect: Dialect, key: str, seen: set[Manner]
) -> None:
    assert dialect_table.manners(dialect)[key] == frozenset(seen)
