"""Folders of models watched while the picker shows them: what comes and goes is listed by itself.

Only while the picker is open: a list that nobody sees is listed anew when it is opened, so that
nothing has to be kept for it. Holds no widget.
"""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.helper_process import HelperProcess, close_helpers
from app.kept_models import KeptModels, refresh_models
from app.library.folder_watch import Changed, WatchAnswer, Watched, WatchRequest
from app.library.known_folders import folders_to_list
from app.library.model_entry import FolderToList
from app.library.model_list import ModelList

_MODULE = "app.library.folder_watch"
_UNREADABLE = (
    "What watches the folders cannot be understood ({}): they are listed when the list is opened, "
    "or by Refresh."
)
# Listings follow each other no closer than this, however much changes.
_LEAST_MS = 2_000


class FolderWatching(QObject):
    """Has the folders watched, and lists them anew where something changed.

    Signals:
        told: Sentences (tuple of str) about folders that are not watched; none where all are.
        noted: The same for the log, in one sentence (str) without names, when it is another.
    """

    told = Signal(object)
    noted = Signal(str)

    def __init__(self, models: ModelList, kept: KeptModels, parent: QObject) -> None:
        """Watch nothing yet.

        Args:
            models: The list that is kept up to date.
            kept: Which folders.
            parent: Its parent.
        """
        super().__init__(parent)
        self._models = models
        self._kept = kept
        self._process: HelperProcess | None = None
        self._folders: tuple[FolderToList, ...] = ()
        self._watched: Watched | None = None
        self._is_stale = False
        self._noted = ""
        self._decoder = msgspec.json.Decoder(WatchAnswer)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_LEAST_MS)
        self._rest.timeout.connect(self._list_if_stale)
        models.began.connect(self._on_listing_began)
        models.ended.connect(self._on_listing_ended)

    @property
    def watched(self) -> Watched | None:
        """What is watched; None while that is not known."""
        return self._watched

    def start(self) -> None:
        """Watch the folders as they are kept now; what was watched before is dropped."""
        self.stop()
        self._folders = folders_to_list(self._kept.model_folders)
        process = HelperProcess(_MODULE, self)
        process.line_received.connect(self._on_line_received)
        process.ended.connect(self._on_process_ended)
        self._process = process
        process.start(msgspec.json.encode(WatchRequest(self._folders)) + b"\n", is_last=False)

    def stop(self) -> None:
        """Watch nothing any more."""
        self._rest.stop()
        self._is_stale = False
        self._watched = None
        if self._process is not None:
            self._process.stop()
            self._process = None

    def close(self) -> None:
        """End it with the window; waits at most a second."""
        self.stop()
        close_helpers(self)

    # --- Inside -------------------------------------------------------------------------

    def _on_line_received(self, line: bytes) -> None:
        try:
            answer = self._decoder.decode(line)
        except msgspec.MsgspecError as error:
            self.stop()
            self.told.emit((_UNREADABLE.format(error),))
            return
        if isinstance(answer, Changed):
            self._is_stale = True
            self._list_if_stale()
        else:
            self._watched = answer
            self.told.emit(answer.unwatched)
            self._note(answer)

    def _note(self, watched: Watched) -> None:
        """Say in the log what is not watched; where all is, there is nothing to say."""
        count = len(watched.unwatched)
        note = (
            f"{watched.count:,} folders of models are watched while they are listed; {count:,} "
            f"{'is' if count == 1 else 'are'} not, or not whole (on another machine, or beyond "
            "what can be watched), and are listed when the list is opened."
        )
        if count and note != self._noted:
            self._noted = note
            self.noted.emit(note)

    def _on_process_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is not self._process:
            return
        self._process = None
        said = f": {last_line}" if last_line else ""
        self.told.emit(
            (
                f"The folders are not watched any more (exit code {exit_code}{said}): they are "
                "listed when the list is opened, or by Refresh.",
            )
        )

    def _list_if_stale(self) -> None:
        """List, unless a listing is under way or was a moment ago: then after that."""
        if self._is_stale and not self._rest.isActive() and not self._models.is_listing:
            refresh_models(self._models, self._kept)

    def _on_listing_began(self) -> None:
        self._is_stale = False
        if self._process is not None:
            if folders_to_list(self._kept.model_folders) != self._folders:
                self.start()  # one was added or removed
            self._rest.start()

    def _on_listing_ended(self, _: str) -> None:
        if self._process is not None:
            self._list_if_stale()
