"""One setting as a row of the tune column, derived entirely from its row in the settings table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QSizePolicy, QVBoxLayout, QWidget

from engine_bridge.settings.domain import Value
from engine_bridge.settings.row import Setting
from resources.tokens import STEP_PX, Palette
from widgets.control import Control
from widgets.controls import help_tip, make_control
from widgets.cost_badge import CostBadge, CostLevel
from widgets.elided_label import ElidedLabel
from widgets.fader import Fader
from widgets.fader_control import FaderControl
from widgets.steady_label import SteadyLabel
from widgets.theme import set_role
from widgets.value_text import value_with_unit

# A held arrow key repeats faster than this, so that only where it stops becomes a change.
_STEP_SETTLE_MS = 250
# The widest unit there is; every row keeps its place, so that the numbers line up.
_WIDEST_UNIT = "MiB"


class SettingRow(QWidget):
    """Name, value, unit and cost in one line, the control below, one muted line at the foot.

    A double click on the name, its menu or Ctrl+Backspace sets the default again.

    Signals:
        changing: Key (str) and value (object) passed while dragging; nothing is decided.
        changed: Key (str) and value (object) that was chosen.
        refusal_changed: A text that is no value was refused, or is gone.
    """

    changing = Signal(str, object)
    changed = Signal(str, object)
    refusal_changed = Signal()

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        """Build the row of ``setting``, showing its default.

        Raises:
            TypeError: If the setting's domain has no control.
        """
        super().__init__(parent)
        self._setting = setting
        self._control = make_control(setting, self)
        self._name = _NameLabel(setting.label, self)
        self._name.setToolTip(help_tip(setting))
        self._name.setBuddy(self._control.main)
        self._badge = CostBadge(self)
        self._hint = ElidedLabel("", self)
        # A long hint is shortened; it never widens the column.
        self._hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._hint_text: tuple[str, bool] = ("", False)
        self._problem: str | None = None
        self._refusal = ""
        self._lay_out()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_STEP_SETTLE_MS)
        self._settle.timeout.connect(self._on_settled)
        self._reset = self._reset_action()
        self._connect()
        self._show()
        self.setTabOrder(self._control.main, self._control.value_widget)

    @property
    def key(self) -> str:
        """The setting's key."""
        return self._setting.key

    @property
    def setting(self) -> Setting:
        """The row of the table."""
        return self._setting

    @property
    def control(self) -> Control:
        """What moves the value."""
        return self._control

    @property
    def fader(self) -> Fader:
        """The row's fader.

        Raises:
            TypeError: If the row is moved by something else.
        """
        if not isinstance(self._control, FaderControl):
            raise TypeError(f"{self.key} has no fader.")
        return self._control.fader

    def value(self) -> Value:
        """The value shown."""
        return self._control.value()

    def set_value(self, value: Value) -> None:
        """Show ``value``, without a signal; a step not yet settled is dropped."""
        if value != self._control.value():
            self._settle.stop()
            self._control.set_value(value)
            self._show()

    def set_applied(self, value: Value | None) -> None:
        """Mark on the scale what the engine runs now; None marks nothing."""
        self._control.set_applied(value)

    def set_stops(self, stops: Sequence[int]) -> None:
        """Let the fader rest on these numbers instead of the table's."""
        self._control.set_stops(stops)

    def set_badge(self, text: str, level: CostLevel | None) -> None:
        """Say what a change costs, e.g. ``new context 0.3 s``; level None shows nothing."""
        self._badge.set_cost(text, level)

    def set_effective(self, text: str | None) -> None:
        """Say what the engine made of the value: ``on`` (shown as ``auto → on``); None if kept."""
        self._control.set_effective(text)

    def set_hint(self, text: str, is_warning: bool = False) -> None:
        """Say in the muted line what this value means here; empty text names the default."""
        self._hint_text = (text, is_warning)
        self._show_hint()

    def set_problem(self, message: str | None) -> None:
        """Show ``message`` as a warning in place of the hint; None brings the hint back."""
        self._problem = message
        self._show_hint()

    def is_refused(self) -> bool:
        """Whether a text that is no value stands in the row's field."""
        return bool(self._refusal)

    def hint(self) -> str:
        """What the line at the foot says."""
        return self._hint.full_text()

    def badge_text(self) -> str:
        """What the badge says."""
        return self._badge.text()

    def set_compact(self, is_compact: bool) -> None:
        """Leave the badge out where the window has no room for it."""
        self._badge.setHidden(is_compact)
        self._measure_anew()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._control.set_palette(palette)

    def take_focus(self) -> None:
        """Take the keyboard where a value can be typed, all of the old one selected.

        A row without a field gives it to what moves the value.
        """
        field = self._control.value_widget
        if isinstance(field, QLineEdit):
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            field.selectAll()
        else:
            self._control.main.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def reset(self) -> None:
        """Choose the default, as a person would."""
        self._settle.stop()
        if self._control.value() != self._setting.default:
            self._control.set_value(self._setting.default)
            self._on_committed(self._setting.default)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the reset."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._reset)
        menu.popup(event.globalPos())

    def _lay_out(self) -> None:
        self._header = header = QHBoxLayout()
        header.setSpacing(STEP_PX)
        header.addWidget(self._name, 1)
        header.addWidget(self._control.value_widget)
        self._unit = SteadyLabel(_WIDEST_UNIT, self)
        set_role(self._unit, "hint")
        self._unit.setVisible(self._control.leaves_room_for_unit)
        header.addWidget(self._unit)
        header.addWidget(self._badge)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, STEP_PX // 2, 0, 2 * STEP_PX)
        layout.setSpacing(STEP_PX // 2)
        layout.addLayout(header)
        if self._control.body is not None:
            layout.addWidget(self._control.body)
        layout.addWidget(self._hint)

    def _reset_action(self) -> QAction:
        default = value_with_unit(self._setting, self._setting.default)
        action = QAction(f"Reset to default ({default})", self)
        action.setShortcut(QKeySequence(Qt.Modifier.CTRL | Qt.Key.Key_Backspace))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(self.reset)
        self.addAction(action)
        return action

    def _connect(self) -> None:
        self._control.dragged.connect(self._on_dragged)
        self._control.stepped.connect(self._on_stepped)
        self._control.committed.connect(self._on_committed)
        self._control.refused.connect(self._on_refused)
        self._name.double_clicked.connect(self.reset)

    def changeEvent(self, event: QEvent) -> None:
        """In type of another size it needs other room, also while nobody sees it."""
        super().changeEvent(event)
        is_restyled = event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange)
        if is_restyled and hasattr(self, "_column"):
            self._measure_anew()

    def _measure_anew(self) -> None:
        """Forget how wide it had to be: Qt does not by itself in a section that is folded."""
        self._header.invalidate()
        self._column.invalidate()

    def _on_dragged(self, value: Value) -> None:
        self._show()
        self.changing.emit(self.key, value)

    def _on_stepped(self, value: Value) -> None:
        self._show()
        self.changing.emit(self.key, value)
        self._settle.start()

    def _on_settled(self) -> None:
        self._on_committed(self._control.value())

    def _on_committed(self, value: Value) -> None:
        self._settle.stop()
        self._show()
        self.changed.emit(self.key, value)

    def _on_refused(self, sentence: str) -> None:
        self._refusal = sentence
        self._show_hint()
        self.refusal_changed.emit()

    def _show(self) -> None:
        """Follow the control's value."""
        value = self._control.value()
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        self._unit.setText(self._setting.unit if is_number else "")
        self._control.describe()
        self._show_hint()

    def _show_hint(self) -> None:
        text, is_warning = self._hint_text
        if not text:
            default = value_with_unit(self._setting, self._setting.default)
            is_default = self._control.value() == self._setting.default
            text = "default" if is_default else f"default {default}"
        if self._problem is not None:
            text, is_warning = self._problem, True
        if self._refusal:
            text, is_warning = self._refusal, True
        set_role(self._hint, "hint-warning" if is_warning else "hint")
        self._hint.set_text(text)


class _NameLabel(ElidedLabel):
    """The row's name; tells of a double click."""

    double_clicked = Signal()

    def minimumSizeHint(self) -> QSize:
        """All of the name: a value that grows takes the room between them, and no more."""
        return self.sizeHint()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()
