"""Keys of the charts' time navigation."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from widgets.charts.time_view import TimeView

# A press of an arrow: of what is shown, and finely with the crosshair.
_PAN, _CURSOR = 0.1, 0.01
_ZOOM = 1.25

_ACTIONS: dict[Qt.Key, Callable[[TimeView], None]] = {
    Qt.Key.Key_Left: lambda view: view.pan(-_PAN * view.length_s),
    Qt.Key.Key_Right: lambda view: view.pan(_PAN * view.length_s),
    Qt.Key.Key_Plus: lambda view: view.zoom(1 / _ZOOM),
    Qt.Key.Key_Equal: lambda view: view.zoom(1 / _ZOOM),  # plus without Shift
    Qt.Key.Key_Minus: lambda view: view.zoom(_ZOOM),
    Qt.Key.Key_0: lambda view: view.reset(),
    Qt.Key.Key_Home: lambda view: view.go_to_begin(),
    Qt.Key.Key_End: lambda view: view.follow(),
    Qt.Key.Key_Space: lambda view: view.toggle(),
}
_SHIFTED: dict[Qt.Key, Callable[[TimeView], None]] = {
    Qt.Key.Key_Left: lambda view: view.move_cursor(-_CURSOR),
    Qt.Key.Key_Right: lambda view: view.move_cursor(_CURSOR),
    Qt.Key.Key_Plus: _ACTIONS[Qt.Key.Key_Plus],
}
_CHANGES = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


def steer(view: TimeView, event: QKeyEvent) -> int | None:
    """Do what a key says.

    Returns:
        The direction in which the next change is to be found; 0 where the key has been dealt with,
        None where it means nothing here.
    """
    key = Qt.Key(event.key())
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if held == Qt.KeyboardModifier.ControlModifier:
        return _CHANGES.get(key)
    if key == Qt.Key.Key_Escape and view.cursor_s is not None:
        view.put_cursor(None)
        return 0
    if held not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        return None
    action = (_SHIFTED if held else _ACTIONS).get(key)
    if action is None:
        return None
    action(view)
    return 0
