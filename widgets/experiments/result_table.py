"""The table of a result: rows in the order of measuring, or sorted by a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from resources.tokens import DARK, Palette
from widgets.experiments.result_sheet import Column, Field, Row
from widgets.plain_tip import plain_tip, wrapped_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
# Longer titles are broken, or their columns would be wider than what stands in them.
_SHORT_TITLE = 10
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ResultTable(QAbstractTableModel):
    """Rows of a sheet; what was not measured has its reason in place of figures."""

    def __init__(self, parent: QObject) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._columns: tuple[Column, ...] = ()
        self._rows: tuple[Row, ...] = ()
        self._order: list[int] = []
        self._heads: list[str] = []
        self._names = 1
        self._sorted_by: tuple[int, bool] | None = None
        self._bold = QFont()
        self._bold.setWeight(QFont.Weight.DemiBold)
        self._muted = QColor(DARK.muted)
        self._tellers: dict[int, Callable[[Row, Field, int], object]] = {
            Qt.ItemDataRole.DisplayRole: self._shown,
            Qt.ItemDataRole.TextAlignmentRole: self._aligned,
            Qt.ItemDataRole.FontRole: self._font,
            Qt.ItemDataRole.ForegroundRole: self._ink,
            Qt.ItemDataRole.ToolTipRole: self._tip,
            Qt.ItemDataRole.AccessibleTextRole: self._spoken,
        }

    # --- What is in it ------------------------------------------------------------------

    def show(self, columns: Sequence[Column], rows: Sequence[Row], names: int = 1) -> None:
        """Have these rows; the order stays, where the columns are the same.

        Args:
            columns: Those first that tell rows apart.
            rows: In the order of measuring.
            names: How many columns tell them apart.
        """
        self.beginResetModel()
        if [column.key for column in columns] != self.keys():
            self._sorted_by = None
        self._names = names
        self._columns, self._rows = tuple(columns), tuple(rows)
        heads = [_two_lines(column) for column in self._columns]
        has_two = any(second for _, second in heads)
        self._heads = ["\n".join(head) if has_two else head[0] for head in heads]
        self._arrange()
        self.endResetModel()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._muted = QColor(palette.muted)
        if self._rows:
            self.dataChanged.emit(
                self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1)
            )

    def set_font(self, font: QFont) -> None:
        """Use this font for what stands out."""
        self._bold = QFont(font)
        self._bold.setWeight(QFont.Weight.DemiBold)

    def keys(self) -> list[str]:
        """Names of the columns."""
        return [column.key for column in self._columns]

    def row_at(self, line: int) -> Row | None:
        """The row in line ``line``; None beyond the end."""
        return self._rows[self._order[line]] if 0 <= line < len(self._order) else None

    def line_of(self, cell: int) -> int | None:
        """The first line of a configuration; None where it has none."""
        return next(
            (line for line, at in enumerate(self._order) if self._rows[at].cell == cell), None
        )

    @property
    def names(self) -> int:
        """How many columns tell rows apart."""
        return self._names

    def skipped_lines(self) -> list[int]:
        """Lines that hold a reason in place of figures."""
        return [line for line, at in enumerate(self._order) if self._rows[at].skipped]

    def longest(self, column: int) -> str:
        """The longest text of a column, its title apart."""
        texts = (
            row.fields[column].text for row in self._rows if column < self._names or not row.skipped
        )
        return max(texts, key=len, default="")

    def title_lines(self, column: int) -> tuple[str, str]:
        """Title and unit of a column as they stand above it, in two lines."""
        return _two_lines(self._columns[column])

    def title(self, column: int) -> str:
        """Title of a column, without its unit."""
        return self._columns[column].title

    def rank(self, column: int) -> int:
        """Columns of the highest rank give way first; those of rank 0 never do."""
        return self._columns[column].rank

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers."""
        return self._columns[column].is_number

    def is_bold(self, column: int) -> bool:
        """Whether something in a column stands out."""
        return any(row.fields[column].standing in ("best", "alike") for row in self._rows)

    def text(self, lines: Sequence[int] | None = None) -> str:
        """The table for other programs: a line for each row, columns between tabs.

        Args:
            lines: Which ones; None for all.
        """
        head = [f"{c.title} ({c.unit})" if c.unit else c.title for c in self._columns]
        shown = range(len(self._order)) if lines is None else lines
        rows = [self.row_at(line) for line in shown]
        body = [self._texts(row) for row in rows if row is not None]
        # A tab or a line feed in a name would be another column or row.
        return "\n".join(
            "\t".join(" ".join(text.split()) for text in texts) for texts in (head, *body)
        )

    # --- What Qt asks -------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """A line for each row."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """As the sheet has them."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Titles with the units below them, and what they mean."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole and column.tip:
            return wrapped_tip(column.tip)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What stands in a place."""
        tell = self._tellers.get(role)
        if tell is None:  # most of what Qt asks, for each place anew
            return None
        row, column = self.row_at(index.row()), index.column()
        if row is None or not 0 <= column < len(row.fields):
            return None
        return tell(row, row.fields[column], column)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; a negative one is the order of measuring."""
        self.beginResetModel()
        is_down = order is Qt.SortOrder.DescendingOrder
        self._sorted_by = None if column < 0 else (column, is_down)
        self._arrange()
        self.endResetModel()

    # --- Inside -------------------------------------------------------------------------

    def _arrange(self) -> None:
        order = list(range(len(self._rows)))
        if self._sorted_by is None:
            self._order = order
            return
        column, is_down = self._sorted_by
        if self._columns[column].is_number:
            known = [at for at in order if self._rows[at].fields[column].number is not None]
            known.sort(key=lambda at: self._rows[at].fields[column].number or 0.0, reverse=is_down)
            found = set(known)
            self._order = known + [at for at in order if at not in found]
        else:
            order.sort(key=lambda at: self._rows[at].fields[column].text, reverse=is_down)
            self._order = order

    def _aligned(self, row: Row, _field: Field, column: int) -> Qt.AlignmentFlag:
        return _LEFT if row.skipped else self._alignment(column)

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        # What tells rows apart stands at the left, also where it is a number.
        is_right = column >= self._names and self._columns[column].is_number
        return _RIGHT if is_right else _LEFT

    def _shown(self, row: Row, field: Field, column: int) -> str:
        return row.skipped if row.skipped and column == self._names else field.text

    def _font(self, _row: Row, field: Field, _column: int) -> QFont | None:
        return self._bold if field.standing in ("best", "alike") else None

    def _ink(self, row: Row, field: Field, column: int) -> QColor | None:
        is_blank = column > 0 and self._columns[column].is_number and field.number is None
        return self._muted if row.skipped or is_blank else None

    def _texts(self, row: Row) -> list[str]:
        if row.skipped:
            return [*(field.text for field in row.fields[: self._names]), row.skipped]
        return [field.text for field in row.fields]

    def _tip(self, row: Row, _field: Field, _column: int) -> str | None:
        return plain_tip("\n".join(filter(None, (row.skipped, *row.disturbed)))) or None

    def _spoken(self, row: Row, field: Field, column: int) -> str | None:
        if column == 0:
            return f"{row.name}, not measured: {row.skipped}" if row.skipped else row.name
        shown = self._columns[column]
        standing = {"best": ", best", "alike": ", not told from the best"}.get(field.standing, "")
        return f"{shown.title} {field.text} {shown.unit}".rstrip() + standing


def _two_lines(column: Column) -> tuple[str, str]:
    """Title and unit; a long title goes on in the second line."""
    title, unit = column.title, column.unit
    words = f"{title}, {unit}" if unit else title
    if " " not in title or len(title) <= _SHORT_TITLE:
        return title, unit
    breaks = [at for at, sign in enumerate(words) if sign == " "]
    at = min(breaks, key=lambda place: abs(place - len(words) / 2))
    return words[:at], words[at + 1 :]
