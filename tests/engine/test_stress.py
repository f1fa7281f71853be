"""Random commands at random moments: no request, token, character or cell is lost or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.stress import Cast, Stress
from tests.engine.stress_oracle import Reference
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_window import TinyWindow, write_tiny_window
from tests.tiny_lora import write_tiny_lora
from tests.tiny_model import TinyMamba, write_tiny_mamba

pytestmark = pytest.mark.engine

_ACTS = 60


@pytest.fixture(scope="module", params=["cache", "window", "state", "both"])
def cast(
    request: pytest.FixtureRequest,
    few_words_path: Path,
    draft_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cast]:
    """A model of each kind of memory."""
    path = tmp_path_factory.mktemp("models") / "model.gguf"
    lora: Path | None = None
    match request.param:
        case "window":
            write_tiny_window(path, TinyWindow())
        case "state":
            write_tiny_mamba(path, TinyMamba(vocab_tok=512))
        case "both":
            write_tiny_hybrid(path, TinyHybrid(seed=1))
        case _:
            path = few_words_path
            lora = write_tiny_lora(tmp_path_factory.mktemp("lora") / "style.gguf", path)
    reference = Reference(path)
    yield Cast({path: reference}, draft_path, lora)
    reference.close()


@pytest.mark.parametrize("checks_scores", [True, False])
def test_that_random_commands_break_nothing(
    cast: Cast, tmp_path: Path, checks_scores: bool
) -> None:
    stress = Stress(cast, 2 if checks_scores else 3, tmp_path, checks_scores=checks_scores)
    try:
        stress.start()
        for _ in range(_ACTS):
            stress.act()
            stress.turns()
            stress.check()
        stress.quiet()
    finally:
        stress.close()
    assert stress.answered > 5
