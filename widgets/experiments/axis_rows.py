"""The settings that a sweep varies: which, and with what values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.settings.domain import ChoiceDomain, FlagDomain, IntDomain, ListDomain
from engine_bridge.settings.row import Group, Setting
from resources.tokens import DARK, PANEL_GAP_PX, STEP_PX, Palette
from widgets.experiments.form_field import CalmComboBox
from widgets.experiments.form_values import AxisValues
from widgets.long_words import breakable
from widgets.menu_button import MenuButton
from widgets.sentence_label import sentence_label
from widgets.theme import icon, restyle, set_role

_NONE = "Choose a setting"
# K and V of the cache are nearly always changed together.
_TOGETHER = ("cache_type_k", "cache_type_v")
_COMBO_FIGURES = 21
_MOST_STOPS = 24


class AxisRows(QWidget):
    """A row for each setting, and a button for another.

    Signals:
        edited: Somebody typed, chose, added or removed.
    """

    edited = Signal()

    def __init__(self, settings: Sequence[Setting], parent: QWidget | None = None) -> None:
        """Offer ``settings``, with one empty row."""
        super().__init__(parent)
        self._keys = _keys_of(settings)
        self._now: Mapping[str, str] = {}
        self._palette = DARK
        self.rows: list[AxisRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(STEP_PX)
        self.more = QPushButton("Add a setting", self)
        self.more.clicked.connect(self._on_more)
        self.note = sentence_label("hint", self)
        self._column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self.note)
        self.note.hide()
        self.add()

    def values(self) -> tuple[AxisValues, ...]:
        """What varies; a row in which nothing was chosen or typed yet does not count."""
        every = [row.values() for row in self.rows]
        return tuple(each for each in every if each.key or each.values.strip())

    def set_values(self, axes: Sequence[AxisValues]) -> None:
        """Show these."""
        while len(self.rows) > max(1, len(axes)):
            self._drop(self.rows[-1])
        while len(self.rows) < len(axes):
            self.add()
        for row, axis in zip(self.rows, axes or (AxisValues("", ""),), strict=False):
            row.set_values(axis)
        self.edited.emit()

    def set_now(self, values: Mapping[str, str]) -> None:
        """Say what every setting stands at now, by key."""
        self._now = values
        for row in self.rows:
            row.set_now(values)

    def set_problems(self, problems: Sequence[str], note: str, *, is_problem: bool) -> None:
        """Say what is wrong with each row that counts, and what is to be said of all."""
        counting = [row for row in self.rows if row.values() != AxisValues("", "")]
        for row in self.rows:
            row.set_problem("")
        for row, sentence in zip(counting, problems, strict=False):
            row.set_problem(sentence)
        self.note.setText(breakable(note))
        set_role(self.note, "hint-warning" if is_problem else "hint")
        self.note.setVisible(bool(note))

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._palette = palette
        for row in self.rows:
            row.set_palette(palette)

    def add(self) -> AxisRow:
        """Another row."""
        row = AxisRow(self._keys, self)
        row.set_palette(self._palette)
        row.set_now(self._now)
        row.edited.connect(self.edited)
        row.removed.connect(partial(self._on_removed, row))
        self.rows.append(row)
        self._column.insertWidget(len(self.rows) - 1, row)
        self._show_removes()
        return row

    def _on_more(self) -> None:
        self.add().setting.setFocus()
        self.edited.emit()

    def _on_removed(self, row: AxisRow) -> None:
        self._drop(row)
        self.edited.emit()

    def _drop(self, row: AxisRow) -> None:
        self.rows.remove(row)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._show_removes()

    def _show_removes(self) -> None:
        for row in self.rows:
            row.remove.setEnabled(len(self.rows) > 1)


class AxisRow(QWidget):
    """A setting and the values to try.

    Signals:
        edited: Somebody typed or chose.
        removed: It is to go.
    """

    edited = Signal()
    removed = Signal()

    def __init__(self, keys: Mapping[str, tuple[str, Setting]], parent: QWidget) -> None:
        """Offer ``keys`` with what each is called and its (first) setting."""
        super().__init__(parent)
        self._keys = keys
        self._now: Mapping[str, str] = {}
        self.setting = CalmComboBox(self)
        self.setting.setAccessibleName("Setting to vary")
        self.setting.addItem(_NONE, "")
        for key, (words, _) in keys.items():
            self.setting.addItem(words, key)
        figure_px = self.fontMetrics().horizontalAdvance("0")
        self.setting.setFixedWidth(_COMBO_FIGURES * figure_px)
        self.setting.activated.connect(self._on_setting_activated)
        self.field = QLineEdit(self)
        self.field.setAccessibleName("Values to try")
        self.field.textEdited.connect(self.edited)
        self.stops = MenuButton(self)
        self.stops.setText("Add")
        self.stops.setAccessibleName("Add a value of this setting")
        set_role(self.stops, "menu")
        self.stops.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._menu = QMenu(self.stops)
        self.stops.setMenu(self._menu)
        self.remove = QToolButton(self)
        self.remove.setAccessibleName("Remove this setting")
        self.remove.setToolTip("Remove")
        set_role(self.remove, "flat")
        self.remove.clicked.connect(self.removed)
        self.below = sentence_label("hint", self)
        self._lay_out()
        self._show_setting()

    def values(self) -> AxisValues:
        """What is chosen and typed."""
        return AxisValues(str(self.setting.currentData() or ""), self.field.text())

    def set_values(self, axis: AxisValues) -> None:
        """Show this."""
        self.setting.setCurrentIndex(max(0, self.setting.findData(axis.key)))
        self.field.setText(axis.values)
        self._show_setting()

    def set_now(self, values: Mapping[str, str]) -> None:
        """Say what every setting stands at now."""
        self._now = values
        self._show_below("")

    def set_problem(self, sentence: str) -> None:
        """Say what is wrong; empty where nothing is."""
        self._show_below(sentence)

    def problem(self) -> str:
        """What is said to be wrong."""
        return self.below.text() if self.field.property("wrong") else ""

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.stops.set_palette(palette)
        self.remove.setIcon(icon("close", palette.muted))

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(PANEL_GAP_PX)
        grid.setVerticalSpacing(STEP_PX // 2)
        grid.addWidget(self.setting, 0, 0)
        grid.addWidget(self.field, 0, 1)
        grid.addWidget(self.stops, 0, 2)
        grid.addWidget(self.remove, 0, 3)
        grid.addWidget(self.below, 1, 1, 1, 3)
        grid.setColumnStretch(1, 1)

    def _setting(self) -> Setting | None:
        found = self._keys.get(str(self.setting.currentData() or ""))
        return found[1] if found else None

    def _show_setting(self) -> None:
        setting = self._setting()
        stops = _stops_of(setting) if setting is not None else ()
        self.field.setPlaceholderText(f"such as {_joined(setting, stops[:4])}" if stops else "")
        self._menu.clear()
        for stop in stops[:_MOST_STOPS]:
            self._menu.addAction(stop).triggered.connect(partial(self._on_stop, stop))
        self.stops.setEnabled(bool(stops))
        self._show_below("")

    def _show_below(self, problem: str) -> None:
        setting = self._setting()
        key = str(self.setting.currentData() or "").partition("+")[0]
        now = self._now.get(key, "")
        note = f"Now {now}{f' {setting.unit}' if setting.unit else ''}." if setting and now else ""
        self.below.setText(breakable(problem or note))
        self.below.setVisible(bool(problem or note))
        set_role(self.below, "hint-warning" if problem else "hint")
        self.field.setProperty("wrong", bool(problem))
        self.field.setAccessibleDescription(problem or note)
        restyle(self.field)

    def _on_setting_activated(self, _: int) -> None:
        self._show_setting()
        self.edited.emit()

    def _on_stop(self, stop: str, _: bool = False) -> None:
        """Add a value, or take it out again where it stands there."""
        setting = self._setting()
        mark = _mark(setting)
        words = [word.strip() for word in self.field.text().split(mark) if word.strip()]
        words = [word for word in words if word != stop] if stop in words else [*words, stop]
        self.field.setText(_joined(setting, words))
        self.edited.emit()


def _keys_of(settings: Sequence[Setting]) -> dict[str, tuple[str, Setting]]:
    """What can be varied, by key: what it is called, and the setting whose values are offered."""
    keys: dict[str, tuple[str, Setting]] = {}
    for setting in settings:
        if setting.group is Group.MODEL:
            continue
        keys[setting.key] = (setting.label, setting)
        if setting.key == _TOGETHER[-1]:
            keys["+".join(_TOGETHER)] = ("Cache types K and V", setting)
    return keys


def _stops_of(setting: Setting) -> tuple[str, ...]:
    domain = setting.domain
    if isinstance(domain, IntDomain):
        return (*domain.words, *map(str, domain.stops))
    if isinstance(domain, ChoiceDomain | ListDomain):
        return domain.choices
    if isinstance(domain, FlagDomain):
        return ("off", "on")
    return (domain.format(setting.default),)


def _mark(setting: Setting | None) -> str:
    """What separates values: those of a list contain commas themselves."""
    return ";" if setting is not None and isinstance(setting.domain, ListDomain) else ","


def _joined(setting: Setting | None, words: Sequence[str]) -> str:
    return _mark(setting).join(words)
