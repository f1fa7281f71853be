"""The configuration that is picked: its settings in words, what is said of it, and to apply it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.experiments.result_sheet import Row
from widgets.theme import set_role

_NONE = "Pick a row or a point to see its settings."
_NO_CHANGE = "All settings at their defaults."
_NO_SETTINGS = "Its settings are not known, so there is nothing to apply."
# What is longer is scrolled to: the figures above must stay in sight.
_MOST_LINES = 4


class ResultPick(QFrame):
    """A strip that is always in sight below the figures.

    Signals:
        apply_wanted: The settings (dict by key) are to be used.
    """

    apply_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Say that nothing is picked."""
        super().__init__(parent)
        set_role(self, "panel")
        self._row: Row | None = None
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        set_role(self._name, "heading")
        self._apply = QPushButton("Apply these settings")
        set_role(self._apply, "primary")
        self._apply.clicked.connect(self._on_apply_clicked)
        self._words = QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        set_role(self._words, "hint")
        self._scroll = _LowArea(self._words)
        header = QHBoxLayout()
        header.setSpacing(2 * STEP_PX)
        header.addWidget(self._name, 1)
        header.addWidget(self._apply)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        column.setSpacing(STEP_PX)
        column.addLayout(header)
        column.addWidget(self._scroll)
        self.show_row(None)

    def show_row(self, row: Row | None) -> None:
        """Show a configuration; None for none."""
        is_other = row is None or self._row is None or row.cell != self._row.cell
        self._row = row
        self._apply.setVisible(row is not None)
        self._scroll.setVisible(row is not None)
        if row is None:
            self._name.set_text(_NONE)
            set_role(self._name, "hint")
            self._words.clear()
            return
        set_role(self._name, "heading")
        self._name.set_text(row.name or "These settings")
        self._apply.setEnabled(bool(row.config))
        self._apply.setToolTip("" if row.config else _no_apply(row))
        words = "\n".join(_lines(row))
        if words != self._words.text():
            self._words.setText(words)
            self._scroll.updateGeometry()
        if is_other:
            self._scroll.verticalScrollBar().setValue(0)

    def text(self) -> str:
        """All that is said."""
        return "\n".join(filter(None, (self._name.full_text(), self._words.text())))

    def can_apply(self) -> bool:
        """Whether there are settings to apply."""
        return self._row is not None and self._apply.isEnabled()

    def _on_apply_clicked(self) -> None:
        if self._row is not None and self._row.config:
            self.apply_wanted.emit(dict(self._row.config))


class _LowArea(QScrollArea):
    """As high as its words, and never higher than a few lines."""

    def __init__(self, words: QLabel) -> None:
        super().__init__()
        self._words = words
        # The stylesheet makes what lies directly in an area transparent, and no label.
        body = QWidget()
        set_role(body, "scrolled")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(words)
        self.setWidget(body)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Settings of what is picked")

    def sizeHint(self) -> QSize:
        """The height of the words in the width there is."""
        width = max(self.viewport().width(), 40 * STEP_PX)
        height = min(self._words.heightForWidth(width), self._most_px())
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        """The same: it is small already."""
        return QSize(20 * STEP_PX, self.sizeHint().height())

    def _most_px(self) -> int:
        return _MOST_LINES * self._words.fontMetrics().lineSpacing()


def _lines(row: Row) -> list[str]:
    """Why it was not measured, its settings in one line, then what else is said of it."""
    settings = " · ".join(f"{name} {value}" for name, value in row.settings)
    if not settings:
        settings = _NO_CHANGE if row.config else _NO_SETTINGS
    skipped = [f"Not measured: {row.skipped}"] if row.skipped else []
    return [*skipped, settings, *row.notes, *row.disturbed]


def _no_apply(row: Row) -> str:
    return "It cannot run, so it cannot be applied." if row.skipped else _NO_SETTINGS
