"""What was understood of a text: which commands, and of one its settings, model and findings."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.import_asks import ImportAsks
from widgets.import_findings import ImportFindings
from widgets.import_model_panel import ImportModelPanel
from widgets.import_sheet import ImportCommand, ImportSheet, Said
from widgets.import_table import ImportTable
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

# More commands than these are scrolled through.
_MOST_LINES = 5
_MARGIN_PX = 10 * STEP_PX
_SPACING_PX = STEP_PX // 2
# A sign as well as a colour.
_SIGN = "▲"


class ImportUnderstood(QScrollArea):
    """A sheet, of which one command is shown; what a person unticked stays so.

    Signals:
        choice_changed: Another command is shown, or other settings are to be taken.
        said: Number of a command (int), a key (str), and what was typed for it (str).
        model_choose_requested: The file of a command's (int) model is to be chosen.
        model_confirmed: The path of a command's (int) model is right as it stands.
    """

    choice_changed = Signal()
    said = Signal(int, str, str)
    model_choose_requested = Signal(int)
    model_confirmed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Begin without a sheet."""
        super().__init__(parent)
        self._sheet = ImportSheet()
        self._said: Said = {}
        self._titles: list[str] = []
        self._decided: dict[tuple[int, str], bool] = {}
        self.commands = QListWidget(self)
        self.commands.setAccessibleName("Commands of the text")
        self.commands.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.commands.setUniformItemSizes(True)
        self.commands.setSpacing(_SPACING_PX)
        self._more = _words("hint")
        self._summary = _words("heading")
        self._warning = _words("warning")
        self._about_ticks = _words("hint")
        self.model = ImportModelPanel(self)
        self.asks = ImportAsks(self)
        self.table = ImportTable(self)
        self.all_button = _link("Tick all", "Take every setting that differs")
        self.none_button = _link("Tick none", "Leave out every setting")
        self.findings = ImportFindings(self)
        self._table_head = self._head()
        self._lay_out()
        self._connect()

    # --- What is shown ----------------------------------------------------------------------

    def show_sheet(self, sheet: ImportSheet, said: Said) -> None:
        """Show ``sheet``; the command in front stays, where there is one of its number."""
        self._sheet, self._said = sheet, said
        count = len(sheet.commands)
        self._decided = {key: tick for key, tick in self._decided.items() if key[0] < count}
        number = min(max(self.commands.currentRow(), 0), max(count - 1, 0))
        titles = [command.title for command in sheet.commands]
        if titles != self._titles:
            self._titles = titles
            with QSignalBlocker(self.commands):
                self.commands.clear()
                self.commands.addItems(titles)
        with QSignalBlocker(self.commands):
            self.commands.setCurrentRow(number)
        self.commands.setVisible(count > 1)
        self._fit_commands()
        self._more.setText(sheet.sentence)
        self._more.setVisible(bool(sheet.sentence))
        self._show_command()

    def forget_choices(self) -> None:
        """Another text: what was ticked and unticked says nothing about it."""
        self._decided.clear()

    def number(self) -> int:
        """Number of the command that is shown, from 0."""
        return max(self.commands.currentRow(), 0)

    def command(self) -> ImportCommand | None:
        """The command that is shown."""
        number = self.number()
        return self._sheet.commands[number] if number < len(self._sheet.commands) else None

    def chosen(self) -> frozenset[str]:
        """Settings that are to be taken."""
        return self.table.ticks()

    def summary(self) -> str:
        """The sentence on what would change."""
        return self._summary.text()

    def warning(self) -> str:
        """What must be seen before anything is taken; may be empty."""
        return self._warning.accessibleName() if self._warning.isVisibleTo(self) else ""

    # --- Inside -----------------------------------------------------------------------------

    def _show_command(self) -> None:
        command, number = self.command(), self.number()
        if command is None:
            return
        self._summary.setText(command.summary)
        self._summary.setAccessibleName(command.summary)
        self._warning.setText(f"{_SIGN}\u2002{command.warning}" if command.warning else "")
        self._warning.setAccessibleName(command.warning)
        self._warning.setVisible(bool(command.warning))
        self.model.show_model(command.model)
        self.asks.show_asks(
            command.asks, {key: text for (at, key), text in self._said.items() if at == number}
        )
        changed = [row for row in command.rows if row.is_changed]
        ticks = {row.key for row in changed if self._decided.get((number, row.key), row.is_ticked)}
        self.table.show_rows(command.rows, ticks)
        self.table.setVisible(bool(command.rows))
        self._about_ticks.setText(command.about_ticks)
        self._about_ticks.setVisible(bool(command.about_ticks))
        self._table_head.setVisible(bool(command.rows))
        for button in (self.all_button, self.none_button):
            button.setVisible(len(changed) > 1)
        self.findings.show_command(command)
        self.choice_changed.emit()

    def _lay_out(self) -> None:
        page = QWidget()
        set_role(page, "scrolled")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, PANEL_PADDING_PX, PANEL_PADDING_PX)
        column.setSpacing(PANEL_GAP_PX)
        for part in (
            self.commands, self._more, self._summary, self._warning, self.model, self.asks,
            self._table_head, self._about_ticks, self.table,
        ):  # fmt: skip
            column.addWidget(part)
        column.addSpacing(STEP_PX)
        column.addWidget(self.findings)
        column.addStretch(1)
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("What was understood")
        # By keys, too, what holds no field must be scrolled to.
        set_role(self, "ringed")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def _head(self) -> QWidget:
        head = QWidget(self)
        title = QLabel("Settings", head)
        set_role(title, "heading")
        row = QHBoxLayout(head)
        row.setContentsMargins(0, STEP_PX, 0, 0)
        row.setSpacing(PANEL_PADDING_PX)
        row.addWidget(title)
        row.addStretch(1)
        row.addWidget(self.all_button)
        row.addWidget(self.none_button)
        return head

    def _connect(self) -> None:
        self.commands.currentRowChanged.connect(lambda _: self._show_command())
        self.table.ticked.connect(self._on_row_ticked)
        self.table.current_moved.connect(self._on_current_moved)
        self.all_button.clicked.connect(lambda: self._tick_all(is_ticked=True))
        self.none_button.clicked.connect(lambda: self._tick_all(is_ticked=False))
        self.asks.said.connect(lambda key, text: self.said.emit(self.number(), key, text))
        self.model.choose_requested.connect(lambda: self.model_choose_requested.emit(self.number()))
        self.model.confirmed.connect(lambda: self.model_confirmed.emit(self.number()))

    def _fit_commands(self) -> None:
        lines = min(self.commands.count(), _MOST_LINES)
        row_px = max(self.commands.sizeHintForRow(0), self.commands.fontMetrics().height())
        row_px += 2 * _SPACING_PX
        self.commands.setFixedHeight(lines * row_px + 2 * self.commands.frameWidth() + STEP_PX)

    def _tick_all(self, *, is_ticked: bool) -> None:
        command, number = self.command(), self.number()
        for row in command.rows if command is not None else ():
            if row.is_changed:
                self._decided[number, row.key] = is_ticked
        self._show_command()

    def _on_row_ticked(self, key: str, is_ticked: bool) -> None:
        self._decided[self.number(), key] = is_ticked
        self.choice_changed.emit()

    def _on_current_moved(self, place: QRect) -> None:
        page = self.widget()
        if page is None:
            return
        top = self.table.viewport().mapTo(page, place.center())
        self.ensureVisible(top.x(), top.y(), 0, _MARGIN_PX)


def _words(role: str) -> QLabel:
    label = sentence_label(role)
    label.setMinimumWidth(1)
    return label


def _link(text: str, description: str) -> QPushButton:
    button = QPushButton(text)
    set_role(button, "link-small")
    button.setAutoDefault(False)
    button.setAccessibleDescription(description)
    return button
