"""Between the list of models and the picker: what is shown, asked and chosen."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.desk import Desk
from app.fit_check import Fit, FitCheck
from app.fit_words import fit_view
from app.hub_wiring import HubWiring
from app.kept_models import KeptModels, refresh_models
from app.last_folder import MODELS
from app.library.copies import copies_among
from app.library.demo_model import cache_folder
from app.library.known_folders import folders_to_list
from app.library.model_entry import FolderReported, ModelEntry
from app.library.model_list import ModelList
from app.model_bound import for_file
from app.model_sheets import groups_of, key_of, location_of, row_of, sheet_of
from app.worker import Worker
from engine_bridge.settings.domain import DomainError
from resources.tokens import Palette
from widgets.model_picker import ModelPicker

# A selection that moves on within this time asks the engine nothing.
_RESTING_MS = 150


LoadModel = Callable[[str, Mapping[str, object] | None], None]


class PickerWiring(QObject):
    """Fills the picker, keeps its folders, and loads what is chosen.

    Signals:
        refused: A sentence: what was dropped can be neither loaded nor listed.
        opened: The picker (``ModelPicker``) that is shown now.
        looked_at: The model (``ModelEntry``) that is looked at, each time more is known of it;
            None where there is none any more.
        closed: The picker is gone.
    """

    refused = Signal(str)
    opened = Signal(object)
    looked_at = Signal(object)
    closed = Signal()

    def __init__(
        self,
        desk: Desk,
        models: ModelList,
        kept: KeptModels,
        window: QWidget,
        *,
        load: LoadModel,
        load_demo: Callable[[], None],
    ) -> None:
        """Prepare a picker for ``window``; nothing is listed before ``open``.

        Args:
            desk: Whose settings the fit is asked for.
            models: The list of models.
            kept: Recent models and the user's folders.
            window: Parent of the dialogs.
            load: Loads a path, perhaps with changed settings.
            load_demo: Loads the demo model.
        """
        super().__init__(window)
        self._desk = desk
        self._models = models
        self._kept = kept
        self._window = window
        self._load = load
        self._load_demo = load_demo
        self._picker: ModelPicker | None = None
        self._palette: Palette | None = None
        self._fit = FitCheck(self)
        self._fit.answered.connect(self._on_fit_answered)
        self._last_fit: Fit | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_RESTING_MS)
        self._rest.timeout.connect(self._ask_fit)
        self._reports: dict[bytes, str] = {}
        self._hidden: set[bytes] = set()  # copies that another entry stands for
        self.hub = HubWiring(desk, window, lambda path: load(path, None))
        self.hub.downloaded.connect(lambda _: self.refresh())
        self._drops: Worker | None = None
        models.entries_found.connect(self._on_entries_found)
        models.entries_gone.connect(self._on_entries_gone)
        models.folder_reported.connect(self._on_folder_reported)
        models.ended.connect(self._on_listing_ended)

    @property
    def picker(self) -> ModelPicker | None:
        """The picker while it is open."""
        return self._picker

    def open(self) -> None:
        """Show the picker and list the folders anew."""
        if self._picker is not None:
            self._picker.raise_()
            self._picker.activateWindow()
            return
        picker = ModelPicker(self._window)
        self._picker = picker
        if self._palette is not None:
            picker.set_palette(self._palette)
        picker.selected.connect(self._on_selected)
        picker.chosen.connect(lambda key: self._choose(key, None))
        picker.way_chosen.connect(self._on_way_chosen)
        picker.browse_requested.connect(self.browse)
        picker.demo_requested.connect(self._on_demo_requested)
        picker.hub_requested.connect(self.open_hub)
        picker.refresh_requested.connect(self.refresh)
        picker.folder_add_requested.connect(self._on_folder_add_requested)
        picker.folder_removed.connect(self._on_folder_removed)
        picker.finished.connect(self._on_finished)
        self._set_groups()
        self._hidden = set()
        self.opened.emit(picker)
        self._put(self._models.entries)
        self._select_loaded()
        picker.open()
        self.refresh()

    def open_hub(self) -> None:
        """Look for a model elsewhere; the picker makes way for it."""
        if self._picker is not None:
            self._picker.reject()
        self.hub.open()

    def refresh(self) -> None:
        """List the folders anew."""
        self._reports.clear()
        self._set_groups()
        refresh_models(self._models, self._kept)
        self._show_listing("")

    def add_folder(self, path: str) -> None:
        """List the user's folder ``path`` from now on, and show the picker."""
        folders = self._kept.model_folders
        if path not in folders:
            self._kept.model_folders = [*folders, path]
        if self._picker is None:
            self.open()
        else:
            self.refresh()

    def add_dropped(self, path: str) -> None:
        """List ``path`` from now on if it is a folder, which is found out off the GUI thread."""
        if self._drops is None:
            self._drops = Worker("look at what was dropped", self)

        def take(is_folder: bool) -> None:
            if is_folder:
                self.add_folder(path)
            else:
                self.refused.emit(
                    f"{Path(path).name} is neither a GGUF file nor a folder that can be listed. "
                    "Drop a .gguf file, or a folder that holds some."
                )

        self._drops.do(lambda: Path(path).is_dir(), take)

    def browse(self) -> None:
        """Choose a file in the system's own dialog."""
        folder = self._folder_to_browse()
        dialog = QFileDialog(self._dialog_parent(), "Open a model file", str(folder))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["GGUF models (*.gguf)", "All files (*)"])
        dialog.fileSelected.connect(self._on_file_selected)
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, MODELS)

    def _folder_to_browse(self) -> Path:
        """Where the model in use lies, unless its drive may hang whoever lists it."""
        location = self._loaded_location()
        entry = None if location is None else self._models.entry(location)
        if entry is None or not entry.is_reachable:
            return cache_folder()
        return Path(entry.path).parent

    def set_palette(self, palette: Palette) -> None:
        """Use these colours for pickers from now on."""
        self._palette = palette
        if self._picker is not None:
            self._picker.set_palette(palette)

    def close(self) -> None:
        """End what is under way; waits at most a second."""
        self._rest.stop()
        self._fit.close()
        self.hub.close()
        if self._drops is not None:
            self._drops.close()
            self._drops = None
        if self._picker is not None:
            self._picker.reject()

    # --- What is listed -----------------------------------------------------------------

    def _set_groups(self) -> None:
        if self._picker is not None:
            self._picker.set_groups(groups_of(folders_to_list(self._kept.model_folders)))

    def _put(self, entries: tuple[ModelEntry, ...]) -> None:
        if self._picker is None:
            return
        recent = {os.fsencode(path) for path in self._kept.recent_models}
        loaded = self._loaded_location()
        hidden = {copy for copies in self._copies().values() for copy in copies}
        if new := hidden - self._hidden:
            self._picker.remove(key_of(location) for location in new)
        shown_again, self._hidden = self._hidden - hidden, hidden
        again = (self._models.entry(location) for location in shown_again)
        entries = (*entries, *(entry for entry in again if entry is not None))
        self._picker.put(
            row_of(
                entry,
                is_recent=entry.location in recent,
                is_loaded=entry.location == loaded,
            )
            for entry in entries
            if entry.location not in hidden
        )

    def _copies(self) -> dict[bytes, tuple[bytes, ...]]:
        """Models that lie here more than once: the same content is shown once."""
        first = {os.fsencode(path) for path in self._kept.recent_models}
        loaded = self._loaded_location()
        return copies_among(self._models.entries, first if loaded is None else first | {loaded})

    def _on_entries_found(self, entries: tuple[ModelEntry, ...]) -> None:
        if self._picker is None:
            return
        self._put(entries)
        current = location_of(self._picker.list.current_key())
        if any(entry.location == current for entry in entries):
            self._show_current(current)

    def _on_entries_gone(self, locations: tuple[bytes, ...]) -> None:
        if self._picker is not None:
            self._picker.remove(key_of(location) for location in locations)
            self._put(())  # a copy may stand for one that is gone

    def _on_folder_reported(self, report: FolderReported) -> None:
        self._reports[report.location] = report.problem
        self._show_listing("")

    def _on_listing_ended(self, problem: str) -> None:
        self._show_listing(problem)

    def _show_listing(self, problem: str) -> None:
        if self._picker is not None:
            words = " ".join(filter(None, (*self._reports.values(), problem)))
            self._picker.set_listing(self._models.is_listing, words)

    # --- What is looked at --------------------------------------------------------------

    def _on_selected(self, key: str) -> None:
        self._fit.cancel()
        self._rest.stop()
        if key:
            self._show_current(location_of(key))
        else:
            self.looked_at.emit(None)

    def _show_current(self, location: bytes) -> None:
        entry = self._models.entry(location)
        if self._picker is None or entry is None:
            return
        sheet = sheet_of(entry, self._copies().get(location, ()))
        self._picker.show_sheet(sheet, can_load=entry.is_usable)
        self.looked_at.emit(entry)
        self._models.hurry(location)
        if entry.is_usable:
            self._picker.show_fit(None)
            self._rest.start()
        else:
            self._picker.clear_fit()

    def _ask_fit(self) -> None:
        entry = self._current_entry()
        if entry is None or not entry.is_usable:
            return
        applied = self._desk.session.applied
        base = applied.config if applied else self._desk.session.wanted
        if applied is not None and base.rpc_servers and self._picker is not None:
            # Workers serve one program at a time, and that is the engine: nobody else can ask them.
            self._picker.clear_fit()
            return
        try:
            config = for_file(base, entry.path).with_values({"model_path": entry.path})
        except DomainError:
            return  # said by the sheet
        self._fit.ask(config, applied.memory if applied else None)

    def _on_fit_answered(self, fit: Fit) -> None:
        self._last_fit = fit
        entry = self._current_entry()
        if self._picker is not None and entry is not None and entry.path == fit.config.model_path:
            session = self._desk.session
            waiting = session.wanted if session.applied is not None else None
            self._picker.show_fit(fit_view(fit, waiting))

    def _current_entry(self) -> ModelEntry | None:
        if self._picker is None:
            return None
        return self._models.entry(location_of(self._picker.list.current_key()))

    # --- What is chosen -----------------------------------------------------------------

    def _choose(self, key: str, values: Mapping[str, object] | None) -> None:
        entry = self._models.entry(location_of(key))
        if entry is None or not entry.is_usable:
            return
        self._accept()
        self._load(entry.path, values)

    def _on_way_chosen(self, key: str, way: str) -> None:
        if self._last_fit is not None and int(way) < len(self._last_fit.ways):
            self._choose(key, self._last_fit.ways[int(way)])

    def _on_file_selected(self, path: str) -> None:
        self._accept()
        self._load(path, None)

    def _on_demo_requested(self) -> None:
        self._accept()
        self._load_demo()

    def _accept(self) -> None:
        if self._picker is not None:
            self._picker.accept()

    def _on_finished(self) -> None:
        self._rest.stop()
        self._fit.cancel()
        self._models.stop()
        if self._picker is not None:
            self._picker.deleteLater()
            self._picker = None
            self.closed.emit()

    # --- Folders ------------------------------------------------------------------------

    def _on_folder_add_requested(self) -> None:
        dialog = QFileDialog(self._dialog_parent(), "Add a folder of models")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.add_folder)
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, MODELS)

    def _on_folder_removed(self, key: str) -> None:
        path = os.fsdecode(location_of(key))
        self._kept.model_folders = [kept for kept in self._kept.model_folders if kept != path]
        self.refresh()

    def _dialog_parent(self) -> QWidget:
        return self._picker or self._window

    def _select_loaded(self) -> None:
        loaded = self._loaded_location()
        if self._picker is not None and loaded is not None:
            self._picker.list.select(key_of(loaded))

    def _loaded_location(self) -> bytes | None:
        model = self._desk.session.model
        return os.fsencode(model.path) if model else None
