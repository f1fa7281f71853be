"""What becomes of each setting, as rows: changed ones first, found by words. Holds no view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from resources.tokens import DARK, Palette
from widgets.export_sheet import Fate, SettingFate
from widgets.plain_tip import plain_tip
from widgets.row_table import LEFT, RIGHT

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_TITLES = ("Setting", "Your value", "Carried", "How, or why not")
# A sign as well as a colour: no meaning hangs on hue alone.
FATES: dict[Fate, str] = {"said": "✓ yes", "translated": "≈ translated", "left out": "✕ no"}
_SPOKEN: dict[Fate, str] = {
    "said": "carried",
    "translated": "translated",
    "left out": "not carried",
}
_AS_IT_IS = "Said as it is."
# The model is what leaves, and no setting that somebody changed.
_MODEL = "model_path"


class Column(IntEnum):
    """Columns from left to right."""

    LABEL = 0
    VALUE = 1
    FATE = 2
    WORDS = 3


class ExportTable(QAbstractTableModel):
    """Rows of a sheet, those that a search leaves."""

    def __init__(self, parent: QObject) -> None:
        """Make an empty table."""
        super().__init__(parent)
        self._all: tuple[SettingFate, ...] = ()
        self._rows: list[SettingFate] = []
        self._words: list[str] = []
        self._is_changed_only = False
        self._bold = QFont()
        self._tellers: dict[int, Callable[[SettingFate, Column], object]] = {
            Qt.ItemDataRole.DisplayRole: _field,
            Qt.ItemDataRole.AccessibleTextRole: _spoken,
            Qt.ItemDataRole.ToolTipRole: lambda setting, column: plain_tip(_field(setting, column)),
            Qt.ItemDataRole.TextAlignmentRole: lambda _, column: _aligned(column),
            Qt.ItemDataRole.FontRole: self._font,
            Qt.ItemDataRole.ForegroundRole: self._ink,
        }
        self.set_palette(DARK)

    def show(self, settings: Sequence[SettingFate]) -> None:
        """Have these."""
        self._all = tuple(settings)
        self._arrange()

    def search(self, text: str) -> None:
        """Leave those that hold every word of ``text``."""
        self._words = text.casefold().split()
        self._arrange()

    def show_changed_only(self, is_changed_only: bool) -> None:
        """Leave out what has its default."""
        self._is_changed_only = is_changed_only
        self._arrange()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._muted, self._text = QColor(palette.muted), QColor(palette.text)
        self._warning, self._good = QColor(palette.warning), QColor(palette.good)
        self._repaint()

    def set_font(self, font: QFont) -> None:
        """Use this font for what was changed."""
        self._bold = QFont(font)
        self._bold.setWeight(QFont.Weight.DemiBold)
        self._repaint()

    def setting_at(self, row: int) -> SettingFate | None:
        """What stands in ``row``; None beyond the end."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def settings(self) -> tuple[SettingFate, ...]:
        """What is shown, in its order."""
        return tuple(self._rows)

    def longest(self, column: Column) -> str:
        """The longest text of a column among all rows, its title included."""
        texts = [_TITLES[column], *(_field(setting, column) for setting in self._all)]
        return max(texts, key=len)

    def sentence(self) -> str:
        """How many there are, and what becomes of them."""
        changed = [setting for setting in self._all if setting.is_changed and setting.key != _MODEL]
        lost = sum(setting.fate == "left out" for setting in changed)
        if not changed:
            return "You changed no setting."
        if len(changed) == 1:
            return "The one setting that you changed is " + ("not carried." if lost else "carried.")
        if not lost:
            return f"All {len(changed):,} settings that you changed are carried."
        verb = "is" if lost == 1 else "are"
        return f"Of {len(changed):,} settings that you changed {lost:,} {verb} not carried."

    # --- What Qt asks -------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Rows that are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Four."""
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """The titles."""
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return _TITLES[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _aligned(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A field."""
        setting = self.setting_at(index.row())
        if setting is None:
            return None
        teller = self._tellers.get(role)
        return None if teller is None else teller(setting, Column(index.column()))

    # --- Inside -------------------------------------------------------------------------

    def _font(self, setting: SettingFate, column: Column) -> QFont | None:
        return self._bold if setting.is_changed and column is Column.LABEL else None

    def _ink(self, setting: SettingFate, column: Column) -> QColor:
        if column is Column.FATE:
            if setting.fate == "left out":
                # Nobody misses what nobody has set.
                return self._warning if setting.is_changed else self._muted
            return self._good if setting.fate == "said" else self._text
        return self._text if setting.is_changed or column is Column.LABEL else self._muted

    def _arrange(self) -> None:
        self.beginResetModel()
        found = [setting for setting in self._all if self._is_shown(setting)]
        self._rows = sorted(found, key=lambda setting: not setting.is_changed)
        self.endResetModel()

    def _is_shown(self, setting: SettingFate) -> bool:
        if self._is_changed_only and not setting.is_changed:
            return False
        # Whoever types 8192 looks for what stands there as 8,192.
        value = (setting.value, setting.value.replace(",", ""))
        told = (setting.label, setting.key, *value, _SPOKEN[setting.fate], setting.words)
        text = " ".join(told).casefold()
        return all(word in text for word in self._words)

    def _repaint(self) -> None:
        if self._rows:
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(self._rows) - 1, self.columnCount() - 1)
            )


def _aligned(column: int) -> Qt.AlignmentFlag:
    return RIGHT if column == Column.VALUE else LEFT


def _spoken(setting: SettingFate, column: Column) -> str:
    return _SPOKEN[setting.fate] if column is Column.FATE else _field(setting, column)


def _field(setting: SettingFate, column: Column) -> str:
    match column:
        case Column.LABEL:
            return setting.label
        case Column.VALUE:
            return setting.value
        case Column.FATE:
            return FATES[setting.fate]
        case Column.WORDS:
            return setting.words or (_AS_IT_IS if setting.fate == "said" else "")
