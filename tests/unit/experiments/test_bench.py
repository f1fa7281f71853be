"""One configuration measured, on a made-up engine and a machine on which nothing else happens."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from app.experiments.bench import MOST_RUNS, bench
from app.experiments.conditions import Conditions
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.lengths import Fixed
from app.experiments.machine_state import MachineState
from app.experiments.model_hash import ModelHashes
from app.experiments.port import ConfigRefusedError
from app.experiments.runner import WorkloadRunner
from app.experiments.tables import experiment_lines
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from engine_bridge.protocol import Generate
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.fake_port import DIED, FakeEngine, FakePort, config_with, requests_sent
from tests.unit.experiments.made_up import Listener

WORK = Workload(
    name="toy", material=Material.CODE, prompt_tok=Fixed(100), answer_tok=Fixed(21), requests=3,
    ttft_slo_s=0.2, tpot_slo_s=0.05,
)  # fmt: skip
_REQUESTS = 3


class _Machine:
    """A machine in one state, but for what ``loud_reads`` says."""

    def __init__(self, loud_reads: tuple[int, ...] = ()) -> None:
        self._loud_reads = loud_reads
        self._reads = 0
        self._state = MachineState(at_s=0.0, busy_s=0.0, ours_s=0.0, on_battery=False)

    def read(self) -> MachineState:
        self._reads += 1
        self._state = replace(
            self._state,
            at_s=self._state.at_s + 1,
            on_battery=self._reads in self._loud_reads,
        )
        return self._state

    def close(self) -> None:
        pass


def measure(
    port: FakePort,
    tmp_path: Path,
    *,
    config: EngineConfig | None = None,
    workload: Workload = WORK,
    runs: int = 5,
    machine: _Machine | None = None,
    reporter: Listener | None = None,
) -> Experiment:
    """Run a bench that watches ``machine``."""
    watched = machine or _Machine()
    runner = WorkloadRunner(
        workload,
        lambda pid: Conditions(pid, open_reader=lambda _: watched, cores=2, period_s=3600.0),
    )
    return bench(
        port, config or config_with(), workload, reporter or Listener(), runs,
        runner=runner, hashes=ModelHashes(tmp_path / "hashes.json"),
        clock=lambda: port.now_ns / 1e9,
    )  # fmt: skip


def test_that_a_warm_up_is_thrown_away_and_every_run_measured(tmp_path: Path) -> None:
    port = FakePort(FakeEngine())
    experiment = measure(port, tmp_path)
    assert (experiment.kind, experiment.state, experiment.failure) == (Kind.BENCH, State.DONE, "")
    (cell,) = experiment.cells
    assert len(cell.runs) == 5
    # A request to count tokens, a warm-up and five runs.
    assert len(requests_sent(port)) == 1 + 6 * _REQUESTS
    for run in cell.runs:
        assert (run.requests, run.failed, run.new_tok) == (3, 0, 63)
        assert run.tpot_s == pytest.approx(0.020)  # a step of one stream
        assert run.itl_p99_s == pytest.approx(0.020)
        assert run.user_tok_s == pytest.approx(50.0)
        assert run.prefill_tok_s == pytest.approx(1000.0)
        assert run.reused_share is not None
        assert run.reused_share < 0.01  # no run profits from the one before
        assert run.owned_bytes == 2 << 30
        assert run.acceptance is None
        # TTFT of about 100 tokens is 0.1 s and keeps 0.2 s; TPOT keeps 0.05 s.
        assert run.kept_share == 1.0
    assert cell.disturbed == ("",) * 5


def test_that_what_was_measured_is_stored_with_it(tmp_path: Path) -> None:
    model = tmp_path / "m.gguf"
    model.write_bytes(b"weights")
    config = config_with(model_path=str(model), slots=2, cache_type_k="q8_0")
    experiment = measure(FakePort(), tmp_path, config=config, runs=1)
    subject = experiment.subject
    assert subject.model_sha256 == hashlib.sha256(b"weights").hexdigest()
    assert "llama-cpp-python 0.0" in subject.engine
    assert "RAM" in subject.machine
    (cell,) = experiment.cells
    assert cell.config == {"slots": 2, "cache_type_k": "q8_0"}
    assert cell.name == "slots=2, cache_type_k=q8_0"
    assert cell.effective["threads"] == 2  # what auto came to
    assert cell.extra["peak_bandwidth_bytes_per_s"] == FakePort().peak_bytes_per_s
    assert msgspec.json.decode(experiment.workload, type=Workload) == WORK
    assert experiment.title.endswith("toy, slots=2, cache_type_k=q8_0")


def test_that_mbu_is_that_of_the_steps_that_only_write(tmp_path: Path) -> None:
    # 1 GB of weights in steps of 20 ms are 50 GB/s of 200, and the cache a little more.
    experiment = measure(FakePort(FakeEngine(kv_bytes_per_tok=0.0)), tmp_path, runs=1)
    assert experiment.cells[0].runs[0].mbu == pytest.approx(0.25)
    said = " ".join(experiment_lines(experiment))
    assert "MBU is the share of a peak of 200.0 GB/s: main memory, read by 2 threads." in said


def test_that_every_run_is_handed_over_as_it_ends(tmp_path: Path) -> None:
    reporter = Listener()
    experiment = measure(FakePort(), tmp_path, runs=3, reporter=reporter)
    runs = [len(kept.cells[0].runs) for kept in reporter.kept_ones]
    states = [kept.state for kept in reporter.kept_ones]
    assert runs == [1, 2, 3, 3]
    assert states == [State.RUNNING] * 3 + [State.DONE]
    assert {kept.key for kept in reporter.kept_ones} == {experiment.key}
    assert reporter.kept_ones[-1] == experiment


def test_that_progress_grows_and_foretells_the_time(tmp_path: Path) -> None:
    reporter, port = Listener(), FakePort()
    measure(port, tmp_path, runs=2, reporter=reporter)
    shares = [share for share, _, _ in reporter.told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    parts = list(dict.fromkeys(sentence for _, sentence, _ in reporter.told))
    assert parts == ["Loading the model", "Warm-up", "Run 1 of 2", "Run 2 of 2"]
    assert reporter.told[1] == (0.0, "Warm-up", None)  # nobody knows yet
    share, _, left_s = next(told for told in reporter.told if told[1] == "Run 2 of 2")
    assert share == pytest.approx(2 / 3)
    run_s = reporter.kept_ones[0].cells[0].runs[0].duration_s
    assert left_s == pytest.approx(run_s, rel=0.4)  # and the wait for the last reports


def test_that_a_disturbed_run_is_marked(tmp_path: Path) -> None:
    # Two readings a run; the warm-up's are the first two.
    experiment = measure(FakePort(), tmp_path, runs=3, machine=_Machine(loud_reads=(5,)))
    said = "The machine ran on its battery, which lowers its clocks."
    assert experiment.cells[0].disturbed == ("", said, "")


def test_that_a_stop_keeps_the_runs_that_had_ended(tmp_path: Path) -> None:
    whole = FakePort()
    measure(whole, tmp_path, runs=1)
    port, reporter = FakePort(), Listener()
    port.stop_at_s = whole.now_ns / 1e9 + 0.2  # early in the second run
    experiment = measure(port, tmp_path, runs=4, reporter=reporter)
    assert experiment.state is State.STOPPED
    assert len(experiment.cells[0].runs) == 1
    assert reporter.kept_ones[-1] == experiment
    assert port.is_idle


def test_that_a_stop_before_the_first_run_leaves_nothing_behind(tmp_path: Path) -> None:
    port, reporter = FakePort(), Listener()
    port.stop_at_s = 1.5
    experiment = measure(port, tmp_path, reporter=reporter)
    assert experiment.state is State.STOPPED
    assert experiment.cells[0].runs == ()
    assert reporter.kept_ones == []


def test_that_a_death_in_the_middle_keeps_the_runs_that_had_ended(tmp_path: Path) -> None:
    counted, warm_up, first = 1, _REQUESTS, _REQUESTS
    port = FakePort(FakeEngine(dies_after=counted + warm_up + first + 1))
    experiment = measure(port, tmp_path)
    assert (experiment.state, experiment.failure) == (State.FAILED, DIED)
    assert len(experiment.cells[0].runs) == 1


def test_that_a_refused_configuration_fails_with_the_engine_s_sentence(tmp_path: Path) -> None:
    port = FakePort(FakeEngine(refusal="The cache cannot be quantised here."))
    experiment = measure(port, tmp_path)
    assert experiment.state is State.FAILED
    assert experiment.failure == "The cache cannot be quantised here."


def test_that_an_engine_that_answers_nothing_is_not_measured(tmp_path: Path) -> None:
    def refuses(command: Generate) -> str:
        return "" if command.as_completion else "The template cannot take this."

    experiment = measure(FakePort(FakeEngine(refuses=refuses)), tmp_path)
    assert experiment.state is State.FAILED
    assert experiment.failure.startswith("3 of 3 requests did not end as asked for.")
    assert "The template cannot take this." in experiment.failure


def test_that_some_failures_are_counted_and_told(tmp_path: Path) -> None:
    asked = itertools.count(1)

    def refuses(_: Generate) -> str:
        # The last one of the second run: behind one to count tokens, a warm-up and a run.
        return "It was refused." if next(asked) == 1 + 3 * _REQUESTS else ""

    port = FakePort(FakeEngine(refuses=refuses))
    experiment = measure(port, tmp_path)
    (cell,) = experiment.cells
    assert [run.failed for run in cell.runs] == [0, 1, 0, 0, 0]
    assert cell.notes[-1] == "1 of 15 requests did not end as asked for. It was refused."


def test_that_more_users_than_slots_are_remarked(tmp_path: Path) -> None:
    workload = msgspec.structs.replace(WORK, users=3)
    experiment = measure(FakePort(), tmp_path, config=config_with(slots=1), workload=workload)
    assert any("3 users share 1 slot" in note for note in experiment.cells[0].notes)


def test_that_with_drafts_each_run_has_other_texts(tmp_path: Path) -> None:
    texts: dict[bool, list[tuple[str, ...]]] = {}
    for has_drafts in (False, True):
        port = FakePort(FakeEngine(drafted=3, accepted=1) if has_drafts else FakeEngine())
        config = config_with(spec_types=("ngram-mod",) if has_drafts else ())
        experiment = measure(port, tmp_path, config=config, runs=2)
        said = [request.messages[-1].content for request in requests_sent(port)[1:]]
        texts[has_drafts] = [tuple(said[at : at + 3]) for at in range(0, len(said), 3)]
        assert len(texts[has_drafts]) == 3
    assert len(set(texts[False])) == 1
    assert len(set(texts[True])) == 3
    assert experiment.cells[0].runs[0].acceptance == pytest.approx(1 / 3)
    assert any("other texts" in note for note in experiment.cells[0].notes)


@pytest.mark.parametrize("runs", [0, -1, MOST_RUNS + 1])
def test_that_a_number_of_runs_that_makes_no_sense_is_refused(tmp_path: Path, runs: int) -> None:
    port = FakePort()
    with pytest.raises(WorkloadError, match=r"takes 1 to 1,000 runs"):
        measure(port, tmp_path, runs=runs)
    assert port.sent == []


def test_that_a_workload_that_cannot_fit_is_refused_before_anything_is_loaded(
    tmp_path: Path,
) -> None:
    port = FakePort()
    workload = msgspec.structs.replace(WORK, prompt_tok=Fixed(9000))
    with pytest.raises(ConfigRefusedError, match="Set the context per slot to") as refused:
        measure(port, tmp_path, workload=workload)
    assert refused.value.problem.fix["ctx_per_slot_tok"] > 9000  # type: ignore[operator]
    assert port.applied == []
