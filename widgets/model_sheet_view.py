"""Everything that is known of one model: facts, cache sizes, and whether it fits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.elided_label import ElidedLabel
from widgets.model_fit_view import ModelFitView, wrapped_label
from widgets.model_rows import KvRow, ModelSheet
from widgets.theme import set_role

_KV_TITLES = ("K and V", "per token", "windowed layers", "of f16")


class ModelSheetView(QScrollArea):
    """The right side of the picker.

    Signals:
        way_chosen: Id (str) of a change with which the model fits: load it so.
    """

    way_chosen = Signal(str)

    accessible_role = QAccessible.Role.Document

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view without a model."""
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("The selected model")
        self._page = QWidget()
        set_role(self._page, "scrolled")
        self._title = wrapped_label("heading")
        self._path = ElidedLabel("", self._page, Qt.TextElideMode.ElideMiddle)
        set_role(self._path, "hint")
        self._sentence = wrapped_label("warning")
        self._facts = QGridLayout()
        self._facts.setColumnStretch(1, 1)
        self._facts.setHorizontalSpacing(PANEL_PADDING_PX)
        self._facts.setVerticalSpacing(STEP_PX // 2)
        self._line = _line()
        self._kv_title = wrapped_label("heading")
        self._kv_title.setText("KV cache")
        self._kv = QGridLayout()
        self._kv.setColumnStretch(3, 1)
        self._kv.setHorizontalSpacing(PANEL_PADDING_PX)
        self._kv.setVerticalSpacing(STEP_PX // 2)
        self._kv_notes = wrapped_label("hint")
        self.fit = ModelFitView(self._page)
        self.fit.way_chosen.connect(self.way_chosen)
        self._lay_out()
        self.show_nothing("")

    def show_nothing(self, sentence: str) -> None:
        """Show no model, and ``sentence`` why."""
        self.show_sheet(ModelSheet(sentence, ""))
        set_role(self._title, "muted")

    def show_sheet(self, sheet: ModelSheet) -> None:
        """Show one model; what is said of its fit is that of none until it is set."""
        set_role(self._title, "heading")
        self._title.setText(sheet.title)
        self._path.set_text(sheet.path)
        self._sentence.setText(sheet.sentence)
        self._sentence.setVisible(bool(sheet.sentence))
        _clear(self._facts)
        for number, (label, value) in enumerate(sheet.facts):
            name = QLabel(label, self._page)
            set_role(name, "muted")
            text = wrapped_label("", self._page)
            text.setText(value)
            text.setAccessibleName(f"{label}: {value}")
            self._facts.addWidget(name, number, 0, Qt.AlignmentFlag.AlignTop)
            self._facts.addWidget(text, number, 1)
            # At once: a layout would show them one turn of the event loop later.
            name.show()
            text.show()
        self._show_kv(sheet.kv_rows, sheet.kv_notes)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.fit.set_palette(palette)

    def words(self) -> str:
        """Everything that is shown of the model, as text."""
        labels = [label for label in self._page.findChildren(QLabel) if label.isVisibleTo(self)]
        return "\n".join(
            label.full_text() if isinstance(label, ElidedLabel) else label.text()
            for label in labels
        )

    def _show_kv(self, rows: Sequence[KvRow], notes: str) -> None:
        _clear(self._kv)
        self._line.setVisible(bool(rows or notes))
        self._kv_title.setVisible(bool(rows or notes))
        self._kv_notes.setText(notes)
        self._kv_notes.setVisible(bool(notes))
        if not rows:
            return
        has_windows = any(row.windowed for row in rows)
        for column, title in enumerate(_KV_TITLES):
            if title != "windowed layers" or has_windows:
                self._put_cell(title, 0, column, "hint")
        for number, row in enumerate(rows, start=1):
            cells = (row.cache_type, row.per_token, row.windowed, row.share)
            for column, text in enumerate(cells):
                if text:
                    label = self._put_cell(text, number, column, "" if column < 3 else "muted")
                    label.setAccessibleName(f"{row.cache_type}, {_KV_TITLES[column]}: {text}")

    def _put_cell(self, text: str, row: int, column: int, role: str) -> QLabel:
        label = QLabel(text, self._page)
        set_role(label, role)
        side = Qt.AlignmentFlag.AlignRight if 0 < column < 3 else Qt.AlignmentFlag.AlignLeft
        self._kv.addWidget(label, row, column, side)
        label.show()
        return label

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self._page)
        layout.setContentsMargins(PANEL_PADDING_PX, 0, PANEL_PADDING_PX, PANEL_GAP_PX)
        layout.setSpacing(PANEL_GAP_PX)
        head = QVBoxLayout()
        head.setSpacing(STEP_PX // 2)
        head.addWidget(self._title)
        head.addWidget(self._path)
        layout.addLayout(head)
        layout.addWidget(self._sentence)
        layout.addWidget(self.fit)
        layout.addLayout(self._facts)
        layout.addWidget(self._line)
        layout.addWidget(self._kv_title)
        layout.addLayout(self._kv)
        layout.addWidget(self._kv_notes)
        layout.addStretch()
        self.setWidget(self._page)


def _line() -> QFrame:
    line = QFrame()
    line.setFixedHeight(1)
    set_role(line, "line")
    return line


def _clear(layout: QLayout) -> None:
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
