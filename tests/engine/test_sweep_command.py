"""``tunedeck sweep`` and ``compare`` as they are typed, on a real engine with a tiny model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, State
from tests.engine.typed import kept_one

pytestmark = pytest.mark.engine

_ROOT = Path(__file__).resolve().parents[2]
_WORK = ("prompt_tok=48", "answer_tok=12", "requests=4", "users=2")
_TIMEOUT_S = 120.0


def words(command: str, model: Path, *more: str) -> list[str]:
    """The command line of small work."""
    work = [word for value in _WORK for word in ("--set-workload", value)]
    return [
        sys.executable, "-m", "app", command, str(model), "--workload", "batch", *work,
        "--set", "threads=1", *more,
    ]  # fmt: skip


def typed(
    environment: dict[str, str], command: str, model: Path, *more: str
) -> subprocess.CompletedProcess[str]:
    """Type it and wait."""
    return subprocess.run(
        words(command, model, *more), cwd=_ROOT, env=environment, capture_output=True, text=True,
        timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip


def test_that_a_sweep_measures_skips_and_is_kept(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    done = typed(
        environment, "sweep", tiny_chat_path, "--vary", "flash_attn=auto,off", "--vary",
        "cache_type_v=f16,q8_0", "--rounds", "2", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    experiment = msgspec.json.decode(done.stdout, type=Experiment)
    assert (experiment.kind, experiment.state) == (Kind.SWEEP, State.DONE)
    skipped = [cell.name for cell in experiment.cells if cell.skipped]
    assert skipped == ["flash_attn=off, cache_type_v=q8_0"]
    assert all("needs flash attention" in cell.skipped for cell in experiment.cells if cell.skipped)
    for cell in experiment.cells:
        if not cell.skipped:
            assert len(cell.runs) == 2
            assert all((run.new_tok, run.failed) == (48, 0) for run in cell.runs)
            assert all((run.total_tok_s or 0) > 0 for run in cell.runs)
    # Two runs of a tiny model on any machine: whether they can be told apart is not ours to say.
    first = experiment.conclusion[0]
    assert first.startswith(("Best in total throughput: flash_attn=", "No configuration can be"))
    assert "flash_attn=" in first


def test_that_a_sweep_that_was_killed_is_gone_on_with_by_its_key(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    asked = ("--vary", "slots=1,2", "--rounds", "5", "--json")
    process = subprocess.Popen(
        words("sweep", tiny_chat_path, *asked), cwd=_ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "Round 2 of 5" in line:
            break
    process.kill()
    process.communicate()
    cut = kept_one(environment)
    assert cut.state is State.CUT
    before = {cell.name: cell.runs for cell in cut.cells}
    # What was announced had been written; of what followed at most the run in progress is lost.
    assert all(before.values())
    assert sum(map(len, before.values())) < 10

    done = typed(environment, "sweep", tiny_chat_path, *asked, "--resume", cut.key)
    assert done.returncode == 0, done.stderr
    whole = msgspec.json.decode(done.stdout, type=Experiment)
    assert (whole.key, whole.state) == (cut.key, State.DONE)
    for cell in whole.cells:
        assert len(cell.runs) == 5
        assert cell.runs[: len(before[cell.name])] == before[cell.name]
    assert kept_one(environment) == whole
    refused = typed(
        environment, "sweep", tiny_chat_path, "--vary", "slots=1,4", "--resume", cut.key
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "measured other combinations" in refused.stderr


def test_that_two_settings_are_compared_in_a_sentence(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    done = typed(
        environment, "compare", tiny_chat_path, "--a", "slots=1", "--b", "slots=2", "--pairs", "4",
        "--by", "total_tok_s",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "A: slots=1" in done.stdout
    assert "B: slots=2" in done.stdout
    assert any(
        words in done.stdout for words in ("total throughput (", "No difference in", "too few")
    )
    assert "Traceback" not in done.stderr


def test_that_a_comparison_that_was_killed_is_gone_on_with_by_its_key(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    asked = ("--a", "slots=1", "--b", "slots=2", "--pairs", "4", "--json")
    process = subprocess.Popen(
        words("compare", tiny_chat_path, *asked), cwd=_ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "Pair 3 of at most 4" in line:
            break
    process.kill()
    process.communicate()
    cut = kept_one(environment)
    assert cut.state is State.CUT
    # What was announced had been written.
    assert min(len(cell.runs) for cell in cut.cells) == 2

    done = typed(environment, "compare", tiny_chat_path, *asked, "--resume", cut.key)
    assert done.returncode == 0, done.stderr
    whole = msgspec.json.decode(done.stdout, type=Experiment)
    assert (whole.key, whole.state) == (cut.key, State.DONE)
    for cell, before in zip(whole.cells, cut.cells, strict=True):
        assert len(cell.runs) == 4
        assert cell.runs[:2] == before.runs[:2]
    assert kept_one(environment) == whole
    refused = typed(
        environment, "compare", tiny_chat_path, "--a", "slots=1", "--b", "slots=4", "--json",
        "--resume", cut.key,
    )  # fmt: skip
    assert refused.returncode == 1
    assert "measured other combinations" in json.loads(refused.stdout)["error"]
