"""Experiments of the history into files: asked where to, written whole, and never over another.

One experiment goes where the dialog says, which asks before it replaces a file. Several go into one
CSV, or into a folder, a file each under names that are free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from app.experiments.experiment import Experiment
from app.experiments.history_card import card_png
from app.experiments.history_export import Kind, exported, to_csv
from app.experiments.history_store import HistoryStore
from app.file_names import safe_file_name
from app.last_folder import EXPORTS, LastFolder
from app.save_dialog import documents_folder, save_dialog
from app.storage.atomic_file import write_whole
from app.storage.journal_records import storable
from app.worker import Worker
from resources.tokens import Palette
from widgets.experiments.history_view import HistoryView

_WHAT = "The experiment could not be exported"
_CARD, _CSV = "card", "csv"
# Ending of the file's name and what the dialog calls such files.
_FORMS = {
    "markdown": ("md", "Markdown (*.md)"),
    _CSV: ("csv", "CSV, a line for each run (*.csv)"),
    "json": ("json", "JSON (*.json)"),
    _CARD: ("png", "Picture (*.png)"),
}
_TEXTS: dict[str, Kind] = {"markdown": "markdown", "csv": "csv", "json": "json"}
_OTHERWISE = "experiment"


class HistoryExports(QObject):
    """Asks where to, and writes in the history's thread."""

    def __init__(
        self,
        view: HistoryView,
        worker: Worker,
        store: HistoryStore,
        say: Callable[[str], None],
        last_folder: LastFolder,
    ) -> None:
        """Export from ``store``.

        Args:
            view: Dialogs stand over its window; also the parent.
            worker: The history's thread.
            store: The history.
            say: Shows a sentence for a few seconds.
            last_folder: Where exports went last.
        """
        super().__init__(view)
        self._view = view
        self._worker = worker
        self._store = store
        self._say = say
        self._last_folder = last_folder

    def export(self, keys: Sequence[str], form: str) -> None:
        """Ask where to, then write.

        Args:
            keys: Of the experiments; at least one.
            form: ``csv``, ``json``, ``markdown`` or ``card``.
        """
        is_one_file = len(keys) == 1 or form == _CSV
        dialog = self._save_dialog(keys, form) if is_one_file else self._folder_dialog()
        palette = self._view.colours
        write = self._write_file if is_one_file else self._write_files

        def chosen(path: str) -> None:
            job = partial(write, tuple(keys), form, Path(path), palette)
            self._worker.do(job, self._say, self._view.show_problem)

        dialog.fileSelected.connect(chosen)
        self._last_folder.open(dialog, EXPORTS)

    # --- Inside -------------------------------------------------------------------------

    def _save_dialog(self, keys: Sequence[str], form: str) -> QFileDialog:
        ending, words = _FORMS[form]
        title = "Export the experiment" if len(keys) == 1 else "Export the experiments"
        return save_dialog(self._view.window(), title, self._name(keys), ending, words)

    def _folder_dialog(self) -> QFileDialog:
        title = "Export the experiments into"
        dialog = QFileDialog(self._view.window(), title, documents_folder())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.finished.connect(dialog.deleteLater)
        return dialog

    def _name(self, keys: Sequence[str]) -> str:
        """What the file is to be called, by the title that is listed."""
        entries = self._view.model.entries
        place = entries.place_of(keys[0])
        if len(keys) > 1 or place is None:
            return "experiments" if len(keys) > 1 else _OTHERWISE
        entry = entries.at(place)
        return safe_file_name(f"{entry.kind} {entry.model} {entry.title}", _OTHERWISE)

    def _write_file(self, keys: Sequence[str], form: str, path: Path, palette: Palette) -> str:
        """In the thread: one file. Gives what is said of it."""
        found = [self._store.experiment(key) for key in keys]
        if form == _CSV:
            content = storable(to_csv(found)).encode()
        else:
            content = _content(found[0], form, palette)
        write_whole(path, content, _WHAT)
        return f"Exported to {path}"

    def _write_files(self, keys: Sequence[str], form: str, folder: Path, palette: Palette) -> str:
        """In the thread: a file for each. Gives what is said of them."""
        for key in keys:
            experiment = self._store.experiment(key)
            name = safe_file_name(f"{key} {experiment.title}", _OTHERWISE)
            path = free_path(folder, name, _FORMS[form][0])
            write_whole(path, _content(experiment, form, palette), _WHAT)
        return f"Exported {len(keys):,} experiments to {folder}"


def free_path(folder: Path, name: str, ending: str) -> Path:
    """``name`` with its ending in ``folder``, numbered where a file has that name already."""
    path, number = folder / f"{name}.{ending}", 2
    while path.exists() or path.is_symlink():
        path, number = folder / f"{name} ({number}).{ending}", number + 1
    return path


def _content(experiment: Experiment, form: str, palette: Palette) -> bytes:
    if form == _CARD:
        return card_png(experiment, palette)
    return exported(experiment, _TEXTS[form])
