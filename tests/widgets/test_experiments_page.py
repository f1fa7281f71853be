"""The page of experiments: its screens, the strip of what runs, the keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from engine_bridge.settings.table import SETTINGS
from resources.tokens import LIGHT
from widgets.experiments.experiment_form import ExperimentForm
from widgets.experiments.experiments_page import ExperimentsPage
from widgets.experiments.history_view import HistoryView
from widgets.experiments.progress_strip import ProgressStrip
from widgets.experiments.result_view import ResultView

pytestmark = pytest.mark.gui


@pytest.fixture
def page(shown: Callable[[QWidget], None]) -> ExperimentsPage:
    page = ExperimentsPage(HistoryView(), ExperimentForm(SETTINGS, ("bench",)), ResultView())
    page.resize(480, 760)
    shown(page)
    return page


@pytest.fixture
def strip(shown: Callable[[QWidget], None]) -> ProgressStrip:
    strip = ProgressStrip()
    strip.resize(480, 80)
    shown(strip)
    return strip


def test_that_the_list_is_seen_first_and_escape_goes_back_to_it(page: ExperimentsPage) -> None:
    changed: list[bool] = []
    page.screen_changed.connect(lambda: changed.append(page.is_history_shown))
    assert page.is_history_shown
    page.show_form("bench")
    assert page.form.isVisible()
    QTest.keyClick(page.form.fields["users"].control, Qt.Key.Key_Escape)
    page.show_result()
    assert page.is_result_shown
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert changed == [False, True, False, True]


def test_that_back_goes_to_the_list(page: ExperimentsPage) -> None:
    page.show_form()
    QTest.mouseClick(page.form.back, Qt.MouseButton.LeftButton)
    assert page.is_history_shown
    page.show_result()
    page.result.back_wanted.emit()
    assert page.is_history_shown
    page.set_palette(LIGHT)


def test_that_the_strip_tells_how_far_it_is(strip: ProgressStrip) -> None:
    strip.begin("Bench")
    strip.set_progress(0.42, "Run 2 of 5", "3 min")
    assert strip.is_under_way
    assert (strip.percent.text(), strip.left.text()) == ("42 %", "3 min left")
    assert strip.sentence.full_text() == "Run 2 of 5"
    assert strip.bar.accessibleName() == "Bench: 42%, Run 2 of 5"
    strip.set_progress(2.0, "Run 3 of 5", "")
    assert (strip.percent.text(), strip.left.text()) == ("100 %", "")


def test_that_cancel_is_asked_once_and_said(strip: ProgressStrip) -> None:
    asked: list[None] = []
    strip.cancel_requested.connect(lambda: asked.append(None))
    strip.begin("Sweep")
    QTest.mouseClick(strip.cancel, Qt.MouseButton.LeftButton)
    strip.set_stopping()
    strip.set_progress(0.5, "Run 3", "2 min")
    assert len(asked) == 1
    assert not strip.cancel.isEnabled()
    assert strip.sentence.full_text().startswith("Stopping")
    strip.begin("Bench")
    assert strip.cancel.isEnabled()
    strip.set_progress(0.1, "Warm-up", "")
    assert strip.sentence.full_text() == "Warm-up"


def test_that_the_end_is_said_with_what_can_be_done(strip: ProgressStrip) -> None:
    chosen: list[str] = []
    strip.action_requested.connect(chosen.append)
    strip.begin("Tune")
    strip.end("Tune done. Your settings are in force again.")
    strip.offer(("best", "Apply the best"), ("show", "Show"))
    assert not strip.is_under_way
    assert strip.offered() == ("best", "show")
    QTest.mouseClick(strip.actions_offered()[0], Qt.MouseButton.LeftButton)
    assert chosen == ["best"]
    strip.end("Applying: Slots 4 → 8.")
    assert strip.offered() == ()
    QTest.mouseClick(strip.dismiss, Qt.MouseButton.LeftButton)
    assert strip.isHidden()
