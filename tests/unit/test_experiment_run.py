"""An experiment in a thread of its own: what is told, kept, cancelled, and survives."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.experiment_run import ExperimentRun, RunEnd
from app.experiments.bench import bench
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.model_hash import ModelHashes
from app.experiments.port import PortError
from app.experiments.reporter import Reporter
from app.storage.storage_error import StorageError
from tests.unit.experiments.fake_port import DIED, FakeEngine, FakePort, config_with
from tests.unit.experiments.made_up import SMALL, small_runner

PATIENCE_MS = 20_000


class Rig:
    """A made-up port, and a gate that its experiment waits at before each kept part."""

    def __init__(self, engine: FakeEngine | None = None, *, is_open: bool = True) -> None:
        self.port = FakePort(engine)
        self.gate, self.at_gate = threading.Event(), threading.Event()
        self.closed_in: list[str] = []
        self.shuts = 0
        if is_open:
            self.gate.set()

    def stop(self) -> None:
        self.port.stop()
        self.gate.set()

    def close(self) -> None:
        self.closed_in.append(threading.current_thread().name)

    def shut(self) -> None:
        self.shuts += 1
        self.stop()

    def work(self, reporter: Reporter) -> Experiment:
        return bench(
            self.port, config_with(), SMALL, reporter, 3, runner=small_runner(),
            hashes=ModelHashes(), clock=lambda: self.port.now_ns / 1e9,
        )  # fmt: skip

    def keep(self, _: Experiment) -> None:
        self.at_gate.set()
        if not self.gate.wait(PATIENCE_MS / 1000):
            raise AssertionError("nobody opened the gate")


class Heard:
    """All that a run has told."""

    def __init__(self, run: ExperimentRun) -> None:
        self.begun = 0
        self.shares: list[float] = []
        self.kept: list[tuple[Experiment, object]] = []
        self.said: list[str] = []
        self.ends: list[RunEnd] = []
        run.begun.connect(self._on_begun)
        run.progressed.connect(lambda share, _, __: self.shares.append(share))
        run.kept.connect(lambda experiment, shown: self.kept.append((experiment, shown)))
        run.said.connect(self.said.append)
        run.ended.connect(self.ends.append)

    def _on_begun(self) -> None:
        self.begun += 1


@pytest.fixture
def run(qapp: object) -> Iterator[ExperimentRun]:
    run = ExperimentRun(lambda experiment: len(experiment.cells[0].runs))
    yield run
    run.shut()


def ended(qtbot: QtBot, heard: Heard) -> RunEnd:
    qtbot.waitUntil(lambda: bool(heard.ends), timeout=PATIENCE_MS)
    (end,) = heard.ends
    return end


def test_that_every_part_is_told_and_shown_and_the_rig_given_back_first(
    run: ExperimentRun, qtbot: QtBot
) -> None:
    heard, rig = Heard(run), Rig()
    kept_in: list[str] = []
    run.start(rig.work, rig, lambda _: kept_in.append(threading.current_thread().name))
    assert (heard.begun, run.is_under_way) == (1, True)
    end = ended(qtbot, heard)
    assert end.experiment is not None
    assert (end.experiment.state, end.sentence, end.fault) == (State.DONE, "", None)
    assert [shown for _, shown in heard.kept] == [1, 2, 3, 3]
    assert set(kept_in) == {"experiment"} == set(rig.closed_in)
    assert heard.shares == sorted(heard.shares)
    assert not run.is_under_way


def test_that_a_second_one_waits_for_the_end_of_the_first(run: ExperimentRun, qtbot: QtBot) -> None:
    heard, rig = Heard(run), Rig(is_open=False)
    run.start(rig.work, rig, rig.keep)
    with pytest.raises(RuntimeError):
        run.start(rig.work, rig, None)
    rig.gate.set()
    ended(qtbot, heard)


def test_that_cancelling_keeps_what_was_measured(run: ExperimentRun, qtbot: QtBot) -> None:
    heard, rig = Heard(run), Rig(is_open=False)
    run.start(rig.work, rig, rig.keep)
    qtbot.waitUntil(rig.at_gate.is_set, timeout=PATIENCE_MS)
    run.cancel()
    assert run.is_stopping
    end = ended(qtbot, heard)
    assert end.is_stopped
    assert end.experiment is not None
    assert end.experiment.state is State.STOPPED
    assert len(end.experiment.cells[0].runs) == 1
    assert not run.is_stopping


def test_that_a_dead_engine_ends_it_with_the_sentence_and_the_runs_before(
    run: ExperimentRun, qtbot: QtBot
) -> None:
    # A request to count tokens, then four for the warm-up and for each run.
    heard, rig = Heard(run), Rig(FakeEngine(dies_after=10))
    run.start(rig.work, rig, None)
    end = ended(qtbot, heard)
    assert end.experiment is not None
    assert (end.sentence, end.is_stopped) == (DIED, False)
    assert len(end.experiment.cells[0].runs) == 1
    assert heard.kept[-1][0].state is State.FAILED


def test_that_a_full_disk_is_told_once_and_stops_nothing(run: ExperimentRun, qtbot: QtBot) -> None:
    def keep(_: Experiment) -> None:
        raise StorageError("The disk is full.")

    heard, rig = Heard(run), Rig()
    run.start(rig.work, rig, keep)
    end = ended(qtbot, heard)
    assert heard.said == ["The disk is full."]
    assert end.experiment is not None
    assert end.experiment.state is State.DONE


def test_that_what_cannot_be_done_is_a_sentence_and_a_fault_is_handed_over(
    run: ExperimentRun, qtbot: QtBot
) -> None:
    def refuse(_: Reporter) -> Experiment:
        raise PortError("No.")

    def fail(_: Reporter) -> Experiment:
        raise ZeroDivisionError

    heard = Heard(run)
    run.start(refuse, Rig(), None)
    assert ended(qtbot, heard) == RunEnd(None, "No.")
    heard.ends.clear()
    run.start(fail, Rig(), None)
    assert isinstance(ended(qtbot, heard).fault, ZeroDivisionError)


def test_that_a_closing_window_waits_for_nothing_and_hears_nothing_more(
    run: ExperimentRun, qtbot: QtBot
) -> None:
    heard, rig = Heard(run), Rig(is_open=False)
    kept: list[Experiment] = []
    is_over = threading.Event()

    def keep(experiment: Experiment) -> None:
        rig.keep(experiment)
        kept.append(experiment)

    def work(reporter: Reporter) -> Experiment:
        try:
            return rig.work(reporter)
        finally:
            is_over.set()

    run.start(work, rig, keep)
    qtbot.waitUntil(rig.at_gate.is_set, timeout=PATIENCE_MS)
    told = len(heard.kept)
    run.shut()
    assert is_over.wait(PATIENCE_MS / 1000)
    assert rig.shuts == 1
    qtbot.wait(1)  # what was on its way would arrive now
    assert (heard.ends, len(heard.kept)) == ([], told)
    assert [each.kind for each in kept][-1:] == [Kind.BENCH]
    assert kept[-1].state is State.STOPPED


def test_that_what_was_on_its_way_when_the_window_closed_is_not_told(
    run: ExperimentRun, qtbot: QtBot
) -> None:
    heard, rig = Heard(run), Rig(is_open=False)
    run.start(rig.work, rig, rig.keep)
    # No event is handled meanwhile, so all that was reported still waits.
    assert rig.at_gate.wait(PATIENCE_MS / 1000)
    run.shut()
    qtbot.wait(1)
    assert (heard.shares, heard.kept, heard.ends) == ([], [], [])
