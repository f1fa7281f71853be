"""The view of drafts on a hub alone: what it shows, and what it asks for."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from widgets.hub_draft_rows import HubDraftRow
from widgets.hub_drafts_view import HubDraftsView

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
ROWS = (
    HubDraftRow(
        "a/half-GGUF", "Q4_K_M", "draft-simple", "494 M", "468 MiB", "10 %", "can draft",
        "It has the vocabulary.", can_download=True,
    ),
    HubDraftRow(
        "b/other-GGUF", "Q8_0", "draft-simple", "1.1 B", "1.1 GiB", "24 %", "cannot draft",
        "It has another vocabulary.",
    ),
)  # fmt: skip


@pytest.fixture
def view(qtbot: QtBot) -> HubDraftsView:
    made = HubDraftsView()
    qtbot.addWidget(made)
    made.show()
    return made


def test_that_the_first_row_is_looked_at_and_stays_so_when_more_come(view: HubDraftsView) -> None:
    view.show_rows(ROWS[:1])
    assert view.chosen() == 0
    assert view.said() == "a/half-GGUF: It has the vocabulary."
    view.table.selectRow(0)
    view.show_rows(ROWS)
    assert view.chosen() == 0
    view.table.selectRow(1)
    assert view.said() == "b/other-GGUF: It has another vocabulary."


def test_that_only_what_can_draft_can_be_downloaded(view: HubDraftsView, qtbot: QtBot) -> None:
    assert not view.download.isEnabled()
    assert not view.open_repo.isEnabled()
    view.show_rows(ROWS)
    with qtbot.waitSignal(view.download_wanted, timeout=1_000) as asked:
        QTest.mouseClick(view.download, LEFT)
    assert asked.args == [0]
    view.table.selectRow(1)
    assert not view.download.isEnabled()
    with qtbot.waitSignal(view.repo_wanted, timeout=1_000) as opened:
        QTest.mouseClick(view.open_repo, LEFT)
    assert opened.args == ["b/other-GGUF"]


def test_that_the_search_is_said_in_place_of_rows_and_below_them(view: HubDraftsView) -> None:
    view.set_status("Looking …")
    assert not view.table.isVisible()
    shown = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    assert shown.count("Looking …") == 1
    view.show_rows(ROWS)
    assert view.table.isVisible()
    shown = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    assert shown.count("Looking …") == 1


def test_that_it_can_be_stopped_and_begun_again(view: HubDraftsView, qtbot: QtBot) -> None:
    view.set_searching(is_searching=True)
    with qtbot.waitSignal(view.stop_wanted, timeout=1_000):
        QTest.mouseClick(view.stop, LEFT)
    view.set_searching(is_searching=False)
    assert not view.stop.isVisible()
    with qtbot.waitSignal(view.search_wanted, timeout=1_000):
        QTest.mouseClick(view.again, LEFT)


def test_that_it_can_be_used_without_a_mouse(view: HubDraftsView) -> None:
    view.show_rows(ROWS)
    view.table.setFocus()
    QTest.keyClick(view.table, Qt.Key.Key_Down)
    assert view.chosen() == 1
    assert view.table.accessibleName() == "Models that might draft"
