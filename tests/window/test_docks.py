"""The panels: moved, closed, reopened, remembered; an engine is not needed for that."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.docks import Area
from app.window import Window
from app.window_memory import Unkept
from app.window_place import Place
from resources.tokens import DARK
from tests.window.conftest import SCREEN
from widgets.theme import apply_theme

pytestmark = [
    pytest.mark.gui,
    # Said by the offscreen platform of windows that float and menus that pop up.
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
WIDE, NARROW = 1440, 1100
AT_FIRST = {"tune", "live", "command"}


def kept_after(window: Window, kept: Unkept) -> Unkept:
    """What the next start finds."""
    window.close()
    return Unkept(dict(kept.window_state))


def shown(window: Window) -> set[str]:
    return {name for name in window.docks.names() if window.docks.is_shown(name)}


def drag_border(window: Window, name: str, by_px: int) -> None:
    """Drag the border right of a column at the left."""
    QApplication.processEvents()
    stands = window.docks.dock(name).geometry()
    at = QPoint(stands.right() + 2, stands.center().y())
    to = at + QPoint(by_px, 0)
    QTest.mousePress(window, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(window, to)
    QApplication.processEvents()
    QTest.mouseRelease(window, Qt.MouseButton.LeftButton, pos=to)
    for _ in range(3):
        QApplication.processEvents()


def settled(window: Window, qtbot: QtBot) -> None:
    """Wait until the docks have their sizes."""
    with qtbot.waitSignal(window.docks.settled):
        window.docks._sizes.settle_soon()
    QApplication.processEvents()


def place_of(window: Window) -> Place:
    stands = window.geometry()
    return Place(stands.x(), stands.y(), stands.width(), stands.height())


def test_that_a_moved_closed_and_resized_layout_comes_back(
    make_window: Callable[..., Window],
) -> None:
    kept = Unkept()
    first = make_window(kept)
    first.setGeometry(40, 60, 1300, 760)
    drag_border(first, "tune", 420 - first.tune.width())
    first.docks.move("live", Area.LeftDockWidgetArea)
    first.docks.set_shown("command", False)
    QApplication.processEvents()
    assert first.tune.width() == 420
    second = make_window(kept_after(first, kept))
    assert second.geometry() == first.geometry()
    assert second.dockWidgetArea(second.docks.dock("live")) == Area.LeftDockWidgetArea
    assert not second.docks.is_shown("command")
    assert second.docks.is_shown("tune")
    assert second.tune.width() == 420


def test_that_a_column_folded_at_the_end_is_a_column_again_in_a_wide_window(
    make_window: Callable[..., Window],
) -> None:
    kept = Unkept()
    first = make_window(kept)
    first.resize(NARROW, 800)
    second = make_window(kept_after(first, kept))
    folded = [second.is_folded]
    second.resize(WIDE, 800)
    folded.append(second.is_folded)
    assert folded == [True, False]
    assert second.docks.is_shown("live")
    assert second.live.isVisible()


def test_that_a_closed_column_stays_closed_through_folding(
    make_window: Callable[..., Window],
) -> None:
    window = make_window()
    window.docks.set_shown("live", False)
    window.resize(NARROW, 800)
    window.resize(WIDE, 800)
    assert not window.docks.is_shown("live")


def test_that_a_panel_that_floats_is_not_folded(make_window: Callable[..., Window]) -> None:
    window = make_window()
    window.docks.set_floating("live", True)
    window.resize(NARROW, 800)
    assert not window.is_folded
    assert window.live.isVisible()


def test_that_reset_puts_all_panels_back(make_window: Callable[..., Window]) -> None:
    window = make_window()
    before = {name: window.docks.dock(name).geometry() for name in AT_FIRST}
    window.docks.move("tune", Area.RightDockWidgetArea)
    window.docks.set_floating("live", True)
    window.docks.set_shown("command", False)
    window.docks.reset_requested.emit()
    QApplication.processEvents()
    after = {name: window.docks.dock(name).geometry() for name in AT_FIRST}
    assert after == before
    assert shown(window) == AT_FIRST


@pytest.mark.parametrize(
    "state",
    [
        {"docks": "no base 64 at all", "place": "x", "is_maximised": "?"},
        {"docks": base64.b64encode(b"\x00\xff" * 400).decode(), "place": "1,2"},
        # The head of a true layout, and rubbish behind it.
        {
            "docks": base64.b64encode(
                b"\x00\x00\x00\xff\x00\x00\x00\x01\xfd" + b"\x7f" * 40
            ).decode()
        },
        {"docks": "", "place": "0,0,99999999999,1"},
    ],
)
def test_that_a_damaged_memory_gives_the_first_layout(
    make_window: Callable[..., Window], state: dict[str, str]
) -> None:
    window = make_window(Unkept(state))
    assert shown(window) == AT_FIRST
    assert SCREEN.overlap_px(place_of(window)) == 1440 * 900


@pytest.mark.parametrize("place", ["5000,3000,1440,900", "-32000,-32000,1440,900"])
def test_that_a_window_kept_outside_the_screens_comes_back(
    make_window: Callable[..., Window], place: str
) -> None:
    window = make_window(Unkept({"place": place}))
    assert SCREEN.overlap_px(place_of(window)) == 1440 * 900


def test_that_a_maximised_window_remembers_what_it_was_before(
    make_window: Callable[..., Window],
) -> None:
    kept = Unkept()
    first = make_window(kept)
    first.setGeometry(30, 40, 1250, 720)
    before = first.geometry()
    first.showMaximized()
    second = make_window(kept_after(first, kept))
    assert second.isMaximized()
    assert second.normalGeometry() == before


def test_that_the_keyboard_moves_closes_and_resets_a_panel(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    grip = window.docks.grip("tune")
    grip.setFocus()
    QTest.keyClick(grip, Qt.Key.Key_Return)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert not actions["Move to the left"].isEnabled()
    actions["Move to the right"].trigger()
    menu.close()
    assert window.dockWidgetArea(window.docks.dock("tune")) == Area.RightDockWidgetArea
    actions = {action.text(): action for action in window.docks.menu("tune").actions()}
    actions["Close"].trigger()
    assert not window.docks.is_shown("tune")
    actions["Reset the layout"].trigger()
    assert window.docks.is_shown("tune")
    assert window.dockWidgetArea(window.docks.dock("tune")) == Area.LeftDockWidgetArea


def test_that_a_dock_needs_a_name_of_its_own(make_window: Callable[..., Window]) -> None:
    window = make_window()
    with pytest.raises(ValueError, match="'tune'"):
        window.add_dock("tune", "Tune", window.tune, Area.LeftDockWidgetArea, is_shown=True)


def test_that_a_layout_is_kept_before_the_window_is_closed(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    kept = Unkept()
    window = make_window(kept)
    window.docks.show("log")
    qtbot.waitUntil(lambda: bool(kept.window_state))
    again = make_window(Unkept(dict(kept.window_state)))
    assert again.docks.is_shown("log")


def test_that_nothing_is_written_once_the_window_has_closed(
    make_window: Callable[..., Window],
) -> None:
    kept = Unkept()
    window = make_window(kept)
    window.close()
    window.docks.set_shown("log", True)
    window.resize(1200, 720)
    assert not window._note_soon.isActive()


@pytest.mark.parametrize("name", ["conversations", "log", "live"])
def test_that_a_panel_that_closes_gives_its_room_to_the_conversation(
    make_window: Callable[..., Window], name: str
) -> None:
    window = make_window()
    window.docks.set_shown(name, False)
    QApplication.processEvents()
    before = (window.tune.width(), window.chat.width(), window.chat.height())
    window.docks.show(name)
    QApplication.processEvents()
    window.docks.set_shown(name, False)
    QApplication.processEvents()
    assert (window.tune.width(), window.chat.width(), window.chat.height()) == before


def test_that_a_panel_that_floats_gives_its_room_to_the_conversation(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    settled(window, qtbot)
    tune_px, chat_px = window.tune.width(), window.chat.width()
    window.docks.dock("live").setFloating(True)  # as a double click on its grip does
    settled(window, qtbot)
    assert window.tune.width() == tune_px
    assert window.chat.width() > chat_px
    window.docks.set_floating("live", False)
    settled(window, qtbot)
    assert (window.tune.width(), window.chat.width()) == (tune_px, chat_px)


def test_that_a_panel_that_folds_gives_its_room_to_the_conversation(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    settled(window, qtbot)
    before = (window.tune.width(), window.chat.width(), window.live.width())
    window.resize(NARROW, window.height())
    settled(window, qtbot)
    assert window.is_folded
    assert window.tune.width() == before[0]
    window.resize(WIDE, window.height())
    settled(window, qtbot)
    assert (window.tune.width(), window.chat.width(), window.live.width()) == before


def test_that_a_border_that_was_dragged_stays_there(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    settled(window, qtbot)
    dragged_px = window.tune.width() + 37
    drag_border(window, "tune", 37)
    assert window.tune.width() == dragged_px
    window.docks.set_floating("live", True)
    settled(window, qtbot)
    assert window.tune.width() == dragged_px
    window.docks.set_shown("live", False)
    window.docks.set_shown("log", True)
    settled(window, qtbot)
    assert window.tune.width() == dragged_px


def test_that_type_that_was_large_for_a_while_leaves_the_layout_as_it_was(
    make_window: Callable[..., Window], qtbot: QtBot, qapp: QApplication
) -> None:
    window = make_window()
    settled(window, qtbot)
    before = (window.tune.width(), window.chat.width(), window.live.width(), window.is_folded)
    for scale in (1.3, 2.0, 1.0):
        apply_theme(qapp, DARK, scale)
        settled(window, qtbot)
        if scale == 2.0:
            assert window.is_folded
    assert (window.tune.width(), window.chat.width(), window.live.width(), window.is_folded) == (
        before
    )
