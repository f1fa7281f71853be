"""The filters of the hub's view: chosen, typed, cleared; by mouse and keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from widgets.hub_filter_bar import SIZES, HubFilterBar
from widgets.hub_finder import HubFinder
from widgets.hub_rows import HubHit, HubWish

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
ENTER = Qt.Key.Key_Return


@pytest.fixture
def bar(qtbot: QtBot) -> HubFilterBar:
    made = HubFilterBar()
    qtbot.addWidget(made)
    made.show()
    made.offer(["qwen3", "llama"], ["Q4_K_M", "Q8_0"])
    return made


@pytest.fixture
def finder(qtbot: QtBot) -> HubFinder:
    made = HubFinder()
    qtbot.addWidget(made)
    made.show()
    return made


def offered(bar: HubFilterBar) -> list[str]:
    return [bar.architecture.itemText(row) for row in range(bar.architecture.count())]


def test_that_a_name_is_typed_and_taken_with_enter(bar: HubFilterBar, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(bar.changed):
        QTest.keyClicks(bar.architecture, "qwen")
    with qtbot.waitSignal(bar.changed, timeout=100):
        QTest.keyClick(bar.architecture, ENTER)
    assert bar.architecture.text() == "qwen", "it was completed to what was not typed"
    with qtbot.assertNotEmitted(bar.changed):
        QTest.keyClick(bar.architecture, ENTER)


def test_that_a_name_is_taken_when_the_field_is_left(bar: HubFilterBar, qtbot: QtBot) -> None:
    bar.quantisation.setFocus()
    QTest.keyClicks(bar.quantisation, "Q4*")
    with qtbot.waitSignal(bar.changed, timeout=1_000):
        QTest.keyClick(bar.quantisation, Qt.Key.Key_Tab)
    assert bar.quantisation.text() == "Q4*"


def test_that_a_name_is_chosen_from_those_found_and_given_up(
    bar: HubFilterBar, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(bar.changed, timeout=100):
        QTest.keyClick(bar.architecture, Qt.Key.Key_Down)
    assert bar.architecture.text() == "qwen3"
    with qtbot.waitSignal(bar.changed, timeout=100):
        QTest.keyClick(bar.architecture, Qt.Key.Key_Up)
    assert not bar.architecture.text()
    assert not bar.are_set()


def test_that_what_was_found_later_is_offered_first_and_nothing_typed_is_lost(
    bar: HubFilterBar, qtbot: QtBot
) -> None:
    QTest.keyClicks(bar.architecture, "gem")
    with qtbot.assertNotEmitted(bar.changed):
        bar.offer(["gemma3", "llama"], [])
    assert bar.architecture.currentText() == "gem"
    assert offered(bar) == ["Any architecture", "gemma3", "llama", "qwen3"]


def test_that_one_click_clears_all_and_asks_once(bar: HubFilterBar, qtbot: QtBot) -> None:
    assert not bar.clear.isEnabled()
    bar.architecture.put("qwen3")
    bar.quantisation.put("Q8_0")
    bar.size_box.setCurrentIndex(2)
    assert bar.bounds() == (2 * 10**9, 5 * 10**9)
    told: list[None] = []
    bar.changed.connect(lambda: told.append(None))
    QTest.mouseClick(bar.clear, LEFT)
    assert not bar.are_set()
    assert len(told) == 1
    assert not bar.clear.isEnabled()


def test_that_the_sizes_leave_no_gap() -> None:
    bounds = [(least, most) for _, least, most in SIZES[1:]]
    assert [most for _, most in bounds[:-1]] == [least for least, _ in bounds[1:]]
    assert (bounds[0][0], bounds[-1][1]) == (0, 0)


def test_that_every_filter_has_a_name_for_those_who_do_not_see_it(bar: HubFilterBar) -> None:
    boxes = (bar.architecture, bar.size_box, bar.quantisation, bar.clear)
    assert len({box.accessibleName() for box in boxes}) == 4
    assert all(box.accessibleName() for box in boxes)


def test_that_a_filter_is_part_of_what_is_looked_for(finder: HubFinder, qtbot: QtBot) -> None:
    QTest.keyClicks(finder.search, "coder")
    finder.sort.setCurrentIndex(4)
    finder.filters.quantisation.put("Q8_0")
    with qtbot.waitSignal(finder.search_wanted, timeout=100) as asked:
        finder.filters.size_box.setCurrentIndex(1)
    assert asked.args == [HubWish("coder", "smallest", "", "Q8_0", 0, 2 * 10**9)]


def test_that_what_was_chosen_stays_chosen_where_it_stands_now(
    finder: HubFinder, qtbot: QtBot
) -> None:
    one, two, three = (HubHit(name, "", "1") for name in ("a/one", "b/two", "c/three"))
    finder.show_hits([one, two], "2")
    finder.hits.selectRow(1)
    with qtbot.assertNotEmitted(finder.repo_chosen):
        finder.show_hits([three, one, two], "3")
    assert [item.row() for item in finder.hits.selectedItems()] == [2, 2, 2]
    finder.show_hits([three, one], "2")
    assert not finder.hits.selectedItems()


def test_that_more_is_offered_where_there_is_more(finder: HubFinder, qtbot: QtBot) -> None:
    finder.show_hits([HubHit("a/one", "", "1")], "1 repository; the hub has more", can_go_on=True)
    with qtbot.waitSignal(finder.more_wanted, timeout=100):
        QTest.mouseClick(finder.more, LEFT)
    finder.set_status("Asking the hub …")
    assert not finder.more.isVisible()
    finder.show_hits([], "None of 1,000.", can_go_on=True)
    assert finder.more.isVisible()
    finder.show_fault("The hub does not answer.")
    assert not finder.more.isVisible()
