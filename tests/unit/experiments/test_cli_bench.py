"""The words of ``tunedeck bench``, without an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import cli
from app.arguments import parse_arguments
from app.experiments import cli_bench
from app.experiments.bench import USUAL_RUNS
from tests.tiny_model import write_tiny_llama


def test_that_what_was_not_said_is_usual() -> None:
    asked = parse_arguments(["bench", "m.gguf"])
    assert (asked.runs, asked.workload, asked.json, asked.explain) == (
        USUAL_RUNS, "chat", False, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "slot=2"], "Did you mean 'slots'?"),
        (["--set-workload", "user=2"], "Did you mean 'users'?"),
        (["--workload", "batsh"], "batch"),
        (["--runs", "1001"], "A bench takes 1 to 1,000 runs; got 1,001."),
        (["--set", "ctx_per_slot_tok=256"], "Set the context per slot to"),
        (["--set-workload", "text_path=/none/such.txt"], "such.txt"),
    ],
)
def test_that_wrong_words_are_told_before_an_engine_is_started(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_bench, "conduct_on_own_engine", _no_engine)
    assert cli.main(["bench", "m.gguf", *words]) == 1
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


def _no_engine(*_: object, **__: object) -> int:
    raise AssertionError("an engine was started")


@pytest.mark.parametrize("content", ["", "  \n\n ", "\0\1\2" * 99])
def test_that_a_file_without_a_text_is_told(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(cli_bench, "conduct_on_own_engine", _no_engine)
    path = tmp_path / "prompts.txt"
    path.write_text(content)
    assert cli.main(["bench", "m.gguf", "--set-workload", f"text_path={path}"]) == 1
    assert "prompts.txt" in capsys.readouterr().err


def test_that_ctrl_c_before_the_experiment_has_begun_is_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_bench, "conduct_on_own_engine", interrupted)
    model = write_tiny_llama(tmp_path / "tiny.gguf")
    assert cli.main(["bench", str(model)]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "Stopped."
