"""The command line that another engine takes as it is, always in sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.command_notes import CommandNotes, CommandNotesLine
from widgets.command_view import CommandView
from widgets.export_sheet import ExportTarget
from widgets.target_box import TargetBox
from widgets.theme import icon, set_role

DEFAULT_TARGETS = (
    ExportTarget("llama serve", "llama serve"),
    ExportTarget("llama-server", "llama-server"),
)
_COPIED_MS = 1500
_NO_COMMAND = "The command line appears here once a model is chosen."
_REFUSED = "There is no such command line for this shell; the reason stands below."


class CommandBar(QFrame):
    """The command, the engine and the shell it is for, and a copy of it with one click.

    Signals:
        target_changed: Key (str) of the engine that a person chose.
        shell_changed: The id (str) of the shell that a person chose.
        copy_requested: The command (str) that was put on the clipboard.
        paste_requested: A command or file of elsewhere is to become settings.
        export_requested: The view of all engines is wanted.
        palette_changed: The ``Palette`` that is used from now on.

    Attributes:
        colours: The ``Palette`` that is used.
        notes: What is said below the command.
    """

    target_changed = Signal(str)
    shell_changed = Signal(str)
    copy_requested = Signal(str)
    paste_requested = Signal()
    export_requested = Signal()
    palette_changed = Signal(object)

    def __init__(
        self, targets: Sequence[ExportTarget] = DEFAULT_TARGETS, parent: QWidget | None = None
    ) -> None:
        """Make an empty bar that offers ``targets``."""
        super().__init__(parent)
        set_role(self, "panel")
        self.colours = DARK
        self._view = CommandView(self)
        self.notes = CommandNotesLine(self)
        self._expand = QToolButton(self)
        self._expand.setCheckable(True)
        set_role(self._expand, "flat")
        self._list = QPushButton("One option a line", self)
        self._list.setCheckable(True)
        self._list.setToolTip("Give each option a line of its own, also in the copy")
        self._list.hide()
        self._targets = TargetBox(self)
        self._targets.set_targets(targets, "")
        self._targets.setAccessibleName("Engine the command line is for")
        self._targets.setToolTip("Engine the command line is for")
        self._shells = QComboBox(self)
        self._shells.setAccessibleName("Shell the command line is quoted for")
        self._shells.setToolTip("Shell the command line is quoted for")
        self._shells.hide()
        self._copy = QPushButton("Copy", self)
        self._copy.setAccessibleName("Copy the command line")
        self.paste_button = QPushButton("Paste…", self)
        self.paste_button.setAccessibleName("Import a command or a file")
        self.export_button = QPushButton("Export…", self)
        self.export_button.setAccessibleName("Export the settings")
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(_COPIED_MS)
        self._lay_out()
        self._connect()
        self._show_expand()
        self.set_export("", (), {})

    def set_targets(self, targets: Sequence[ExportTarget], chosen: str = "") -> None:
        """Offer ``targets``, ``chosen`` or else the first one chosen, without a signal."""
        self._targets.set_targets(targets, chosen)

    def set_shells(self, shells: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer ``shells``, each an id and a name, ``chosen`` by its id, without a signal."""
        with QSignalBlocker(self._shells):
            self._shells.clear()
            for key, name in shells:
                self._shells.addItem(name, key)
            self._shells.setCurrentIndex(max(0, self._shells.findData(chosen)))
        self._shells.setVisible(bool(shells))

    def choose(self, target: str, shell: str) -> None:
        """Make these the chosen ones, by key and id, without a signal."""
        self._targets.choose(target)
        with QSignalBlocker(self._shells):
            self._shells.setCurrentIndex(max(0, self._shells.findData(shell)))

    def set_export(
        self,
        text: str,
        notes: Sequence[str],
        not_carried: Mapping[str, str],
        *,
        listed: str = "",
        refusals: Sequence[str] = (),
    ) -> None:
        """Show a command.

        Args:
            text: The command, one line; empty where there is none, and ``notes`` may say why.
            notes: Sentences on how it differs from what runs here.
            not_carried: Settings, by their names, that the line leaves out, each with the reason.
            listed: The command with a line for each option.
            refusals: Sentences on why the engine would not take it; they come first.
        """
        self._view.set_command(text, listed)
        self._copy.setEnabled(bool(text))
        if not text:
            self._view.setPlaceholderText(_REFUSED if notes or refusals else _NO_COMMAND)
            not_carried = {}
        self.notes.set_notes(CommandNotes.of(refusals, not_carried, notes, bool(text)))
        self._on_overflow_changed()

    def text(self) -> str:
        """The command as it is shown and copied."""
        return self._view.command()

    def copy(self) -> None:
        """Put the command on the clipboard, and say so in the button."""
        text = self.text()
        if not text:
            return
        QGuiApplication.clipboard().setText(text)
        self._copy.setText("Copied")
        self._copied.start()
        self.copy_requested.emit(text)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.colours = palette
        self._targets.set_palette(palette)
        self._show_expand()
        self.palette_changed.emit(palette)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The command may fit now, or no more."""
        super().resizeEvent(event)
        self._on_overflow_changed()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(PANEL_GAP_PX)
        row.addWidget(self._view, 1)
        for widget in (
            self._list, self._expand, self._targets, self._shells, self._copy,
            self.paste_button, self.export_button,
        ):  # fmt: skip
            row.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_PADDING_PX, PANEL_GAP_PX)
        layout.setSpacing(STEP_PX)
        layout.addLayout(row)
        layout.addWidget(self.notes)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # It keeps its place while hidden, so that the rest does not move.
        policy = self._expand.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._expand.setSizePolicy(policy)
        self._measure()

    def _measure(self) -> None:
        metrics = self._copy.fontMetrics()
        self._copy.setMinimumWidth(metrics.horizontalAdvance("Copied") + 6 * STEP_PX)

    def _connect(self) -> None:
        self._targets.target_chosen.connect(self.target_changed)
        self.export_button.clicked.connect(self.export_requested)
        self._shells.currentIndexChanged.connect(
            lambda index: self.shell_changed.emit(self._shells.itemData(index))
        )
        self._copy.clicked.connect(self.copy)
        self.paste_button.clicked.connect(self.paste_requested)
        self._copied.timeout.connect(lambda: self._copy.setText("Copy"))
        self._expand.toggled.connect(self._on_expand_toggled)
        self._list.toggled.connect(self._view.set_listed)
        self._view.overflow_changed.connect(self._on_overflow_changed)
        self.notes.all_requested.connect(self._expand.setChecked)

    def _on_expand_toggled(self, is_open: bool) -> None:
        self._view.set_wrapped(is_open)
        self.notes.show_all(is_open)
        self._list.setVisible(is_open)
        self._show_expand()

    def _on_overflow_changed(self) -> None:
        is_cut = self._view.overflows() or self.notes.has_more()
        self._expand.setVisible(self._view.is_wrapped() or is_cut)

    def _show_expand(self) -> None:
        is_open = self._expand.isChecked()
        self._expand.setIcon(icon("chevron-down" if is_open else "chevron-up", self.colours.muted))
        words = "Show one line" if is_open else "Show all of the command and its notes"
        self._expand.setToolTip(words)
        self._expand.setAccessibleName(words)
        self._expand.setIconSize(QSize(3 * STEP_PX, 3 * STEP_PX))
