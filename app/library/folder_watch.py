"""Folders of models watched for changes, by a process of its own while a list of them is shown.

``python -m app.library.folder_watch`` reads a ``WatchRequest`` and says ``Changed`` each time that
something came, went or was finished, and ``Watched`` once it knows what it watches. A drive that
does not answer keeps whoever asks it: here that harms nobody, and the end of the input ends all.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
import psutil
from PySide6.QtCore import QCoreApplication, QFileSystemWatcher, QObject, Qt, QTimer, Signal

from app.library.model_entry import FolderToList
from app.library.model_walk import MODEL_SUFFIX

# A burst (a thousand files copied) is told once it has been quiet for so long, and in a burst
# without an end every two seconds.
_QUIET_MS, _LONGEST_MS = 400, 2_000
# A file that was written to within this time may not be whole, and no folder tells when it is.
FRESH_S = 6.0
_SETTLING_MS = 2_000
_NS_PER_S = 1e9
# Linux lends 8,192 watches to a user at the least, and other programs want some.
MOST_WATCHES = 4_096
# File systems on other machines: what those write is told to nobody here.
_REMOTE = frozenset(
    {
        "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "afpfs", "ceph",
        "glusterfs", "lustre", "9p", "webdav", "davfs", "vboxsf", "drvfs", "prl_fs", "fuse",
    }
)  # fmt: skip
_UNSEEN, _GONE = (-2, -2), (-1, -1)
_OLLAMA_MANIFESTS, _OLLAMA_LEVELS = b"manifests", 3


class WatchRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be watched.

    Attributes:
        folders: Folders as they are listed; those that are not there are left out.
        most: Folders that are watched at most, those below them counted.
    """

    folders: tuple[FolderToList, ...]
    most: int = MOST_WATCHES


class Changed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="changed"):
    """Something came, went, or was written to the end."""


class Watched(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="watched"):
    """What is watched now.

    Attributes:
        count: Folders, those below them counted.
        unwatched: A sentence for each folder that is not, or not whole.
    """

    count: int
    unwatched: tuple[str, ...] = ()


WatchAnswer = Changed | Watched


@dataclass(frozen=True)
class _Place:
    """A folder, and how many levels below it belong to what is listed."""

    folder: FolderToList
    location: bytes
    levels: int

    @property
    def path(self) -> str:
        return os.fsdecode(self.location)


# Name, size and modification time of each thing in a folder that is listed.
_Content = frozenset[tuple[bytes, int, int]]


@dataclass(frozen=True)
class _Looked:
    """What one look found.

    Attributes:
        folders: Whose.
        contents: Folders to watch, and what of their content is listed.
        fresh: Files that may not be whole.
        remote: Folders on other machines, a sentence each.
    """

    folders: frozenset[FolderToList]
    contents: dict[_Place, _Content]
    fresh: tuple[str, ...]
    remote: dict[FolderToList, str]


class FolderWatch(QObject):
    """Watches the folders of one request.

    Signals:
        changed: Something changed, a moment ago.
        watching_changed: A ``Watched``; each time that more or less is watched.
    """

    changed = Signal()
    watching_changed = Signal(object)
    _looked = Signal(object)

    def __init__(
        self,
        request: WatchRequest,
        parent: QObject | None = None,
        remote: Callable[[bytes], str] | None = None,
    ) -> None:
        """Prepare it.

        Args:
            request: What to watch.
            parent: Its parent.
            remote: Says what file system on another machine a path lies on; empty for none.
        """
        super().__init__(parent)
        self._request = request
        self._remote = remote or remote_file_system
        self._waiting = set(request.folders)  # not looked at for the first time
        self._watched: dict[str, _Place] = {}
        self._contents: dict[str, _Content] = {}
        self._unwatched: dict[FolderToList, str] = {}
        self._dirty: set[str] = set()
        self._fresh: dict[str, tuple[int, int]] = {}
        self._is_settled = False
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._on_directory_changed)
        self._looked.connect(self._on_looked, Qt.ConnectionType.QueuedConnection)
        self._quiet, self._longest, self._settling = (
            _timer(self, ms, slot)
            for ms, slot in (
                (_QUIET_MS, self._tell),
                (_LONGEST_MS, self._tell),
                (_SETTLING_MS, self._on_settling_timeout),
            )
        )

    def start(self) -> None:
        """Look at each folder in a thread of its own, and watch those that answer."""
        if not self._waiting:
            self.watching_changed.emit(Watched(0))
        for folder in self._request.folders:
            self._look([_Place(folder, folder.location, folder.levels)])

    # --- What is watched ----------------------------------------------------------------

    def _look(self, places: list[_Place]) -> None:
        """Find the folders and unfinished files below ``places``, in a thread."""

        def work() -> None:
            self._looked.emit(_look_below(places, self._remote))

        threading.Thread(target=work, name="look at folders", daemon=True).start()

    def _on_looked(self, looked: _Looked) -> None:
        before = len(self._watched), len(self._unwatched)
        self._unwatched |= looked.remote
        new = {place.path: place for place in looked.contents if place.path not in self._watched}
        room = max(0, self._request.most - len(self._watched))
        wanted = list(new)[:room]
        refused = set(self._watcher.addPaths(wanted)) if wanted else set()
        self._watched |= {path: new[path] for path in wanted if path not in refused}
        for path in new.keys() - self._watched.keys():
            why = "the system lends no more watches" if path in refused else "there are too many"
            folder = new[path].folder
            self._unwatched[folder] = (
                f"Not every folder below {folder.title} is watched, as {why}: what changes there "
                "is listed when the list is opened, or by Refresh."
            )
        self._note_fresh(looked.fresh)
        is_first = bool(self._waiting & looked.folders)
        self._waiting -= looked.folders
        self._compare(looked, is_first=is_first)
        is_more = (len(self._watched), len(self._unwatched)) != before
        if not self._waiting and (is_first or is_more):
            sentences = tuple(self._unwatched.values())
            self.watching_changed.emit(Watched(len(self._watched), sentences))

    def _compare(self, looked: _Looked, *, is_first: bool) -> None:
        """Tell where what is listed differs: much else is written to such folders."""
        new = {place.path: content for place, content in looked.contents.items()}
        differs = any(self._contents.get(path) != content for path, content in new.items())
        self._contents |= new
        if differs and not is_first:
            self.changed.emit()

    # --- What changes -------------------------------------------------------------------

    def _on_directory_changed(self, path: str) -> None:
        self._dirty.add(path)
        self._note_change()

    def _note_change(self) -> None:
        self._quiet.start()
        if not self._longest.isActive():
            self._longest.start()

    def _tell(self) -> None:
        """Look into the folders of a burst; tell at once of folders and files that are known."""
        self._quiet.stop()
        self._longest.stop()
        dirty, self._dirty = self._dirty, set()
        gone = self._watched.keys() - set(self._watcher.directories())
        for path in gone:  # where one is back, the folder above it tells
            del self._watched[path]
            self._contents.pop(path, None)
        if places := [self._watched[path] for path in dirty if path in self._watched]:
            self._look(places)
        if gone or self._is_settled:
            self._is_settled = False
            self.changed.emit()

    def _note_fresh(self, files: tuple[str, ...]) -> None:
        for file in files:
            self._fresh.setdefault(file, _UNSEEN)
        if self._fresh and not self._settling.isActive():
            self._settling.start()

    def _on_settling_timeout(self) -> None:
        """Tell of files that are written to no more: as soon as that shows, and once it is sure."""
        for path, before in list(self._fresh.items()):
            now = self._fresh[path] = _stamp(path)
            if now != before:
                continue
            if not _is_fresh(now[1]):
                del self._fresh[path]
                self._is_settled = True
                self._note_change()
            elif not self._is_known(path, now):
                self._on_directory_changed(os.path.dirname(path))  # noqa: PTH120 - surrogates
        if self._fresh:
            self._settling.start()

    def _is_known(self, path: str, stamp: tuple[int, int]) -> bool:
        """Whether the file was as it is now when a change was told last."""
        folder, name = os.path.split(path)
        return (os.fsencode(name), *stamp) in self._contents.get(folder, ())


def remote_file_system(place: bytes) -> str:
    """The file system on another machine that ``place`` lies on; empty where it lies on this one.

    Asks for what is mounted, and nothing of the drive itself.
    """
    path = os.fsdecode(os.path.abspath(place))  # noqa: PTH100 - bytes
    if path.startswith("\\\\"):
        return "a share in the network"
    best = ("", "", "")
    for mounted in psutil.disk_partitions(all=True):
        point = mounted.mountpoint.rstrip("/\\")
        is_above = path == point or path.startswith((point + "/", point + "\\"))
        if is_above and len(point) >= len(best[0]):
            best = (point, mounted.fstype.lower(), mounted.opts)
    kind = best[1].partition(".")[0]
    return best[1] if kind in _REMOTE or "remote" in best[2].split(",") else ""


def _look_below(places: list[_Place], remote: Callable[[bytes], str]) -> _Looked:
    found: list[_Place] = []
    away: dict[FolderToList, str] = {}
    for place in places:
        if name := remote(place.location):
            away[place.folder] = (
                f"{place.folder.title} lies on another machine ({name}), which tells of no "
                "changes: it is listed when the list is opened, or by Refresh."
            )
        else:
            found += _places(place)
    contents = {place: _content(place) for place in found}
    fresh = tuple(
        os.fsdecode(os.path.join(place.location, name))  # noqa: PTH118 - bytes
        for place, content in contents.items()
        for name, _, modified_ns in content
        if _is_fresh(modified_ns) and _is_model(name)
    )
    return _Looked(frozenset(place.folder for place in places), contents, fresh, away)


def _content(place: _Place) -> _Content:
    found = set()
    try:
        with os.scandir(place.location) as entries:
            for entry in entries:
                if _is_folder(entry):
                    found.add((entry.name, 0, 0))
                elif place.folder.is_ollama or _is_model(entry.name):
                    found.add((entry.name, *_stamp(entry.path)))
    except OSError:
        pass  # it went meanwhile, which its watch tells
    return frozenset(found)


def _places(place: _Place) -> Iterator[_Place]:
    """``place`` and the folders below it that are listed."""
    folder, location = place.folder, place.location
    if folder.is_ollama and location == folder.location:
        manifests = os.path.join(location, _OLLAMA_MANIFESTS)  # noqa: PTH118 - bytes
        below = (*_below(location, 0), *_below(manifests, _OLLAMA_LEVELS))
    else:
        below = tuple(_below(location, place.levels))
    for found, levels in below:
        yield _Place(folder, found, levels)


def _below(root: bytes, levels: int) -> Iterator[tuple[bytes, int]]:
    """``root`` and the folders below it, each with the levels that are listed below it."""
    waiting, seen = deque([(root, levels)]), set[tuple[int, int]]()
    while waiting:
        place, left = waiting.popleft()
        try:
            status = os.stat(place)  # noqa: PTH116 - bytes
            identity = (status.st_dev, status.st_ino)
            if identity in seen:
                continue
            seen.add(identity)
            with os.scandir(place) as entries:
                below = [entry.path for entry in entries if left and _is_folder(entry)]
        except OSError:
            continue  # it is not there, or may not be listed: the listing says so
        yield place, left
        waiting += [(path, left - 1) for path in below]


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return not entry.name.startswith(b".") and entry.is_dir()
    except OSError:
        return False


def _is_fresh(modified_ns: int) -> bool:
    return 0.0 <= time.time() - modified_ns / _NS_PER_S < FRESH_S


def _is_model(name: bytes) -> bool:
    return name.lower().endswith(MODEL_SUFFIX)


def _stamp(path: str | bytes) -> tuple[int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return _UNSEEN
    return (status.st_size, status.st_mtime_ns)


def _timer(parent: QObject, interval_ms: int, slot: Callable[[], None]) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(interval_ms)
    timer.timeout.connect(slot)
    return timer


def main() -> int:
    """Watch what the first line of standard input asks for, until the input ends."""
    if hasattr(os, "nice"):
        os.nice(10)  # the engine and the window come first
    request = msgspec.json.decode(sys.stdin.buffer.readline(), type=WatchRequest)
    application = QCoreApplication([])
    watch = FolderWatch(request, application)
    watch.changed.connect(lambda: _write(Changed()))
    watch.watching_changed.connect(_write)
    threading.Thread(target=_end_with_input, daemon=True).start()
    QTimer.singleShot(0, watch.start)
    return application.exec()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # threads that a dead drive holds would keep the interpreter


def _write(answer: WatchAnswer) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
