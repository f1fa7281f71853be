"""``tunedeck tune`` as it is typed, on a real engine with a tiny model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.tune_result import best_cell
from tests.engine.typed import kept_one

pytestmark = pytest.mark.engine

_ROOT = Path(__file__).resolve().parents[2]
_WORK = ("prompt_tok=48", "answer_tok=16", "turns=1", "requests=2", "think_s=0", "prefix_share=0")
_TIMEOUT_S = 240.0


def typed(environment: dict[str, str], model: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Type it and wait."""
    work = [word for value in _WORK for word in ("--set-workload", value)]
    words = [
        sys.executable, "-m", "app", "tune", str(model), "--workload", "coding-agent", *work,
        "--keep", "threads", "--set", "threads=1", "--margin", "0", *more,
    ]  # fmt: skip
    return subprocess.run(
        words, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S,
        check=False,
    )  # fmt: skip


def test_that_a_tuning_keeps_to_its_budget_its_kept_keys_and_ends_with_a_command_line(
    few_words_path: Path, draft_path: Path, environment: dict[str, str]
) -> None:
    done = typed(
        environment, few_words_path, "--budget", "16", "--draft", str(draft_path),
        "--keep", "threads_batch,ubatch_tok,flash_attn",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "llama-server -m" in done.stdout
    assert "Settings changed:" in done.stdout
    assert "--set slots=1" in done.stdout
    experiment = kept_one(environment)
    assert (experiment.kind, experiment.state) == (Kind.TUNE, State.DONE)
    assert 4 <= sum(len(cell.runs) for cell in experiment.cells) <= 16
    assert all(cell.config.get("threads") == 1 for cell in experiment.cells if cell.runs)
    best = best_cell(experiment)
    assert best is not None
    assert best.config["slots"] == 1
    # Whatever measured faster on this machine: all kinds were tried, and each try has its reason.
    tried = {kind for cell in experiment.cells for kind in cell.config.get("spec_types", ())}  # type: ignore[union-attr]
    assert {"ngram-simple", "draft-simple"} <= tried
    assert all(cell.notes for cell in experiment.cells)


def test_that_the_result_is_one_json_object(
    few_words_path: Path, environment: dict[str, str]
) -> None:
    done = typed(environment, few_words_path, "--budget", "4", "--json")
    assert done.returncode == 0, done.stderr
    told = msgspec.json.decode(done.stdout, type=dict)
    assert told.pop("command_line").startswith("llama-server -m ")
    assert told.pop("command_line_note") == ""
    experiment = msgspec.convert(told, type=Experiment)
    assert experiment.state is State.DONE
    assert best_cell(experiment) is not None
