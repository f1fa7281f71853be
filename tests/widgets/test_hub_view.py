"""The view of the hub alone: what it shows, what it asks for, by mouse and keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from widgets.download_strip import DownloadStrip
from widgets.hub_rows import DownloadRow, DownloadState, HubHit, HubSheet, HubWish, QuantRow
from widgets.hub_view import HubView

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
HITS = (
    HubHit("a/one-GGUF", "qwen2 · 494 M", "1,000", "3 likes"),
    HubHit("b/two-GGUF", "llama · 8.0 B", "10", ""),
)
SHEET = HubSheet(
    "a/one-GGUF",
    "Licence apache-2.0",
    (
        QuantRow("Q4_K_M", "468 MiB", "600 MiB", "fits", "It fits."),
        QuantRow("Q8_0", "644 MiB", "–", "not whole", "A part is missing.", can_download=False),
    ),
    chosen="Q4_K_M",
)


@pytest.fixture
def view(qtbot: QtBot) -> HubView:
    made = HubView()
    qtbot.addWidget(made)
    made.show()
    return made


def test_that_a_search_is_asked_for_once_fingers_rest_or_with_enter(
    view: HubView, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(view.search_wanted, timeout=5_000) as asked:
        QTest.keyClicks(view.finder.search, "qwen ")
    assert asked.args == [HubWish("qwen", "downloads")]
    with qtbot.waitSignal(view.search_wanted, timeout=100) as asked:
        QTest.keyClick(view.finder.search, Qt.Key.Key_Return)
    assert asked.args == [HubWish("qwen", "downloads")]
    assert view.isVisible(), "Enter in the search is no answer to the dialog"


def test_that_another_order_is_asked_for(view: HubView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.search_wanted, timeout=100) as asked:
        view.finder.sort.setCurrentIndex(2)
    assert asked.args == [HubWish("", "likes")]


def test_that_what_was_found_can_be_opened(view: HubView, qtbot: QtBot) -> None:
    view.finder.show_hits(HITS, "2 repositories")
    assert view.finder.status() == "2 repositories"
    with qtbot.waitSignal(view.repo_chosen, timeout=100) as chosen:
        view.finder.hits.selectRow(1)
    assert chosen.args == ["b/two-GGUF"]
    view.finder.show_hits((), "Nothing has that in its name.")
    assert view.finder.status() == "Nothing has that in its name."
    assert not view.again.isVisible()
    view.finder.show_fault("The hub does not answer.")
    assert view.finder.status() == "The hub does not answer."
    assert view.again.isVisible()


def test_that_a_repository_begins_with_its_usual_quantisation(view: HubView, qtbot: QtBot) -> None:
    assert not view.download.isEnabled()
    view.show_sheet(SHEET)
    assert view.quant() == "Q4_K_M"
    assert view.said() == "It fits."
    with qtbot.waitSignal(view.download_wanted, timeout=100) as wanted:
        QTest.mouseClick(view.download, LEFT)
    assert wanted.args == ["Q4_K_M"]


def test_that_what_is_not_whole_cannot_be_downloaded_and_says_why(
    view: HubView, qtbot: QtBot
) -> None:
    view.show_sheet(SHEET)
    with qtbot.waitSignal(view.quant_chosen, timeout=100) as chosen:
        view.quants.selectRow(1)
    assert chosen.args == ["Q8_0"]
    assert not view.download.isEnabled()
    assert view.said() == "A part is missing."


def test_that_news_leave_the_choice_as_it_is(view: HubView, qtbot: QtBot) -> None:
    view.show_sheet(SHEET)
    view.quants.selectRow(1)
    with qtbot.assertNotEmitted(view.quant_chosen):
        view.show_sheet(SHEET)
    assert view.quant() == "Q8_0"


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("running", {"Pause", "Cancel"}),
        ("checking", {"Cancel"}),
        ("paused", {"Go on", "Cancel"}),
        ("failed", {"Try again", "Cancel"}),
        ("done", {"Load it"}),
    ],
)
def test_that_a_download_offers_what_can_be_done_now(
    qtbot: QtBot, state: DownloadState, offered: set[str]
) -> None:
    strip = DownloadStrip()
    qtbot.addWidget(strip)
    strip.show_download(DownloadRow("a/one-GGUF Q4_K_M", 0.4, "187 of 468 MiB", state))
    buttons = (strip.pause, strip.resume, strip.cancel, strip.load)
    assert {button.text() for button in buttons if not button.isHidden()} == offered
    assert strip.words() == "187 of 468 MiB"


def test_that_a_download_to_which_nothing_comes_is_marked(qtbot: QtBot) -> None:
    strip = DownloadStrip()
    qtbot.addWidget(strip)
    row = DownloadRow("a/one-GGUF Q4_K_M", 0.4, "nothing has arrived for 20 s", "running")
    for is_stalled, role in ((True, "hint-warning"), (False, "hint")):
        strip.show_download(replace(row, is_stalled=is_stalled))
        (words,) = (each for each in strip.findChildren(QLabel) if each.text() == row.words)
        assert words.property("role") == role
        assert not strip.pause.isHidden()


def test_that_the_next_step_stands_out_once_a_download_is_done(view: HubView) -> None:
    states: tuple[tuple[DownloadState, QPushButton], ...] = (
        ("running", view.download),
        ("done", view.strip.load),
    )
    for state, stands_out in states:
        view.strip.show_download(DownloadRow("a/one-GGUF Q4_K_M", 0.4, "", state))
        pair = (view.download, view.strip.load)
        seen = [each for each in pair if not each.isHidden() and each.property("role") == "primary"]
        assert seen == [stands_out]


def test_that_the_tab_key_goes_from_left_to_right_and_then_down(view: HubView) -> None:
    view.finder.show_hits(HITS, "2 repositories", can_go_on=True)
    view.show_sheet(SHEET)
    view.strip.show_download(DownloadRow("a/one-GGUF Q4_K_M", 0.4, "", "running"))
    view.finder.filters.size_box.setCurrentIndex(1)
    view.finder.search.setFocus()
    names = []
    for _ in range(13):
        widget = QApplication.focusWidget()
        assert widget is not None
        names.append(widget.accessibleName() or str(widget.property("text")))
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    assert names == [
        "Search the hub", "What stands first",
        "Architecture", "Size, in parameters", "Quantisation", "Clear the filters",
        "Repositories found", "Ask the hub for more",
        "Models of the repository", "Judge all", "Download",
        "Pause", "Cancel",
    ]  # fmt: skip
