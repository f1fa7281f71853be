"""A server probed as the window does it, alone; the engine beside it is the port's own matter."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.experiment_request import ProbeRequest
from app.experiment_rigs import ProbeRig
from app.experiment_run import ExperimentRun, RunEnd
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.lengths import Fixed
from app.experiments.workload import Material, Workload
from tests.unit.experiments.fake_server import FakeServer, Reply, well

WORK = Workload(
    name="toy", material=Material.PROSE, prompt_tok=Fixed(40), answer_tok=Fixed(6), requests=2
)
PATIENCE_MS = 30_000


def request(url: str) -> ProbeRequest:
    return ProbeRequest(url, "", "", WORK, 2)


def ended(run: ExperimentRun, rig: ProbeRig, qtbot: QtBot) -> tuple[RunEnd, list[Experiment]]:
    ends: list[RunEnd] = []
    kept: list[Experiment] = []
    run.ended.connect(ends.append)
    run.start(rig.do, rig, kept.append)
    qtbot.waitUntil(lambda: bool(ends), timeout=PATIENCE_MS)
    return ends[0], kept


@pytest.fixture
def run(qapp: QObject) -> ExperimentRun:
    return ExperimentRun(lambda _: None)


def test_that_a_server_is_measured_and_kept(run: ExperimentRun, qtbot: QtBot) -> None:
    with FakeServer(well) as server:
        end, kept = ended(run, ProbeRig(request(server.url), None, run), qtbot)
    assert end.experiment is not None
    assert (end.experiment.kind, end.experiment.state, end.sentence) == (
        Kind.PROBE, State.DONE, "",
    )  # fmt: skip
    assert len(end.experiment.cells[0].runs) == 2
    assert kept[-1] == end.experiment


def test_that_a_server_that_is_not_there_is_a_sentence(run: ExperimentRun, qtbot: QtBot) -> None:
    with FakeServer(well) as server:
        url = server.url
    end, kept = ended(run, ProbeRig(request(url), None, run), qtbot)
    assert end.sentence
    assert (end.fault, kept) == (None, [])


def test_that_a_probe_can_be_stopped_while_the_server_says_nothing(
    run: ExperimentRun, qtbot: QtBot
) -> None:
    is_asked = threading.Event()

    def silent(reply: Reply) -> None:
        is_asked.set()
        reply.hang()

    ends: list[RunEnd] = []
    run.ended.connect(ends.append)
    with FakeServer(silent) as server:
        rig = ProbeRig(request(server.url), None, run)
        run.start(rig.do, rig, None)
        qtbot.waitUntil(is_asked.is_set, timeout=PATIENCE_MS)
        run.cancel()
        qtbot.waitUntil(lambda: bool(ends), timeout=PATIENCE_MS)
    assert ends[0].is_stopped
