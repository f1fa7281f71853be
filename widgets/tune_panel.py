"""The tune column: profile and memory on top, a row per setting, problems at the foot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from engine_bridge.settings.domain import Value
from engine_bridge.settings.row import Group, Setting
from engine_bridge.settings.rules import Problem
from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, TUNE_WIDTH_PX, Palette
from widgets.memory_bar import MemoryBar
from widgets.problem_list import ProblemList
from widgets.profiles_menu import ProfilesMenu
from widgets.section import Section
from widgets.setting_row import SettingRow
from widgets.theme import set_role

_FOLDED = (
    Group.NGRAM, Group.DRAFT, Group.CACHE, Group.PLACEMENT, Group.EXTRAS, Group.BATCH,
    Group.SAMPLING, Group.MORE_SAMPLING,
)  # fmt: skip
# Room that the scroll bar takes from the rows.
_SCROLL_BAR_PX = 3 * STEP_PX


class TunePanel(QFrame):
    """All rows; the main ones open, the others in sections that fold.

    Signals:
        changing: Key (str) and value (object) passed while a fader is dragged.
        changed: Key (str) and value (object) that was chosen.
        refusal_changed: A text that is no value was refused in a row, or is gone.
        repair_requested: The ``Problem`` whose repair was pressed.
        draft_model_requested: A draft model is to be chosen, which a problem asks for.
    """

    changing = Signal(str, object)
    changed = Signal(str, object)
    refusal_changed = Signal()
    repair_requested = Signal(object)
    draft_model_requested = Signal()

    def __init__(self, settings: Iterable[Setting], parent: QWidget | None = None) -> None:
        """Build a row for each of ``settings`` that is no choice of model."""
        super().__init__(parent)
        shown = [setting for setting in settings if setting.group is not Group.MODEL]
        set_role(self, "panel")
        self.setAccessibleName("Tune")
        self.profiles = ProfilesMenu(self)
        self.memory_bar = MemoryBar(self)
        self._problems = ProblemList(self)
        self._problems.repair_requested.connect(self.repair_requested)
        self._problems.draft_model_requested.connect(self.draft_model_requested)
        self._sections = {group: Section(group.value, self) for group in _FOLDED}
        self._rows = {setting.key: self._make_row(setting) for setting in shown}
        self._marked: set[str] = set()
        self._is_compact = False
        self._scroll = QScrollArea(self)
        self._lay_out()

    def row(self, key: str) -> SettingRow:
        """The row of ``key``.

        Raises:
            KeyError: If the panel has no such row.
        """
        return self._rows[key]

    def rows(self) -> tuple[SettingRow, ...]:
        """All rows, from top to bottom."""
        return tuple(self._rows.values())

    def go_to(self, key: str) -> None:
        """Scroll to the row of ``key`` and give it the keyboard, ready for a value to be typed.

        Raises:
            KeyError: If the panel has no such row.
        """
        row = self._rows[key]
        self.ensureWidgetVisible(row)
        row.take_focus()

    def ensureWidgetVisible(self, widget: QWidget) -> None:
        """Scroll, and unfold a section where needed, until ``widget`` of a row can be seen."""
        for section in self._sections.values():
            if section.isAncestorOf(widget) and not section.is_open():
                section.set_open(True)
        self._scroll.ensureWidgetVisible(widget)

    def refused_label(self) -> str:
        """Name of the setting whose field holds a text that is no value; empty for none."""
        refused = (row.setting.label for row in self._rows.values() if row.is_refused())
        return next(refused, "")

    def add_below(self, key: str, section: Section) -> None:
        """Put ``section`` below the open row of ``key``.

        Raises:
            KeyError: If the panel has no such row.
        """
        self._column.insertWidget(self._column.indexOf(self._rows[key]) + 1, section)
        section.unfolded.connect(partial(self._on_section_unfolded, section))

    def section(self, group: Group) -> Section:
        """The folded section of ``group``.

        Raises:
            KeyError: If the group's rows stand open.
        """
        return self._sections[group]

    def set_values(self, values: Mapping[str, Value]) -> None:
        """Show the values of all keys that have a row, without a signal.

        Raises:
            ExceptionGroup: If rows failed; all others show their values.
        """
        failed = []
        for key, value in values.items():
            if key in self._rows:
                try:
                    self._rows[key].set_value(value)
                except Exception as error:
                    failed.append(error)
        if failed:
            raise ExceptionGroup("Rows cannot show their values.", failed)

    def set_applied_values(self, values: Mapping[str, Value] | None) -> None:
        """Mark on the faders what the engine runs now; None marks nothing."""
        for key, row in self._rows.items():
            row.set_applied(None if values is None else values.get(key))

    def set_enabled_keys(self, keys: Collection[str]) -> None:
        """Let these rows be moved, and no others."""
        for key, row in self._rows.items():
            row.setEnabled(key in keys)

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """List ``problems`` with their repairs, and mark the row each begins with."""
        self._problems.set_problems(problems)
        first: dict[str, str] = {}
        for problem in problems:
            for key in problem.keys[:1]:
                first.setdefault(key, problem.message)
        for key in self._marked - first.keys():
            self._rows[key].set_problem(None)
        self._marked = set(first) & self._rows.keys()
        for key in self._marked:
            self._rows[key].set_problem(first[key])

    def set_compact(self, is_compact: bool) -> None:
        """Be narrower: leave out what a change of a setting costs."""
        if is_compact != self._is_compact:
            self._is_compact = is_compact
            for row in self._rows.values():
                row.set_compact(is_compact)
            self.updateGeometry()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.profiles.set_palette(palette)
        self.memory_bar.set_palette(palette)
        self._problems.set_palette(palette)
        for section in self._sections.values():
            section.set_palette(palette)
        for row in self._rows.values():
            row.set_palette(palette)

    def _on_section_unfolded(self, section: Section, is_open: bool) -> None:
        """Scroll to what it holds; of one that is too long the header stays in sight."""
        if not is_open:
            return
        # Else the rows get their place only when the event loop turns.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        bar, top = self._scroll.verticalScrollBar(), section.y()
        below = top + section.height() - self._scroll.viewport().height()
        bar.setValue(min(top, max(bar.value(), below)))

    def _make_row(self, setting: Setting) -> SettingRow:
        row = SettingRow(setting, self)
        row.changing.connect(self.changing)
        row.changed.connect(self.changed)
        row.refusal_changed.connect(self.refusal_changed)
        return row

    def _lay_out(self) -> None:
        content = QWidget()
        set_role(content, "scrolled")
        self._column = column = QVBoxLayout(content)
        column.setContentsMargins(PANEL_PADDING_PX, 0, PANEL_PADDING_PX, PANEL_PADDING_PX)
        column.setSpacing(0)
        for row in self._rows.values():
            section = self._sections.get(row.setting.group)
            if section is None:
                column.addWidget(row)
            else:
                section.add(row)
        for section in self._sections.values():
            column.addWidget(section)
            section.unfolded.connect(partial(self._on_section_unfolded, section))
        column.addStretch()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Always there: rows must not change their width when a section unfolds.
        self._scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(content)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, PANEL_PADDING_PX, 1, 1)
        layout.setSpacing(PANEL_GAP_PX)
        layout.addLayout(_inset(self.profiles))
        layout.addLayout(_inset(self.memory_bar))
        layout.addWidget(self._scroll, 1)
        layout.addLayout(_inset(self._problems, PANEL_PADDING_PX))

    def minimumSizeHint(self) -> QSize:
        """Wide enough for the widest row, whatever its texts say now; any height."""
        widest = max(row.minimumSizeHint().width() for row in self._rows.values())
        width = max(TUNE_WIDTH_PX, widest + 2 * PANEL_PADDING_PX + _SCROLL_BAR_PX)
        return QSize(width, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        """As narrow as it may be; the conversation gets the rest."""
        return QSize(self.minimumSizeHint().width(), super().sizeHint().height())


def _inset(widget: QWidget, below_px: int = 0) -> QVBoxLayout:
    layout = QVBoxLayout()
    layout.setContentsMargins(PANEL_PADDING_PX, 0, PANEL_PADDING_PX, below_px)
    layout.addWidget(widget)
    return layout
