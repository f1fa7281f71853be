"""Between a pasted text and the desk: reads it in a thread, shows it, and takes what is ticked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.background import Task
from app.desk import Desk
from app.dialog_size import fit_dialog
from app.import_files import CommandFileError, read_command_file
from app.import_guess import looks_like_command
from app.import_models import model_key, named_path
from app.import_reading import Reader, read
from app.import_sheets import Surroundings, Understood
from app.last_folder import MODELS
from engine_bridge.gguf_window import shown_name
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.row import Applies
from resources.tokens import STEP_PX
from widgets.dropped_path import DroppedPath
from widgets.import_drop import FILE_FILTERS, command_file
from widgets.import_sheet import ImportChoice
from widgets.import_view import ImportView

IMPORTS = "imports"
"""Purpose under which the folder of imported files is remembered."""

_SIZE_PX = (290 * STEP_PX, 190 * STEP_PX)
# Several changes of the desk come together.
_AGAIN_MS = 60
_FAULT_TITLE = "This text could not be read"
_FAULT = (
    "Reading it failed by a mistake of TuneDeck's own, and nothing was changed. Leave out what is "
    "no command and try again; the log says where it failed."
)

LoadModel = Callable[[str, Mapping[str, object] | None], None]


class ImportWiring(QObject):
    """Opens the dialog, and puts what a person takes of it into the session as one step."""

    def __init__(
        self,
        desk: Desk,
        window: QWidget,
        reader: Reader,
        *,
        load: LoadModel,
        say: Callable[[str], None],
        why_not: Callable[[], str] = lambda: "",
    ) -> None:
        """Follow ``desk``; nothing is shown or read yet.

        Args:
            desk: Whose settings are changed.
            window: Owner of the dialog, and of this; files may be dropped on it.
            reader: How a text is read.
            load: Loads a model with changed settings.
            say: Shows a sentence over the window.
            why_not: Why settings cannot be changed now; an empty text if they can.
        """
        super().__init__(window)
        self._desk = desk
        self._window = window
        self._reader = reader
        self._load = load
        self._say = say
        self._why_not = why_not
        self._view: ImportView | None = None
        self._text = self._pasted = self._name = ""
        self._understood: Understood | None = None
        self._said: dict[tuple[int, str], str] = {}
        self._paths: dict[str, str] = {}
        self._task: Task | None = None
        self._is_outdated = False
        self._again = QTimer(self, singleShot=True, interval=_AGAIN_MS)
        self._again.timeout.connect(self._read)
        desk.session.wanted_changed.connect(lambda _: self._read_soon())
        drops = DroppedPath(window, command_file)
        drops.dropped.connect(self.open_file)
        window.installEventFilter(self)

    @property
    def view(self) -> ImportView | None:
        """The dialog while it is open."""
        return self._view

    def open(self) -> None:
        """Show the dialog, with what is in the clipboard if that looks like a command."""
        is_new = self._view is None
        view = self._show()
        if not is_new and view.text():
            return
        text = QGuiApplication.clipboard().text()
        # What was put in once and edited since is not put in anew.
        if text != self._pasted and looks_like_command(text):
            self._pasted = text
            self._begin(text)
        elif self._text:
            view.set_text(self._text)

    def ask_for_file(self) -> None:
        """Let a person choose a file with a command in it."""
        dialog = QFileDialog(self._view or self._window, "Open a file with a command in it")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(list(FILE_FILTERS))
        dialog.fileSelected.connect(self.open_file)
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, IMPORTS)

    def open_file(self, path: str) -> None:
        """Read the file that a person chose or dropped, and show what it says."""
        view = self._show()
        view.note(f"Reading {shown_name(path)}…")
        task = Task(lambda _: read_command_file(Path(path)), self)
        task.succeeded.connect(partial(self._on_file_read, path))
        task.failed.connect(self._on_file_failed)
        task.succeeded.connect(task.deleteLater)
        task.failed.connect(task.deleteLater)
        task.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The dialog ends with the window."""
        if event.type() is QEvent.Type.Close and self._view is not None:
            self._view.reject()
        return super().eventFilter(watched, event)

    # --- The dialog -------------------------------------------------------------------------

    def _show(self) -> ImportView:
        view = self._view or self._make()
        view.show()
        view.raise_()
        view.activateWindow()
        view.editor.setFocus()
        return view

    def _make(self) -> ImportView:
        view = ImportView(self._window)
        self._view = view
        fit_dialog(view, self._window, _SIZE_PX)
        view.text_settled.connect(self._on_text_settled)
        view.said.connect(self._on_said)
        view.fill_toggled.connect(lambda _: self._read_soon())
        view.file_requested.connect(self.ask_for_file)
        view.files_dropped.connect(self._on_files_dropped)
        view.model_choose_requested.connect(self._on_model_choose_requested)
        view.model_confirmed.connect(self._on_model_confirmed)
        view.use_requested.connect(self._on_use_requested)
        view.finished.connect(self._on_finished)
        return view

    def _begin(self, text: str, name: str = "") -> None:
        """Another text: what was said about the one before is not said about it."""
        self._said.clear()
        self._name = name
        self._understood = None
        if self._view is not None:
            self._view.meaning.forget_choices()
            self._view.set_text(text)

    def _on_finished(self) -> None:
        view, self._view = self._view, None
        self._again.stop()
        if view is not None:
            self._text = view.text()
            view.deleteLater()

    def _on_files_dropped(self, paths: list[str]) -> None:
        if paths:
            self.open_file(paths[0])
        if len(paths) > 1 and self._view is not None:
            self._view.say(f"One file at a time: {shown_name(paths[0])} is read.")

    def _on_file_read(self, path: str, text: str) -> None:
        self._begin(text, Path(path).name)
        if self._view is not None and not self._view.noted():
            self._view.note(f"From {shown_name(path)}.")

    def _on_file_failed(self, error: Exception) -> None:
        if not isinstance(error, CommandFileError):
            raise error
        if self._view is not None:
            self._view.note(str(error))

    # --- Reading ----------------------------------------------------------------------------

    def _on_text_settled(self, text: str) -> None:
        self._again.stop()
        if not text.strip():  # what comes next is of no file
            self._name = ""
            self._said.clear()
        self._read()

    def _on_said(self, command: int, key: str, text: str) -> None:
        self._said[command, key] = text
        self._read_soon()

    def _read_soon(self) -> None:
        if self._view is not None and self._view.text().strip():
            self._again.start()

    def _read(self) -> None:
        """Have the text read as it stands; one thread at a time, the newest text last."""
        view = self._view
        if view is None or not view.text().strip():
            return
        if self._task is not None:
            self._is_outdated = True
            return
        self._is_outdated = False
        session = self._desk.session
        around = Surroundings(
            session.wanted,
            said=dict(self._said),
            paths=dict(self._paths),
            running=session.model.path if session.model is not None else "",
            fills_up=view.fill_button.isChecked(),
        )
        job = partial(read, self._reader, view.text(), around, self._understood, self._name)
        self._task = Task(lambda _: job(), self)
        self._task.succeeded.connect(self._on_understood)
        self._task.failed.connect(self._on_reading_failed)
        self._task.start()

    def _on_understood(self, understood: Understood) -> None:
        self._end_task()
        view = self._view
        if view is not None and view.text() == understood.text:
            self._understood = understood
            if not self._is_outdated:
                view.show_sheet(understood.sheet, dict(self._said))
        if self._is_outdated:
            self._read()

    def _on_reading_failed(self, error: Exception) -> None:
        self._end_task()
        if self._view is not None:
            self._view.show_failure(_FAULT_TITLE, _FAULT)
        raise error

    def _end_task(self) -> None:
        if self._task is not None:
            self._task.deleteLater()
            self._task = None

    # --- The model --------------------------------------------------------------------------

    def _on_model_choose_requested(self, command: int) -> None:
        dialog = QFileDialog(self._view or self._window, "Choose the file of the model")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["GGUF models (*.gguf)", "All files (*)"])
        dialog.fileSelected.connect(partial(self.resolve_model, command))
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, MODELS)

    def _on_model_confirmed(self, command: int) -> None:
        if self._understood is not None and command < len(self._understood.found):
            self.resolve_model(command, named_path(self._understood.found[command]))

    def resolve_model(self, command: int, path: str) -> None:
        """Take ``path`` for the model of a command; it is not opened yet."""
        if self._understood is not None and command < len(self._understood.found):
            self._paths[model_key(self._understood.found[command])] = path
            self._read_soon()

    # --- What is taken ----------------------------------------------------------------------

    def _on_use_requested(self, choice: ImportChoice, loads: bool) -> None:
        view, known = self._view, self._understood
        if view is None or known is None or choice.command >= len(known.values):
            return
        if reason := self._why_not():
            view.say(reason)
            return
        found, session = known.found[choice.command], self._desk.session
        values = known.taken(choice.command, choice.keys, session.wanted)
        try:
            session.wanted.with_values(values)
        except DomainError as error:
            view.say(str(error))
            return
        command = known.sheet.commands[choice.command]
        taken = _taken_words(len(values), command.engine)
        warning = f" {command.warning}" if command.warning else ""
        path = self._paths.get(model_key(found), "") if loads else ""
        view.accept()
        if path:
            self._load(path, values)
            self._say(f"{taken} {shown_name(path)} is being loaded.{warning}")
            return
        session.want(values)
        self._say(f"{taken}{warning}{self._what_next(model_key(found))}")

    def _what_next(self, model: str) -> str:
        """What is left to do once the settings are wanted."""
        session = self._desk.session
        words = " F9 takes them back."
        cost = session.cost()
        if cost is not None and cost is not Applies.LIVE:
            words += " The engine runs them once you press Apply."
        running = session.model.path if session.model is not None else ""
        if model and model != running:
            words += " The model of the text was not loaded."
        return words


def _taken_words(count: int, engine: str) -> str:
    if not count:
        return "No setting was changed."
    if count == 1:
        return f"One setting of the {engine} command is set now."
    return f"{count:,} settings of the {engine} command are set now."
