"""What every command of experiments on an engine of its own has in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.arguments import parse_arguments
from app.cli import main
from app.experiment_form import (
    USUAL_CHUNK_TOK,
    USUAL_CHUNKS,
    USUAL_FACTS,
    USUAL_MINUTES,
    USUAL_PAIRS,
)
from app.experiments import cli_engine
from app.experiments.bench import USUAL_RUNS
from app.experiments.sweep import USUAL_ROUNDS
from app.experiments.users_plan import USUAL_MOST, USUAL_SHARE

WORDS = {
    "bench": [],
    "sweep": ["--vary", "slots=1,2"],
    "compare": ["--b", "slots=2"],
    "users": ["--users", "1"],
    "tune": [],
    "quality": [],
}


@pytest.mark.parametrize("plan", [["--plan"], []], ids=["plan", "run"])
@pytest.mark.parametrize("command", WORDS)
def test_that_a_file_that_is_no_model_is_told_before_anything_is_done(
    command: str,
    plan: Sequence[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def conduct(*_: object, **__: object) -> int:
        raise AssertionError("something would have been done")

    monkeypatch.setattr(cli_engine, "conduct_with_history", conduct)
    text = tmp_path / "text.gguf"
    text.write_text("no model at all")
    for path in (tmp_path / "nope.gguf", text):
        assert main([command, str(path), *WORDS[command], *plan]) == 1
        said = capsys.readouterr()
        assert path.name in said.err
        assert "Planned" not in said.err
        assert said.out == ""


def test_that_the_help_tells_the_usual_values_of_the_experiments_and_the_window() -> None:
    """It does so before anything of them is imported, so they stand in both places."""
    assert parse_arguments(["bench", "m.gguf"]).runs == USUAL_RUNS
    assert parse_arguments(["probe", "localhost"]).runs == USUAL_RUNS
    assert parse_arguments(["sweep", "m.gguf"]).rounds == USUAL_ROUNDS
    users = parse_arguments(["users", "m.gguf"])
    assert (users.share, users.most) == (USUAL_SHARE, USUAL_MOST)
    compare = parse_arguments(["compare", "m.gguf"])
    assert (compare.pairs, compare.seconds) == (USUAL_PAIRS, 60 * USUAL_MINUTES)
    quality = parse_arguments(["quality", "m.gguf"])
    told = (quality.chunks, quality.ctx, quality.facts)
    assert told == (USUAL_CHUNKS, USUAL_CHUNK_TOK, USUAL_FACTS)
