"""The configuration that is picked: its settings in words, what is said of it, and to apply it."""

from __future__ import annotations

from collections.abc import Mapping

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
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

_NONE = "Pick a row or a point to see its settings."
_NO_CHANGE = "All settings at their defaults."
_APPLY, _RUNS = "Apply these settings", "These settings run"
_RUNS_ALREADY = "The engine runs these settings already, and nothing else is set."
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
        self._running: Mapping[str, object] = {}
        self._is_low = False
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        set_role(self._name, "heading")
        # Where it is low: name and settings in the line of the button.
        self._line = ElidedLabel()
        self._apply = QPushButton(_APPLY)
        set_role(self._apply, "primary")
        self._apply.clicked.connect(self._on_apply_clicked)
        self._words = sentence_label("hint")
        self._words.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._scroll = _LowArea(self._words)
        header = QHBoxLayout()
        header.setSpacing(2 * STEP_PX)
        header.addWidget(self._name, 1)
        header.addWidget(self._line, 1)
        header.addWidget(self._apply)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, PANEL_PADDING_PX, 2 * STEP_PX)
        column.setSpacing(STEP_PX)
        column.addLayout(header)
        column.addWidget(self._scroll)
        self._column = column
        self.show_row(None)

    def show_row(self, row: Row | None) -> None:
        """Show a configuration; None for none."""
        is_other = row is None or self._row is None or row.cell != self._row.cell
        self._row = row
        self._apply.setVisible(row is not None)
        self._name.setVisible(row is None or not self._is_low)
        self._line.setVisible(row is not None and self._is_low)
        self._scroll.setVisible(row is not None and not self._is_low)
        if row is None:
            self._name.set_text(_NONE)
            set_role(self._name, "hint")
            self._words.clear()
            return
        set_role(self._name, "heading")
        runs = self._is_running(row)
        self._apply.setText(_RUNS if runs else _APPLY)
        self._apply.setEnabled(bool(row.config) and not runs)
        self._apply.setToolTip(_RUNS_ALREADY if runs else "" if row.config else _no_apply(row))
        words = "\n".join(_lines(row))
        name = row.name or "These settings"
        self._name.set_text(name)
        self._line.set_text(" · ".join((name, *words.splitlines())))
        if words != self._words.text():
            self._words.setText(words)
            self._scroll.updateGeometry()
        if is_other:
            self._scroll.verticalScrollBar().setValue(0)

    def set_running(self, values: Mapping[str, object]) -> None:
        """Settings that the engine runs and that are wanted, by key: they need no applying."""
        if values != self._running:
            self._running = dict(values)
            self.show_row(self._row)

    def set_low(self, is_low: bool) -> None:
        """Take one line only, or several."""
        if is_low == self._is_low:
            return
        self._is_low = is_low
        edge = STEP_PX if is_low else 2 * STEP_PX
        self._column.setContentsMargins(PANEL_PADDING_PX, edge, PANEL_PADDING_PX, edge)
        self.show_row(self._row)

    def text(self) -> str:
        """All that is said."""
        return "\n".join(filter(None, (self._name.full_text(), self._words.text())))

    def can_apply(self) -> bool:
        """Whether there are settings to apply."""
        return self._row is not None and self._apply.isEnabled()

    def _is_running(self, row: Row) -> bool:
        return bool(row.config) and all(
            key in self._running and _plain(self._running[key]) == _plain(value)
            for key, value in row.config.items()
        )

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
    return [*skipped, settings, *row.notes, *_disturbed(row)]


def _disturbed(row: Row) -> list[str]:
    """How many runs were disturbed; by what stands above, once."""
    count = len(row.disturbed)
    were = "1 run was" if count == 1 else f"{count:,} runs were"
    return [f"{were} disturbed."] if count else []


def _plain(value: object) -> object:
    """Lists out of a file and those of the settings alike."""
    return tuple(value) if isinstance(value, list) else value


def _no_apply(row: Row) -> str:
    return "It cannot run, so it cannot be applied." if row.skipped else _NO_SETTINGS
