"""Each kind of experiment from the form to its result, in the whole window on a real engine."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.experiments.experiment import Experiment, Kind, State
from app.window import Window
from tests.unit.experiments.fake_server import FakeServer
from tests.window.conftest import PATIENCE_MS
from tests.window.experiment_desk import ended, fill, kept, said, shown_state, start
from widgets.experiments.form_values import YES
from widgets.experiments.result_sheet import ResultSheet

pytestmark = [pytest.mark.gui, pytest.mark.engine]

# Several runs each, on a loaded machine.
_LONG_MS = 3 * PATIENCE_MS


def done(window: Window, qtbot: QtBot, kind: Kind) -> tuple[Experiment, ResultSheet]:
    """Run what the form asks for to its end; what is kept, and what is shown of it."""
    session = window.desk.session
    before, wanted = session.applied, session.wanted
    assert before is not None
    start(window, qtbot)
    ended(window, qtbot, _LONG_MS)
    assert session.applied is not None
    assert (session.applied.config, session.wanted) == (before.config, wanted)
    experiment = kept(window)[0]
    assert (experiment.kind, experiment.state) == (kind, State.DONE), said(window)
    qtbot.waitUntil(lambda: shown_state(window) == "done", timeout=PATIENCE_MS)
    sheet = window.experiments.page.result.sheet()
    assert sheet is not None
    assert sheet.key == experiment.key
    assert sheet.rows
    assert sheet.conclusion or kind is Kind.USERS  # numbers without limits end in no verdict
    return experiment, sheet


def test_that_two_settings_are_compared_in_turns_and_judged(
    experiment_window: Window, qtbot: QtBot
) -> None:
    fill(experiment_window, "compare", b="batch_tok=256, ubatch_tok=32", pairs="4")
    experiment, sheet = done(experiment_window, qtbot, Kind.COMPARE)
    assert [len(cell.runs) for cell in experiment.cells] == [4, 4]
    assert len(sheet.rows) == 2


def test_that_numbers_of_users_are_simulated_and_drawn(
    experiment_window: Window, qtbot: QtBot
) -> None:
    fill(experiment_window, "users", how="numbers", numbers="1,2", judged="4")
    experiment, sheet = done(experiment_window, qtbot, Kind.USERS)
    assert len(experiment.cells) == 2
    assert sheet.charts


def test_that_the_window_tunes_and_says_what_it_tried(
    experiment_window: Window, qtbot: QtBot
) -> None:
    fill(experiment_window, "tune", measurements="6", minutes_tune="2")
    experiment, sheet = done(experiment_window, qtbot, Kind.TUNE)
    assert sum(len(cell.runs) for cell in experiment.cells) <= 6
    assert all(row.notes or row.skipped for row in sheet.rows)


def test_that_a_quantised_cache_is_compared_with_f16_beside_the_engine(
    experiment_window: Window, qtbot: QtBot
) -> None:
    fill(experiment_window, "quality", types="q8_0", chunks="2", chunk_tok="64")
    if experiment_window.experiments.page.form.values().is_on("recall"):
        experiment_window.experiments.page.form.set_text("recall", "")
    experiment, _ = done(experiment_window, qtbot, Kind.QUALITY)
    assert any("q8_0" in cell.name for cell in experiment.cells)


def test_that_a_server_is_measured_beside_the_windows_engine(
    experiment_window: Window, qtbot: QtBot
) -> None:
    with FakeServer() as server:
        fill(experiment_window, "probe", url=server.url, beside=YES, runs="2")
        experiment, sheet = done(experiment_window, qtbot, Kind.PROBE)
    assert [len(cell.runs) for cell in experiment.cells] == [2, 2]
    assert len(sheet.rows) == 2
