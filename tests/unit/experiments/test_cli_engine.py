"""What every command of experiments on an engine of its own has in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.cli import main
from app.experiments import cli_engine

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
