"""What a command that goes on with an experiment refuses before an engine is started."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.experiments import cli_compare, cli_sweep, cli_users
from app.experiments.cli_resume import kept_in
from app.experiments.experiment import State
from app.experiments.history_store import HistoryStore
from app.experiments.model_hash import ModelHashes
from app.experiments.terminal import SENTENCES
from app.storage.folders import own_folders
from tests.unit.experiments.made_experiments import experiment

KEY = "20261130-110036-3f9a2c"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"a model, for all that its hash can tell")
    return path


def keep(sha256: str) -> None:
    made = experiment(KEY)
    subject = msgspec.structs.replace(made.subject, model_sha256=sha256)
    store = HistoryStore(own_folders().history)
    store.keep(msgspec.structs.replace(made, state=State.DONE, subject=subject))
    store.close()


@pytest.mark.parametrize("command", [cli_compare, cli_sweep, cli_users])
def test_that_another_model_is_told_before_an_engine_is_started(
    command: object,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def conduct(*_: object, **__: object) -> int:
        raise AssertionError("an engine would have been started")

    monkeypatch.setattr(command, "conduct_on_own_engine", conduct)
    keep("0" * 64)
    words = {cli_compare: ["--b", "slots=2"], cli_sweep: ["--vary", "slots=1,2"]}
    name = command.__name__.rpartition("_")[2]  # type: ignore[attr-defined]
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())  # type: ignore[attr-defined]
    own = words.get(command, ["--users", "1"])  # type: ignore[call-overload]
    asked = parser.parse_args([name, str(model), *own, "--resume", KEY])
    run: Callable[[argparse.Namespace], int] = command.run  # type: ignore[attr-defined]
    assert run(asked) == 1
    assert "was measured on another model" in capsys.readouterr().err


def test_that_the_same_model_wherever_it_lies_now_is_gone_on_with(model: Path) -> None:
    keep(ModelHashes().of(str(model)))
    moved = model.rename(model.with_name("other.gguf"))
    kept = kept_in(argparse.Namespace(resume=KEY, model=str(moved)))
    assert kept is not None
    assert kept.key == KEY


def test_that_a_model_that_nobody_hashed_refuses_nothing_yet(model: Path) -> None:
    keep("")
    assert kept_in(argparse.Namespace(resume=KEY, model=str(model))) is not None
    with pytest.raises(SENTENCES, match="no home folder"):
        kept_in(argparse.Namespace(resume=KEY, model="~no-such-user/m.gguf"))
