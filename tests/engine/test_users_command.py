"""``tunedeck users`` as it is typed, on a real engine with a tiny model."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.users_cell import JUDGED, KEPT, LONG_P99, OTHER_P99, QUEUE, RATE
from tests.engine.typed import kept_one

pytestmark = pytest.mark.engine

_ROOT = Path(__file__).resolve().parents[2]
_WORK = ("prompt_tok=32", "answer_tok=12", "turns=1", "think_s=0", "prefix_share=0")
_TIMEOUT_S = 120.0


def words(model: Path, *more: str) -> list[str]:
    """The command line of small work."""
    work = [word for value in _WORK for word in ("--set-workload", value)]
    return [
        sys.executable, "-m", "app", "users", str(model), "--workload", "chat", *work,
        "--set", "threads=1", "--set", "slots=2", *more,
    ]  # fmt: skip


def typed(environment: dict[str, str], model: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Type it and wait."""
    return subprocess.run(
        words(model, *more), cwd=_ROOT, env=environment, capture_output=True, text=True,
        timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip


def test_that_a_curve_queues_beyond_the_slots_and_tells_what_a_long_prompt_does(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    limits = ("--set-workload", "ttft_slo_s=60", "--set-workload", "tpot_slo_s=60")
    done = typed(
        environment, tiny_chat_path, *limits, "--users", "1,4", "--requests", "8",
        "--long-prompt", "1500", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "4 users share 2 slots" in done.stderr
    experiment = msgspec.json.decode(done.stdout, type=Experiment)
    assert (experiment.kind, experiment.state) == (Kind.USERS, State.DONE)
    one, four, mixed = experiment.cells
    for cell in (one, four):
        (run,) = cell.runs
        assert (run.failed, run.kept_share) == (0, 1.0)
        assert cell.extra[KEPT] == cell.extra[JUDGED] >= 8
        assert (run.total_tok_s or 0) > 0
    # Two of four always wait for a slot; one alone only for its template.
    assert four.extra[QUEUE] > one.extra[QUEUE]
    assert mixed.runs
    # A tiny model may read the long prompt between two steps of the others: then there is no gap
    # to tell. What is told where there are some is tested with a made-up engine.
    assert all(mixed.extra[name] > 0 for name in (LONG_P99, OTHER_P99) if name in mixed.extra)
    assert kept_one(environment) == experiment


def test_that_a_search_that_is_stopped_says_how_far_it_came_and_is_kept(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    limits = ("--set-workload", "ttft_slo_s=60", "--set-workload", "tpot_slo_s=60")
    process = subprocess.Popen(
        words(tiny_chat_path, *limits, "--find", "--requests", "8"), cwd=_ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "%  4 users" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=_TIMEOUT_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    experiment = kept_one(environment)
    assert experiment.state is State.STOPPED
    assert [cell.name for cell in experiment.cells][:2] == ["1 user", "2 users"]
    assert experiment.conclusion[0] in " ".join(out.split())
    assert experiment.conclusion[-1].endswith("were not tried.")


def test_that_rates_are_a_curve_that_was_killed_and_is_gone_on_with_by_its_key(
    tiny_chat_path: Path, environment: dict[str, str]
) -> None:
    limits = ("--set-workload", "ttft_slo_s=60", "--set-workload", "tpot_slo_s=60")
    asked = (*limits, "--rates", "20,40", "--requests", "10", "--json")
    process = subprocess.Popen(
        words(tiny_chat_path, *asked), cwd=_ROOT, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "40 req/s" in line and "Planned" not in line:
            break
    process.kill()
    process.communicate()
    cut = kept_one(environment)
    assert (cut.state, [cell.name for cell in cut.cells]) == (State.CUT, ["20 req/s"])

    done = typed(environment, tiny_chat_path, *asked, "--resume", cut.key)
    assert done.returncode == 0, done.stderr
    assert "Planned: 1 run (40 req/s) of 10 requests" in done.stderr
    whole = msgspec.json.decode(done.stdout, type=Experiment)
    assert (whole.key, whole.state) == (cut.key, State.DONE)
    assert [cell.extra[RATE] for cell in whole.cells] == [20.0, 40.0]
    assert whole.cells[0] == cut.cells[0]
    assert all(cell.extra[JUDGED] == cell.extra[KEPT] == 10 for cell in whole.cells)
    assert whole.conclusion[0].startswith("Whether 40 req/s keep TTFT ≤ 60 s and TPOT")
    assert kept_one(environment) == whole
