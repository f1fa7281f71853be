"""Everything that is known of one model: facts, cache sizes, and whether it fits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.cell_grid import Cell, CellGrid
from widgets.elided_label import ElidedLabel
from widgets.model_fit_view import ModelFitView, wrapped_label
from widgets.model_rows import KvRow, ModelSheet
from widgets.template_sample_view import TemplateSampleView
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
        self._facts = CellGrid(self._page, wide=1)
        self._line = _line()
        self._kv_title = wrapped_label("heading")
        self._kv_title.setText("KV cache")
        self._kv = CellGrid(self._page, right=(1, 2))
        self._kv_notes = wrapped_label("hint")
        self.sample = TemplateSampleView(self._page)
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
        self._facts.show_cells(
            [
                (Cell(label, "muted"), Cell(value, "", f"{label}: {value}"))
                for label, value in sheet.facts
            ]
        )
        self._show_kv(sheet.kv_rows, sheet.kv_notes)
        self.sample.setVisible(bool(sheet.facts) and not sheet.sentence)
        self.updateGeometry()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.fit.set_palette(palette)
        self.sample.set_palette(palette)

    def minimumSizeHint(self) -> QSize:
        """Never so narrow that the figures at the right end are cut off."""
        beside = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        width = self._page.minimumSizeHint().width() + beside
        return QSize(width, super().minimumSizeHint().height())

    def words(self) -> str:
        """Everything that is shown of the model, as text."""
        labels = [label for label in self._page.findChildren(QLabel) if label.isVisibleTo(self)]
        return "\n".join(
            label.full_text() if isinstance(label, ElidedLabel) else label.text()
            for label in labels
        )

    def _show_kv(self, rows: Sequence[KvRow], notes: str) -> None:
        self._line.setVisible(bool(rows or notes))
        self._kv_title.setVisible(bool(rows or notes))
        self._kv_notes.setText(notes)
        self._kv_notes.setVisible(bool(notes))
        has_windows = any(row.windowed for row in rows)
        titles = [Cell(title, "hint") for title in _KV_TITLES]
        if not has_windows:
            titles[2] = Cell("")
        self._kv.show_cells([titles, *map(_kv_cells, rows)] if rows else [])

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
        layout.addWidget(self._facts)
        layout.addWidget(self._line)
        layout.addWidget(self._kv_title)
        layout.addWidget(self._kv)
        layout.addWidget(self._kv_notes)
        layout.addWidget(self.sample)
        layout.addStretch()
        self.setWidget(self._page)


def _line() -> QFrame:
    line = QFrame()
    line.setFixedHeight(1)
    set_role(line, "line")
    return line


def _kv_cells(row: KvRow) -> tuple[Cell, ...]:
    texts = (row.cache_type, row.per_token, row.windowed, row.share)
    return tuple(
        Cell(text, "muted" if title == _KV_TITLES[-1] else "", f"{row.cache_type}, {title}: {text}")
        for text, title in zip(texts, _KV_TITLES, strict=True)
    )
