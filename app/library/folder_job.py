"""One folder listed in a thread of its own, which a dead drive may hold for ever.

Posts what it finds; whoever waits decides how long. Must not write anything.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from app.library.copies import content_mark
from app.library.list_cache import KeptFolder
from app.library.model_entry import RECENT, FolderToList, ModelEntry
from app.library.model_walk import Walk, entries_of, look_at_file, shown_path, walk_folder
from app.library.ollama_store import walk_ollama
from engine_bridge.gguf_window import GgufCutError, GgufError
from engine_bridge.header_facts import HeaderFacts

# Shorter than ``folder_watch.FRESH_S``, after which such a file is looked at once more.
_GROWING_S = 5.0
_NS_PER_S = 1e9
_GROWING = (
    "{} is not whole yet, and was written to a moment ago: a download or a copy seems to be under "
    "way. It can be loaded once it is done; if nothing is under way, download it again."
)
_NO_TEXT = (
    "The name of {} holds bytes that are no UTF-8 text, which the engine cannot be told. Rename "
    "the file, or make a link to it with a plain name."
)


@dataclass
class Seen:
    """Files listed so far, over all folders.

    Attributes:
        identities: Device and number of each.
        lock: Held while looking; the folders are listed at the same time.
    """

    identities: set[tuple[int, int]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_new(self, identity: tuple[int, int]) -> bool:
        """Whether the file was not seen before; it is from now on."""
        with self.lock:
            known = identity in self.identities
            self.identities.add(identity)
            return not known


@dataclass(frozen=True)
class Alive:
    """The drive answered."""


@dataclass(frozen=True)
class Listed:
    """Names and sizes are known.

    Attributes:
        entries: What lies there now, with the facts of files that have not changed.
        away: Entries of the last time whose drive is not mounted now.
        left_out: What was not looked into.
    """

    entries: tuple[ModelEntry, ...]
    away: tuple[ModelEntry, ...]
    left_out: str


@dataclass(frozen=True)
class HeaderRead:
    """One header was read."""

    entry: ModelEntry


@dataclass(frozen=True)
class Failed:
    """The folder cannot be listed; ``error`` is what the system said."""

    error: OSError


@dataclass(frozen=True)
class Through:
    """The thread ends."""


Post = Alive | Listed | HeaderRead | Failed | Through
ReadFacts = Callable[[str], HeaderFacts]
WalkFolder = Callable[[bytes, int, Callable[[], None]], Walk]


class FolderJob:
    """Lists one folder, or the files opened lately, and reads their headers."""

    def __init__(
        self,
        folder: FolderToList,
        files: tuple[bytes, ...],
        kept: KeptFolder,
        known: dict[tuple[bytes, int, int], ModelEntry],
        seen: Seen,
        *,
        posts: queue.Queue[tuple[FolderJob, Post]],
        read: ReadFacts,
        walk: WalkFolder = walk_folder,
    ) -> None:
        """Prepare it.

        Args:
            folder: The folder; with the location ``RECENT`` it stands for ``files``.
            files: Paths to look at where it does.
            kept: What was found the last time.
            known: What is known of unchanged files.
            seen: Files listed by any job.
            posts: Where to post.
            read: Reads one header.
            walk: Lists the folder.
        """
        self.folder = folder
        self.kept = kept
        self.hurried: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._files = files
        self._known = known
        self._seen = seen
        self._posts = posts
        self._read = read
        self._walk = walk

    def start(self) -> threading.Thread:
        """Run it in a thread that does not keep the process."""
        thread = threading.Thread(target=self._run, name="list models", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            listed = self._list()
            self._post(listed)
            self._read_headers(listed.entries)
        except OSError as error:
            self._post(Failed(error))
        finally:
            self._post(Through())

    def _post(self, post: Post) -> None:
        self._posts.put((self, post))

    def _list(self) -> Listed:
        folder = self.folder.location
        walk = self._look_at_recent() if folder == RECENT else self._walk_all(folder)
        entries = tuple(
            self._with_known(entry) for entry in entries_of(walk.files, folder, self._seen.is_new)
        )
        present = {entry.location for entry in entries}
        gone = [entry for entry in self.kept.entries if entry.location not in present]
        away = tuple(entry for entry in gone if _is_drive_away(entry))
        return Listed(entries, away, " ".join(walk.left_out))

    def _walk_all(self, folder: bytes) -> Walk:
        walk = walk_ollama if self.folder.is_ollama else self._walk
        return walk(folder, self.folder.levels, lambda: self._post(Alive()))

    def _look_at_recent(self) -> Walk:
        walk = Walk([], [])
        for location in self._files:
            try:
                walk.files.append(look_at_file(location))
            except OSError as error:
                walk.left_out.append(f"{shown_path(location)}: {error.strerror}.")
            self._post(Alive())
        return walk

    def _with_known(self, entry: ModelEntry) -> ModelEntry:
        known = self._known.get((entry.location, entry.modified_ns, entry.size_bytes))
        if known is None or entry.problem:
            return entry
        return _finished(entry, known.facts, "", known.content)

    def _read_headers(self, entries: Iterable[ModelEntry]) -> None:
        waiting = {entry.location: entry for entry in entries if not entry.is_read}
        while waiting:
            entry = self._next(waiting)
            self._post(HeaderRead(self._read_one(entry)))

    def _read_one(self, entry: ModelEntry) -> ModelEntry:
        try:
            facts = self._read(entry.path)
            content = content_mark(entry.location, entry.size_bytes)
        except GgufCutError as error:
            is_growing = 0.0 <= time.time() - entry.modified_ns / _NS_PER_S < _GROWING_S
            problem = _GROWING.format(entry.name) if is_growing else str(error)
            unread = _finished(entry, None, problem, b"")
            return msgspec.structs.replace(unread, is_growing=is_growing)
        except GgufError as error:
            return _finished(entry, None, str(error), b"")
        return _finished(entry, facts, "", content)

    def _next(self, waiting: dict[bytes, ModelEntry]) -> ModelEntry:
        while not self.hurried.empty():
            entry = waiting.pop(self.hurried.get(), None)
            if entry is not None:
                return entry
        return waiting.pop(next(iter(waiting)))


def _finished(
    entry: ModelEntry, facts: HeaderFacts | None, problem: str, content: bytes
) -> ModelEntry:
    if facts is not None and not _is_text(entry.location):
        problem = _NO_TEXT.format(entry.name)
    return msgspec.structs.replace(
        entry, facts=facts, problem=problem, is_read=True, content=content
    )


def _is_text(location: bytes) -> bool:
    try:
        os.fsdecode(location).encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_drive_away(entry: ModelEntry) -> bool:
    """Whether the place where a file was now lies on another drive than the file did.

    An unmounted drive leaves an empty folder behind; that is no reason to forget its models.
    """
    place = os.path.dirname(entry.location)  # noqa: PTH120 - bytes
    while place:
        try:
            return os.stat(place).st_dev != entry.device  # noqa: PTH116 - bytes
        except OSError:
            above = os.path.dirname(place)  # noqa: PTH120
            if above == place:
                return False
            place = above
    return False
