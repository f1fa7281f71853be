"""What a screen reader and a keyboard find: the accessibility tree of every view, walked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QMessageBox,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.export_wiring import ExportWiring
from app.try_wiring import TryWiring
from app.window import Window
from resources.tokens import DARK, LIGHT, Palette
from tests.widgets.finding import child
from tests.window.conftest import PATIENCE_MS
from widgets.fader import Fader
from widgets.hub_draft_rows import HubDraftRow
from widgets.hub_drafts_view import HubDraftsView
from widgets.theme import apply_theme

pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
Role = QAccessible.Role
# What says nothing of what can be done with it.
_VAGUE = {Role.NoRole, Role.Client, Role.Border, Role.Pane, Role.Window, Role.Whitespace}
_EDITS = {Role.EditableText}
# Reached otherwise: the object name, class or text, and by what.
_BY_OTHER_KEYS = {
    "close a tab": "Ctrl+W",
    "ScrollLeftButton": "Ctrl+Tab",
    "ScrollRightButton": "Ctrl+Tab",
    "qt_spinbox_lineedit": "its box",
}


def all_panels(window: Window) -> QWidget:
    for name in window.docks.names():
        window.docks.show(name)
    for section in window.tune.findChildren(QObject):
        if hasattr(section, "set_open"):
            section.set_open(True)
    return window


def folded(window: Window) -> QWidget:
    window.resize(1100, 800)
    window.show_live()
    return window


def action_list(window: Window) -> QWidget:
    window.actions_of_window.run("help.actions")
    return window.help.list


def keys(window: Window) -> QWidget:
    window.actions_of_window.run("help.keys")
    assert window.help.keys is not None
    return window.help.keys


def about(window: Window) -> QWidget:
    window.actions_of_window.run("help.about")
    return child(window, QMessageBox)


def template(window: Window) -> QWidget:
    window.actions_of_window.run("template.show")
    return window.template_wiring.dialog


def picker(window: Window) -> QWidget:
    window.actions_of_window.run("model.open")
    assert window.engine_wiring.picker.picker is not None
    return window.engine_wiring.picker.picker


def export(window: Window) -> QWidget:
    window.desk.session.want({"model_path": "/models/a.gguf"})
    window.actions_of_window.run("command.export")
    return child(window, ExportWiring).dialog


def trial(window: Window) -> QWidget:
    window.actions_of_window.run("command.try")
    return child(window, TryWiring).dialog


def profiles(window: Window) -> QWidget:
    window.actions_of_window.run("profiles.show")
    view = window.tune_wiring.profiles.view
    assert view is not None
    return view


def hub_drafts(window: Window) -> QWidget:
    view = HubDraftsView(window)
    view.show_rows(
        (
            HubDraftRow(
                "a/half-GGUF", "Q4_K_M", "draft-simple", "494 M", "468 MiB", "10 %", "can draft",
                "It has the vocabulary.", can_download=True,
            ),
        )
    )  # fmt: skip
    view.show()
    return view


VIEWS = (all_panels, folded, action_list, keys, about, picker, export, trial, profiles, hub_drafts)


@pytest.fixture(params=VIEWS, ids=lambda view: view.__name__)
def view(request: pytest.FixtureRequest, make_window: Callable[..., Window]) -> Iterator[QWidget]:
    window = make_window()
    found = request.param(window)
    QApplication.processEvents()
    yield found
    if found is not window:
        found.close()


def interfaces(root: QWidget) -> list[tuple[QWidget, QAccessibleInterface]]:
    """Every visible widget of the tree below ``root`` that takes the keyboard by Tab."""
    found = []
    waiting = [QAccessible.queryAccessibleInterface(root)]
    while waiting:
        interface = waiting.pop()
        if interface is None or not interface.isValid():
            continue
        thing = interface.object()
        if isinstance(thing, QWidget) and thing.isVisible() and takes_tab(thing):
            found.append((thing, interface))
        waiting += [interface.child(place) for place in range(interface.childCount())]
    return found


def takes_tab(widget: QWidget) -> bool:
    takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return takes and widget.focusProxy() is None and widget.isEnabled()


def is_reached_by_arrows(widget: QWidget) -> bool:
    """Of a group of buttons, Tab goes to one (Qt sees to it) and arrows to the others."""
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    if group is None:
        return False
    return any(each.focusPolicy() & Qt.FocusPolicy.TabFocus for each in group.buttons())


def told(widget: QWidget) -> str:
    """Enough to find it in the code."""
    parent = widget.parentWidget()
    name = widget.accessibleName() or getattr(widget, "text", str)() or widget.objectName()
    return f"{type(widget).__name__} {name!r} in {type(parent).__name__}"


def test_that_everything_in_reach_has_a_name_and_a_role_that_says_what_it_is(
    view: QWidget,
) -> None:
    assert interfaces(view)
    assert faults_of_names_and_roles(view) == []


def faults_of_names_and_roles(view: QWidget) -> list[str]:
    found = interfaces(view)
    faults = []
    for widget, interface in found:
        name = interface.text(QAccessible.Text.Name)
        if isinstance(widget, QComboBox):  # on Unix Qt gives its value, and the name by a label
            name = widget.accessibleName()
        if not name:
            faults.append(f"no name: {told(widget)}")
        if interface.role() in _VAGUE:
            faults.append(f"{interface.role().name}: {told(widget)}")
    return faults


def test_that_the_tree_holds_every_widget_in_reach(view: QWidget) -> None:
    in_tree = {widget for widget, _ in interfaces(view)}
    missing = [
        told(widget)
        for widget in view.findChildren(QWidget)
        if widget.isVisible()
        and takes_tab(widget)
        and widget.window() is view.window()
        and not isinstance(widget, QScrollBar)
        and widget not in in_tree
    ]
    assert missing == []


def test_that_tab_goes_round_everything_and_is_caught_nowhere(view: QWidget) -> None:
    assert unreached_by_tab(view) == []


def unreached_by_tab(view: QWidget) -> list[str]:
    in_reach = [widget for widget, _ in interfaces(view)]
    view.activateWindow()
    in_reach[0].setFocus()
    visited: set[QWidget] = set()
    # Twice the count: whoever is caught comes round no more.
    for _ in range(2 * len(in_reach) + 20):
        focus = view.window().focusWidget()  # whichever window is in front
        assert focus is not None
        visited.add(focus)
        # In a field for code Tab indents; then the field has to say what leaves it.
        leaves_by_ctrl = "Ctrl+Tab" in focus.accessibleDescription()
        modifier = Qt.KeyboardModifier
        held = modifier.ControlModifier if leaves_by_ctrl else modifier.NoModifier
        QTest.keyClick(focus, Qt.Key.Key_Tab, held)
    return [
        told(widget)
        for widget in in_reach
        if widget not in visited and view.isAncestorOf(widget) and not is_reached_by_arrows(widget)
    ]


@pytest.mark.engine
def test_that_the_chat_template_can_be_worked_with_by_key_and_ear(
    loaded_window: Window, qtbot: QtBot
) -> None:
    view = template(loaded_window)
    qtbot.waitUntil(lambda: bool(interfaces(view)), timeout=PATIENCE_MS)
    assert faults_of_names_and_roles(view) == []
    assert unreached_by_tab(view) == []
    view.close()


def test_that_whatever_can_be_clicked_can_be_done_by_key(view: QWidget) -> None:
    mouse_only = [
        told(button)
        for button in view.findChildren(QAbstractButton)
        if button.isVisible()
        and not button.focusPolicy() & Qt.FocusPolicy.TabFocus
        and button.objectName() not in _BY_OTHER_KEYS
        and "Ctrl+" not in button.toolTip()
        and not is_reached_by_arrows(button)
    ]
    assert mouse_only == []


# --- Values ----------------------------------------------------------------------------------


def test_that_every_fader_tells_its_number_and_its_unit(make_window: Callable[..., Window]) -> None:
    window = make_window()
    all_panels(window)
    for row in window.tune.rows():
        main = row.control.main
        if not isinstance(main, Fader):
            continue
        interface = QAccessible.queryAccessibleInterface(main)
        assert interface is not None
        values = interface.valueInterface()
        low, now, high = values.minimumValue(), values.currentValue(), values.maximumValue()
        assert low <= now <= high, row.key
        text = interface.text(QAccessible.Text.Value)
        assert text == main.spoken() != "", row.key
        value = row.value()
        if isinstance(value, (int, float)) and low <= value <= high:
            assert now == pytest.approx(value), row.key
            assert text.endswith(row.setting.unit), row.key


def test_that_a_screen_reader_can_move_a_fader(make_window: Callable[..., Window]) -> None:
    window = make_window()
    row = window.tune.row("ctx_per_slot_tok")
    interface = QAccessible.queryAccessibleInterface(row.fader)
    assert interface is not None
    interface.valueInterface().setCurrentValue(8192.0)
    assert row.value() == 8192
    assert interface.text(QAccessible.Text.Value) == "8,192 tok"


def test_that_what_can_be_on_or_off_says_which(make_window: Callable[..., Window]) -> None:
    window = make_window()
    row = window.tune.row("kv_unified")
    states = []
    for value in (False, True):
        row.set_value(value)
        interface = QAccessible.queryAccessibleInterface(row.control.main)
        assert interface is not None
        states.append(bool(interface.state().checked))
    assert states == [False, True]


# --- The ring --------------------------------------------------------------------------------


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_that_the_focus_can_be_seen_wherever_it_is(
    make_window: Callable[..., Window], qtbot: QtBot, palette: Palette
) -> None:
    window = make_window()
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, palette)
    window.set_palette(palette)
    app.setCursorFlashTime(0)
    all_panels(window)
    QApplication.processEvents()
    invisible = []
    for widget, _ in interfaces(window):
        shown_by = ring_of(widget)
        window.areas.go("top")
        if widget.hasFocus():
            window.areas.go("chat")
        before = shown_by.grab().toImage()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        if shown_by.grab().toImage() == before:
            invisible.append(told(widget))
    app.setCursorFlashTime(1000)
    assert invisible == []


def ring_of(widget: QWidget) -> QWidget:
    """Who draws the ring: the widget, or the panel that it fills."""
    parent = widget.parentWidget()
    is_list = isinstance(widget, QAbstractScrollArea)
    return parent if is_list and parent is not None else widget
