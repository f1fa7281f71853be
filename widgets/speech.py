"""What a screen reader is told of the widgets that Qt does not know: roles, and faders' values.

A widget that is painted by hand names its role in the attribute ``accessible_role``.
"""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QApplication, QWidget

from widgets.fader import Fader
from widgets.fader_speech import FaderSpeech

_IS_HEARD = "tunedeck_is_heard"


def let_widgets_speak(app: QApplication) -> None:
    """Have Qt ask here for what it should tell; a second call does nothing."""
    if not app.property(_IS_HEARD):
        app.setProperty(_IS_HEARD, True)
        QAccessible.installFactory(_interface_of)


def _interface_of(_: str, thing: object) -> QAccessibleInterface | None:
    if not isinstance(thing, QWidget):
        return None
    speech: QAccessibleInterface | None = None
    role = getattr(thing, "accessible_role", None)
    if isinstance(thing, Fader):
        speech = FaderSpeech(thing)
    elif isinstance(role, QAccessible.Role):
        speech = QAccessibleWidget(thing, role)
    if speech is not None:
        # Qt owns it; Python must not collect its half before the widget goes.
        vars(thing)["_speech"] = speech
    return speech
