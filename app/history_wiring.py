"""Between the history's file and its list in the window. Reads and writes in a thread of its own.

The newest question wins: what is asked while the thread is busy makes older questions void.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.comparison_sheets import comparison_of
from app.experiments.experiment import Experiment, Kind
from app.experiments.history_query import Filter
from app.experiments.history_store import HistoryStore
from app.history_entries import listed
from app.history_exports import HistoryExports
from app.last_folder import LastFolder
from app.storage.storage_error import StorageError
from app.worker import Worker
from widgets.experiments.comparison_sheet import ComparisonSheet
from widgets.experiments.history_entry import EntryList
from widgets.experiments.history_view import HistoryView

_KINDS = {str(kind): kind for kind in Kind}


@dataclass(frozen=True)
class _Listing:
    """What the thread read.

    Attributes:
        entries: What is to be shown.
        tags: All tags in use.
        sentences: What the user should know of the file.
    """

    entries: EntryList
    tags: tuple[str, ...]
    sentences: tuple[str, ...]


class HistoryWiring(QObject):
    """Fills the list, and carries out what is asked for there.

    ``store`` may be used from any thread but the GUI's: whoever runs an experiment keeps it there.

    Signals:
        experiment_read: An ``Experiment`` that was opened in the list.
        resume_read: An ``Experiment`` that is to be gone on with.
    """

    experiment_read = Signal(object)
    resume_read = Signal(object)

    def __init__(
        self,
        view: HistoryView,
        history_path: Path,
        say: Callable[[str], None],
        parent: QObject,
        *,
        last_folder: LastFolder | None = None,
    ) -> None:
        """Connect them; the list is read when it is first looked at.

        Args:
            view: The list.
            history_path: Folder of the history; it need not exist.
            say: Shows a sentence for a few seconds.
            parent: Owner.
            last_folder: Where exports went last; None remembers it for this run only.
        """
        super().__init__(parent)
        self._view = view
        self._say = say
        self.store = HistoryStore(history_path)
        self._worker = Worker("history", self)
        self._filter = Filter()
        self._asked = 0  # number of the newest question
        self._is_listed = False
        self._is_failing = False
        self._to_pick: tuple[str, ...] = ()  # once they are listed
        self._exports = HistoryExports(
            view, self._worker, self.store, say, last_folder or LastFolder(None, self)
        )
        self._marker: object = None  # of what is listed
        self._connect()
        if view.isVisible():
            self.refresh()

    # --- For others ---------------------------------------------------------------------

    def note_kept(self) -> None:
        """An experiment was written, or a part of one: show it in the list."""
        if self._view.isVisible():
            self.refresh()

    def refresh(self) -> None:
        """Read the list again: another program may have written to the history."""
        self._ask(is_look=False)

    def open(self, key: str) -> None:
        """Read an experiment and tell it by ``experiment_read``."""
        self._read_one(key, self.experiment_read.emit)

    def close(self, timeout_s: float) -> bool:
        """Write what waits and let go of the file; gives whether that was done in time."""
        failures: list[str] = []

        def end() -> None:
            try:
                self.store.close()
            except StorageError as error:
                failures.append(str(error))

        return self._worker.close(end, timeout_s) and not failures

    # --- Reading ------------------------------------------------------------------------

    def _ask(self, *, is_look: bool) -> None:
        # A look must not make a question void that is still to be answered.
        self._asked += not is_look
        job = partial(self._read, self._asked, self._filter, is_look=is_look)
        self._worker.do(job, self._on_read, self._on_unread)

    def _read(self, number: int, wanted: Filter, *, is_look: bool) -> _Listing | None:
        """In the thread: the list; None where it is listed already, or another one is asked for."""
        if number != self._asked:
            return None
        marker = self.store.marker()
        if is_look and marker == self._marker:
            return None
        rows = self.store.listing(wanted)
        self._marker = marker
        # Who searches looks for what can be searched.
        unkept = self.store.unwritten() if wanted == Filter() else ()
        return _Listing(listed(rows, unkept), self.store.tags(), self.store.take_sentences())

    def _on_read(self, found: _Listing | None) -> None:
        if found is None:
            return
        if self._is_failing:  # what was said of it is true no more
            self._view.show_problem("")
        self._is_listed, self._is_failing = True, False
        self._view.set_entries(found.entries, found.tags)
        if self._to_pick:
            self._view.pick(self._to_pick)
            self._to_pick = ()
        if found.sentences:
            self._view.show_note(" ".join(found.sentences))

    def _on_unread(self, sentence: str) -> None:
        self._is_failing = True
        if self._is_listed:
            self._view.show_problem(sentence)
        else:
            self._view.set_failed(sentence)

    def _read_one(self, key: str, then: Callable[[Experiment], None]) -> None:
        self._worker.do(partial(self.store.experiment, key), then, self._say)

    # --- From the list ------------------------------------------------------------------

    def _connect(self) -> None:
        view = self._view
        view.opened.connect(self.open)
        view.searched.connect(self._on_searched)
        view.filtered.connect(self._on_filtered)
        view.tags_edited.connect(self._on_tags_edited)
        view.note_edited.connect(self._on_note_edited)
        view.compare_wanted.connect(self._on_compare_wanted)
        view.delete_wanted.connect(self._on_delete_wanted)
        view.restore_wanted.connect(self._on_restore_wanted)
        view.export_wanted.connect(self._exports.export)
        view.resume_wanted.connect(self._on_resume_wanted)
        view.retried.connect(self._on_retried)
        view.looked_at.connect(self._on_looked_at)

    def _on_looked_at(self) -> None:
        """Others may have written to the file meanwhile; where nobody has, nothing is read."""
        self._ask(is_look=True)

    def _on_searched(self, words: str) -> None:
        self._filter = replace(self._filter, text=words)
        self.refresh()

    def _on_filtered(self, kind: str, tag: str) -> None:
        kinds = (_KINDS[kind],) if kind in _KINDS else ()
        self._filter = replace(self._filter, kinds=kinds, tag=tag)
        self.refresh()

    def _on_tags_edited(self, key: str, tags: tuple[str, ...]) -> None:
        self._change(partial(self.store.set_tags, key, tags))

    def _on_note_edited(self, key: str, note: str) -> None:
        self._change(partial(self.store.set_note, key, note))

    def _on_compare_wanted(self, first: str, second: str) -> None:
        def compared() -> ComparisonSheet:
            return comparison_of(self.store.experiment(first), self.store.experiment(second))

        self._worker.do(compared, self._view.show_comparison, self._say)

    def _on_delete_wanted(self, keys: tuple[str, ...]) -> None:
        self._change(partial(self.store.delete, *keys), keys)

    def _on_restore_wanted(self, keys: tuple[str, ...]) -> None:
        self._to_pick = keys
        self._change(partial(self.store.restore, *keys))

    def _on_resume_wanted(self, key: str) -> None:
        self._read_one(key, self.resume_read.emit)

    def _on_retried(self) -> None:
        self._view.set_loading()
        self.refresh()

    def _change(self, deed: Callable[[], object], to_put_back: Sequence[str] = ()) -> None:
        """Do ``deed`` in the thread and list what there is then, also where it failed."""

        def failed(sentence: str) -> None:
            self._view.put_back(to_put_back)
            self._view.show_problem(sentence)
            self.refresh()

        # Asked for at once, so that no list of before is shown that waits already.
        self._worker.do(deed, None, failed)
        self.refresh()
