"""Between the command line, the disk and the view in which settings leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QMessageBox, QVBoxLayout, QWidget

from app.background import Task
from app.command_wiring import SHELL_NAMES, CommandWiring
from app.dialog_size import fit_dialog
from app.export_saving import save_part, save_parts
from app.export_sheets import export_sheet, export_targets
from app.last_folder import EXPORTS, LastFolder
from app.save_dialog import documents_folder
from resources.tokens import STEP_PX, Palette
from widgets.export_sheet import ExportPart
from widgets.export_view import ExportView
from widgets.theme import set_role

_SIZE_PX = (330 * STEP_PX, 195 * STEP_PX)
_ALL_FILES = "All files (*)"
# More names than these make no sentence that is read.
_MOST_NAMES = 3


class ExportWiring(QObject):
    """The dialog; it follows the settings as long as it is open."""

    def __init__(
        self,
        command: CommandWiring,
        last_folder: LastFolder,
        say: Callable[[str], None],
        open_trial: Callable[[], None],
        window: QWidget,
    ) -> None:
        """Show nothing yet.

        Args:
            command: Writes what leaves.
            last_folder: Where exports went last.
            say: Shows a sentence for a few seconds.
            open_trial: Opens the view in which a line is tried.
            window: Owner of the dialog, and of this.
        """
        super().__init__(window)
        self._window = window
        self._command = command
        self._last_folder = last_folder
        self._say = say
        self.question: QMessageBox | None = None
        self.dialog = QDialog(window)
        self.dialog.setWindowTitle("Export")
        set_role(self.dialog, "background")
        self.view = ExportView(self.dialog)
        layout = QVBoxLayout(self.dialog)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        view = self.view
        view.set_targets(export_targets(), command.target)
        view.target_chosen.connect(command.choose_target)
        view.shell_chosen.connect(command.choose_shell)
        view.save_requested.connect(self._on_save_requested)
        view.save_all_requested.connect(self._on_save_all_requested)
        view.try_requested.connect(open_trial)
        command.refreshed.connect(self._on_refreshed)

    def open(self) -> None:
        """Show it, beside the window, which goes on working."""
        fit_dialog(self.dialog, self._window, _SIZE_PX)
        self._show()
        self.dialog.show()
        self.dialog.activateWindow()
        self.view.engines.setFocus()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.view.set_palette(palette)

    # --- What is shown ------------------------------------------------------------------

    def _on_refreshed(self) -> None:
        if self.dialog.isVisible():
            self._show()

    def _show(self) -> None:
        command = self._command
        shells = [(str(shell), name) for shell, name in SHELL_NAMES.items()]
        self.view.set_shells(shells, str(command.shell))
        export = command.exported(command.target)
        refusals = command.refusals(command.target)
        sheet = export_sheet(export, command.wanted, command.shell, refusals, command.notes)
        self.view.show_sheet(sheet)
        self.view.set_try(refusals[0] if refusals else "")

    # --- Saving -------------------------------------------------------------------------

    def _on_save_requested(self, part: ExportPart) -> None:
        dialog = QFileDialog(self.dialog, f"Save {part.file_name}", documents_folder())
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)  # asks before it replaces a file
        dialog.setNameFilters([_ALL_FILES])
        dialog.selectFile(part.file_name)
        dialog.fileSelected.connect(lambda path: self.save(Path(path), part))
        dialog.finished.connect(dialog.deleteLater)
        self._last_folder.open(dialog, EXPORTS)

    def save(self, path: Path, part: ExportPart) -> None:
        """Write one text to a file that the user chose."""
        self._do(partial(save_part, path, part), lambda _: self._say(f"Saved to {path}"))

    def _on_save_all_requested(self) -> None:
        dialog = QFileDialog(self.dialog, "Save all into", documents_folder())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.finished.connect(dialog.deleteLater)
        dialog.fileSelected.connect(lambda path: self.save_all(Path(path)))
        self._last_folder.open(dialog, EXPORTS)

    def save_all(
        self,
        folder: Path,
        parts: Sequence[ExportPart] | None = None,
        *,
        may_replace: bool = False,
    ) -> None:
        """Write everything into ``folder``; asks before a file there is replaced.

        Args:
            folder: Where to.
            parts: What to write; None takes what is shown now.
            may_replace: Whether that was asked before.
        """
        told = self.view.files.parts() if parts is None else tuple(parts)

        def done(taken: object) -> None:
            assert isinstance(taken, tuple)
            if taken:
                self._ask(folder, told, taken)
            else:
                self._say(f"{_files(len(told))} saved in {folder}")

        self._do(lambda: save_parts(folder, told, may_replace=may_replace), done)

    def _ask(self, folder: Path, parts: tuple[ExportPart, ...], taken: tuple[str, ...]) -> None:
        question = QMessageBox(self.dialog)
        self.question = question
        question.setIcon(QMessageBox.Icon.Warning)
        question.setWindowTitle("Replace files?")
        question.setTextFormat(Qt.TextFormat.PlainText)
        verb = "is" if len(taken) == 1 else "are"
        question.setText(f"{_named(taken)} {verb} in {folder.name or folder} already.")
        question.setInformativeText("Nothing was written yet. Replacing loses what stands there.")
        stay = question.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        replace = question.addButton("Replace", QMessageBox.ButtonRole.DestructiveRole)
        question.setDefaultButton(stay)
        question.setEscapeButton(stay)
        replace.clicked.connect(lambda: self.save_all(folder, parts, may_replace=True))
        question.finished.connect(self._on_question_finished)
        question.open()

    def _on_question_finished(self) -> None:
        if self.question is not None:
            self.question.deleteLater()
            self.question = None

    def _do(self, work: Callable[[], object], then: Callable[[object], None]) -> None:
        task = Task(lambda _: work(), self)
        task.succeeded.connect(then)
        task.failed.connect(lambda error: self._say(str(error)))
        task.succeeded.connect(task.deleteLater)
        task.failed.connect(task.deleteLater)
        task.start()


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _named(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b, c and 4 more``."""
    more = len(names) - _MOST_NAMES
    shown = [*names[:_MOST_NAMES], *([f"{more:,} more"] if more > 0 else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
