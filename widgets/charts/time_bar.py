"""Above the charts: how much time they show, whether they follow it, and files of them all."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.charts.time_view import TimeView
from widgets.elided_label import ElidedLabel
from widgets.theme import set_role

PRESETS = ((30.0, "30 s"), (120.0, "2 min"), (600.0, "10 min"), (3600.0, "1 h"))
_HELP = (
    "<p>The wheel zooms around the pointer, dragging pans, a double click follows the last two "
    "minutes again. With the keyboard, in a chart: arrows, plus and minus, Home and End, Space.</p>"
)


class TimeBar(QWidget):
    """Presets, and Pause or Follow."""

    def __init__(self, time_view: TimeView, parent: QWidget | None = None) -> None:
        """Steer ``time_view``."""
        super().__init__(parent)
        self._time_view = time_view
        self.setAccessibleName("Time shown by the charts")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._presets = QButtonGroup(self)
        for place, (length_s, text) in enumerate(PRESETS):
            button = QPushButton(text)
            button.setCheckable(True)
            button.setAccessibleName(f"Show {text}")
            button.setToolTip(_HELP)
            is_end = place in (0, len(PRESETS) - 1)
            end = "first" if place == 0 else "last"
            set_role(button, f"segment-{end if is_end else 'middle'}")
            button.clicked.connect(self._shower(length_s))
            self._presets.addButton(button, place)
            row.addWidget(button)
        row.addSpacing(2 * STEP_PX)
        self._where = ElidedLabel()
        set_role(self._where, "hint")
        row.addWidget(self._where, 1)
        row.addSpacing(2 * STEP_PX)
        self.pause_button = QPushButton()
        self.pause_button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.pause_button.clicked.connect(time_view.toggle)
        row.addWidget(self.pause_button)
        self._fit()
        time_view.moved.connect(self._on_moved)
        self._on_moved()

    def say(self, sentence: str) -> None:
        """Show a sentence until something else is shown."""
        self._where.set_text(sentence)

    def said(self) -> str:
        """The sentence shown, or the length where no preset is."""
        return self._where.full_text()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        """Give every text the room it takes at most: nothing moves when one becomes bold."""
        bold = QFont(self.font())
        bold.setBold(True)
        metrics = QFontMetrics(bold)
        for button in self._presets.buttons():
            button.setFixedWidth(metrics.horizontalAdvance(button.text()) + 3 * STEP_PX)
        widest = max(metrics.horizontalAdvance(text) for text in ("Pause", "Follow"))
        self.pause_button.setFixedWidth(widest + 7 * STEP_PX)

    def _shower(self, length_s: float) -> Callable[[], None]:
        def show() -> None:
            self._time_view.show_length(length_s)
            self._on_moved()  # a click on what is shown already must not uncheck it

        return show

    def _on_moved(self) -> None:
        shown = self._time_view.length_s
        self._presets.setExclusive(False)  # between two presets none is checked
        for place, (length_s, _) in enumerate(PRESETS):
            self._presets.button(place).setChecked(abs(shown - length_s) < length_s / 1000)
        is_following = self._time_view.is_following
        self.pause_button.setText("Pause" if is_following else "Follow")
        set_role(self.pause_button, "" if is_following else "primary")
        what = (
            "Stand still; what is measured goes on being recorded (Space)"
            if is_following
            else "Go to the present and follow it (End)"
        )
        self.pause_button.setToolTip(what)
        self.pause_button.setAccessibleDescription(what)
        is_preset = any(button.isChecked() for button in self._presets.buttons())
        self._where.set_text("" if is_preset else _length(shown))


def _length(seconds: float) -> str:
    """``1.0 s``, ``77 s``, ``12 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 300 else f"{seconds / 60:.0f} min"
