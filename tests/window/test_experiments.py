"""Experiments in the whole window, on a real engine with a tiny model."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import experiment_form_wiring, experiments_wiring
from app.experiment_form import read_form
from app.experiment_offers import offers_for
from app.experiments.experiment import Experiment, State
from app.experiments.history_store import HistoryStore
from app.result_dressing import dressed_sheet
from app.window import Window
from engine_bridge.engine_state import EngineState
from tests.window.conftest import PATIENCE_MS
from tests.window.experiment_desk import ended, fill, kept, said, shown_state, start
from widgets.experiments.form_values import AxisValues
from widgets.experiments.result_sheet import ResultSheet

pytestmark = [pytest.mark.gui, pytest.mark.engine]


@pytest.fixture
def window(experiment_window: Window) -> Window:
    return experiment_window


def test_that_a_bench_runs_is_shown_and_gives_the_settings_back(
    window: Window, qtbot: QtBot
) -> None:
    session = window.desk.session
    session.commit("slots", 3)  # waits for Apply, and still does after the bench
    before, wanted = session.applied, session.wanted
    assert before is not None
    fill(window, "bench", runs="2")
    start(window, qtbot)
    page = window.experiments.page
    assert page.strip.is_under_way
    assert page.is_result_shown
    assert not page.form.start.isEnabled()
    ended(window, qtbot)
    assert session.applied is not None
    assert (session.applied.config, session.wanted) == (before.config, wanted)
    assert said(window) == "Bench done. Your settings are in force again."
    experiment = kept(window)[0]
    assert experiment.state is State.DONE
    assert len(experiment.cells[0].runs) == 2
    qtbot.waitUntil(lambda: shown_state(window) == "done", timeout=PATIENCE_MS)
    sheet = page.result.sheet()
    assert sheet is not None
    assert sheet.key == experiment.key
    assert page.form.start.isEnabled()
    assert page.strip.offered() == (), "what is in front is not offered to be shown"
    page.show_history()
    assert page.strip.offered() == ("show",)
    QTest.mouseClick(page.strip.actions_offered()[0], Qt.MouseButton.LeftButton)
    assert page.is_result_shown
    # It ran with what the engine runs; another number of slots is wanted, so it can be applied.
    assert page.result.pick.can_apply()
    session.commit("slots", before.config.slots)
    assert not page.result.pick.can_apply()


def test_that_the_last_sheet_of_one_experiment_does_not_come_over_the_next(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, gate, made = window.experiments.page, threading.Event(), threading.Event()

    def late(store: HistoryStore, experiment: Experiment) -> ResultSheet:
        assert gate.wait(PATIENCE_MS / 1000)
        sheet = dressed_sheet(store, experiment)
        made.set()
        return sheet

    monkeypatch.setattr(experiments_wiring, "dressed_sheet", late)
    fill(window, "bench", runs="1")
    start(window, qtbot)
    ended(window, qtbot)
    first = kept(window)[0].key
    fill(window, "bench", runs="1")
    start(window, qtbot)
    show, shown = page.result.set_sheet, []

    def note(sheet: ResultSheet | None) -> None:
        shown.append(sheet.key if sheet else "")
        show(sheet)

    monkeypatch.setattr(page.result, "set_sheet", note)
    gate.set()
    qtbot.waitUntil(lambda: made.is_set() and bool(shown), timeout=PATIENCE_MS)
    ended(window, qtbot)
    assert first not in shown


def test_that_a_sweep_can_be_cancelled_and_its_row_applied_and_undone(
    window: Window, qtbot: QtBot
) -> None:
    session = window.desk.session
    before = session.wanted
    fill(window, "sweep", rounds="50")
    window.experiments.page.form.axes.set_values([AxisValues("slots", "1,2")])
    start(window, qtbot)
    strip = window.experiments.page.strip
    assert not strip.show_it.isVisible(), "it is shown"
    window.experiments.page.show_history()
    assert strip.show_it.isVisible()
    QTest.mouseClick(strip.show_it, Qt.MouseButton.LeftButton)
    assert window.experiments.page.is_result_shown
    assert not strip.show_it.isVisible()
    with qtbot.waitSignal(window.experiments.run.kept, timeout=PATIENCE_MS):
        pass
    window.actions_of_window.run("experiments.cancel")
    ended(window, qtbot)
    assert "stopped; " in said(window)
    assert said(window).endswith("Your settings are in force again.")
    assert session.wanted == before
    experiment = kept(window)[0]
    assert experiment.state is State.STOPPED
    assert any(cell.runs for cell in experiment.cells)
    page = window.experiments.page
    page.result.apply_wanted.emit({**experiment.cells[0].config})
    qtbot.waitUntil(lambda: running_slots(window) == 1, timeout=PATIENCE_MS)
    assert page.strip.offered() == ("undo",)
    QTest.mouseClick(page.strip.actions_offered()[0], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: running_slots(window) == before.slots, timeout=PATIENCE_MS)
    assert session.wanted == before


def running_slots(window: Window) -> int:
    applied = window.desk.session.applied
    return 0 if applied is None or window.desk.session.work else applied.config.slots


def test_that_a_dead_engine_keeps_what_was_measured_and_comes_back(
    window: Window, qtbot: QtBot
) -> None:
    fill(window, "bench", runs="50")
    start(window, qtbot)
    with qtbot.waitSignal(window.experiments.run.kept, timeout=PATIENCE_MS):
        pass
    assert window.desk.hello is not None
    os.kill(window.desk.hello.pid, signal.SIGKILL)
    ended(window, qtbot)
    assert "SIGKILL" in said(window)
    assert "restart" not in said(window)
    experiment = kept(window)[0]
    assert experiment.state is State.FAILED
    assert experiment.cells[0].runs
    qtbot.waitUntil(lambda: window.desk.client.state is EngineState.READY, timeout=PATIENCE_MS)


def test_that_nothing_is_called_kept_where_nothing_was_measured(
    window: Window, qtbot: QtBot
) -> None:
    fill(window, "bench", runs="50")
    with qtbot.waitSignal(window.experiments.run.progressed, timeout=PATIENCE_MS):
        start(window, qtbot)
    assert window.desk.hello is not None
    os.kill(window.desk.hello.pid, signal.SIGKILL)
    ended(window, qtbot)
    assert "SIGKILL" in said(window)
    assert "kept" not in said(window)
    qtbot.waitUntil(lambda: window.desk.client.state is EngineState.READY, timeout=PATIENCE_MS)


def test_that_changing_settings_meanwhile_ends_it_with_the_reason(
    window: Window, qtbot: QtBot
) -> None:
    fill(window, "bench", runs="50")
    start(window, qtbot)
    with qtbot.waitSignal(window.experiments.run.kept, timeout=PATIENCE_MS):
        pass
    window.desk.session.commit("temperature", 0.7)
    ended(window, qtbot)
    assert "were changed in the window" in said(window)


def test_that_a_window_closes_at_once_during_a_run_and_the_history_has_it(
    window: Window, qtbot: QtBot
) -> None:
    fill(window, "bench", runs="50")
    start(window, qtbot)
    with qtbot.waitSignal(window.experiments.run.kept, timeout=PATIENCE_MS):
        pass
    assert window.desk.hello is not None
    pid = window.desk.hello.pid
    window.close()
    assert not Path(f"/proc/{pid}/cmdline").exists() or not Path("/proc").exists()
    experiment = kept(window)[0]
    assert experiment.state in (State.RUNNING, State.STOPPED)
    assert experiment.cells[0].runs


def test_that_bad_input_is_told_beside_the_field_and_nothing_begins(
    window: Window, qtbot: QtBot
) -> None:
    fill(window, "bench", requests="none of them")
    form = window.experiments.page.form
    qtbot.waitUntil(form.start.isEnabled, timeout=PATIENCE_MS)
    QTest.mouseClick(form.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(form.fields["requests"].problem()), timeout=PATIENCE_MS)
    assert not window.experiments.run.is_under_way
    assert form.values().text("requests") == "none of them"


def test_that_the_page_is_in_reach_and_the_window_knows_its_tabs(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    page = window.experiments.page
    assert not page.isVisible()
    window.actions_of_window.run("experiments.show")
    assert page.isVisible()
    assert page.isAncestorOf(QApplication.focusWidget() or window)
    assert window.actions_of_window.action("experiments.cancel").why_not() == (
        "No experiment is under way."
    )
    window.actions_of_window.run("experiments.sweep")
    assert page.form.kinds.key() == "sweep"
    assert not page.form.start.isEnabled()
    assert page.form.estimate.text().startswith("No model is loaded.")
    window.go_to("chat")
    assert window.chat.isVisible()


def test_that_what_changes_behind_start_does_not_take_it_back(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read = threading.Event()
    refreshed: list[None] = []

    def slow_read(*words: Any) -> Any:
        may_read.wait(PATIENCE_MS / 1000)
        return read_form(*words)

    def noted_offers(*words: Any) -> Any:
        refreshed.append(None)
        return offers_for(*words)

    monkeypatch.setattr(experiment_form_wiring, "read_form", slow_read)
    monkeypatch.setattr(experiment_form_wiring, "offers_for", noted_offers)
    fill(window, "bench", runs="1")
    page = window.experiments.page
    qtbot.waitUntil(page.form.start.isEnabled, timeout=PATIENCE_MS)
    QTest.mouseClick(page.form.start, Qt.MouseButton.LeftButton)
    refreshed.clear()
    window.desk.session.commit("slots", 3)
    qtbot.waitUntil(lambda: bool(refreshed), timeout=PATIENCE_MS)
    with qtbot.waitSignal(window.experiments.run.begun, timeout=PATIENCE_MS):
        may_read.set()
    ended(window, qtbot)


def test_that_start_says_what_is_wrong_though_something_changed_meanwhile(
    window: Window, qtbot: QtBot
) -> None:
    fill(window, "bench", runs="0")
    page = window.experiments.page
    qtbot.waitUntil(page.form.start.isEnabled, timeout=PATIENCE_MS)
    QTest.mouseClick(page.form.start, Qt.MouseButton.LeftButton)
    window.desk.session.commit("slots", 3)
    qtbot.waitUntil(lambda: bool(page.form.fields["runs"].problem()), timeout=PATIENCE_MS)
    page.form.set_text("runs", "1")
    qtbot.waitUntil(lambda: not page.form.fields["runs"].problem(), timeout=PATIENCE_MS)
