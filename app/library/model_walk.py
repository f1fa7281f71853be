"""The GGUF files below a folder; knows names and sizes, never opens a file."""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from app.library.model_entry import ModelEntry
from engine_bridge.gguf_window import shown_name

# Folders looked into before a listing is called endless.
MAX_FOLDERS = 20_000
MODEL_SUFFIX = b".gguf"
# What programs call a model until all of it is there; .part and the like do not end as models do.
_UNFINISHED = (b"incomplete-", b"downloading_")  # GPT4All, LM Studio
_BESIDE_UNFINISHED = b".aria2"
_NAMELESS = frozenset({b"model.gguf"})
_PART = re.compile(rb"^(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.DOTALL | re.I)


@dataclass(frozen=True)
class FoundFile:
    """One file.

    Attributes:
        location: Its path.
        size_bytes: Its size, that of the file a link leads to.
        modified_ns: When it was modified.
        identity: Device and number of the file itself, the same for all its names.
        is_link: Whether this name is a symbolic link.
        problem: Why it cannot be looked at; empty where it can.
        title: What people call it where its file's name says nothing; else empty.
    """

    location: bytes
    size_bytes: int
    modified_ns: int
    identity: tuple[int, int]
    is_link: bool = False
    problem: str = ""
    title: str = ""


@dataclass
class Walk:
    """What was found, and what was left out.

    Attributes:
        files: The GGUF files, real ones before links.
        left_out: Sentences about folders that were not looked into.
    """

    files: list[FoundFile]
    left_out: list[str]


def walk_folder(root: bytes, levels: int, is_alive: Callable[[], None]) -> Walk:
    """Find the GGUF files below ``root``; links to folders are followed once.

    Args:
        root: The folder.
        levels: How many levels below it are looked into.
        is_alive: Called whenever the drive has answered.

    Raises:
        OSError: If ``root`` itself cannot be listed.
    """
    status = os.stat(root)  # noqa: PTH116 - bytes, which Path does not take
    walk = Walk([], [])
    seen = {(status.st_dev, status.st_ino)}
    waiting = deque([(root, 0)])
    while waiting:
        folder, depth = waiting.popleft()
        try:
            names = list(_listed(folder))
        except OSError as error:
            if folder == root:
                raise
            walk.left_out.append(f"{shown_path(folder)} cannot be listed ({error.strerror}).")
            continue
        is_alive()
        present = {entry.name for entry in names}
        for entry in names:
            if is_unfinished(entry.name, present):
                continue
            below = _look(entry, walk, seen)
            if below is not None and _may_enter(walk, len(seen), depth, levels):
                waiting.append((below, depth + 1))
    walk.files.sort(key=lambda file: (file.is_link, file.location))
    return walk


def is_unfinished(name: bytes, present: Collection[bytes]) -> bool:
    """Whether a download of the file ``name`` is under way, by the names of all in its folder."""
    return name.lower().startswith(_UNFINISHED) or name + _BESIDE_UNFINISHED in present


def look_at_file(location: bytes) -> FoundFile:
    """One file by its path.

    Raises:
        OSError: If it is not there.
    """
    status = os.stat(location)  # noqa: PTH116 - bytes
    is_link = os.path.islink(location)  # noqa: PTH114 - bytes
    return _found(location, status, is_link)


def entries_of(
    files: Iterable[FoundFile], folder: bytes, is_new: Callable[[tuple[int, int]], bool]
) -> Iterator[ModelEntry]:
    """Make entries, one for a split model, none for a second name of the same file.

    Args:
        files: What was found.
        folder: The listed folder.
        is_new: Whether a file of this identity was not listed yet; asked once for each.
    """
    splits: dict[tuple[bytes, int], dict[int, FoundFile]] = {}
    for file in files:
        match = _PART.match(file.location)
        if match is None or not int(match["count"]) > 1:
            if is_new(file.identity):
                yield _entry((file,), folder, file.problem)
            continue
        parts = splits.setdefault((match["stem"], int(match["count"])), {})
        parts[int(match["number"])] = file
    for (_, count), parts in splits.items():
        first = parts[min(parts)]
        if is_new(first.identity):
            problem = first.problem
            if 1 not in parts:
                problem = (
                    f"Part 1 of {count} is missing beside {shown_name(os.fsdecode(first.location))}"
                    ". Download it into the same folder."
                )
            yield _entry((first, *(p for p in parts.values() if p is not first)), folder, problem)


def part_locations(location: bytes) -> tuple[bytes, ...]:
    """All parts of a split model by the name of one of them; itself of any other."""
    match = _PART.match(location)
    if match is None:
        return (location,)
    count = int(match["count"])
    return tuple(
        b"%s-%05d-of-%05d.gguf" % (match["stem"], number, count) for number in range(1, count + 1)
    )


def shown_path(location: bytes) -> str:
    """A path for people; bytes that are no text are escaped."""
    return location.decode("utf-8", "backslashreplace")


def _entry(parts: tuple[FoundFile, ...], folder: bytes, problem: str) -> ModelEntry:
    first = parts[0]
    return ModelEntry(
        location=first.location,
        folder=folder,
        name=first.title or _name_of(first.location),
        size_bytes=sum(part.size_bytes for part in parts),
        modified_ns=max(part.modified_ns for part in parts),
        device=first.identity[0],
        parts=len(parts),
        problem=problem,
        is_read=bool(problem),
    )


def _name_of(location: bytes) -> str:
    """The file's name; with its folder's where it is one that says nothing, as in Jan's folders."""
    folder, name = os.path.split(location)
    above = os.path.basename(folder)  # noqa: PTH119 - bytes
    if name.lower() in _NAMELESS and above:
        name = above + b"/" + name
    # A name may hold a slash here, which shown_name would take for a folder's.
    return shown_name(os.fsdecode(location)) if b"/" not in name else shown_path(name)


def _listed(folder: bytes) -> Iterator[os.DirEntry[bytes]]:
    with os.scandir(folder) as entries:
        yield from entries


def _look(entry: os.DirEntry[bytes], walk: Walk, seen: set[tuple[int, int]]) -> bytes | None:
    """Take a file in; return a folder that is still to be looked into."""
    is_model = entry.name.lower().endswith(MODEL_SUFFIX)
    if not is_model and (entry.name.startswith(b".") or not _is_folder(entry)):
        return None
    try:
        status = os.stat(entry.path)  # noqa: PTH116 - DirEntry.stat has no identity on Windows
    except OSError as error:
        if is_model:
            why = "a link that leads nowhere" if entry.is_symlink() else str(error.strerror)
            sentence = (
                f"{shown_name(os.fsdecode(entry.path))} cannot be looked at: {why}. Its file may "
                "have been moved or deleted."
            )
            walk.files.append(FoundFile(entry.path, 0, 0, (0, hash(entry.path)), False, sentence))
        return None
    if stat.S_ISDIR(status.st_mode):
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            return None
        seen.add(identity)
        return entry.path
    if is_model and stat.S_ISREG(status.st_mode):
        walk.files.append(_found(entry.path, status, entry.is_symlink()))
    return None


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link into a circle


def _may_enter(walk: Walk, folders: int, depth: int, levels: int) -> bool:
    if not levels:
        return False
    sentence = ""
    if depth >= levels:
        sentence = f"Folders more than {levels} levels down were not looked into."
    elif folders > MAX_FOLDERS:
        sentence = f"More than {MAX_FOLDERS:,} folders lie below; the rest was not looked into."
    if sentence and sentence not in walk.left_out:
        walk.left_out.append(sentence)
    return not sentence


def _found(location: bytes, status: os.stat_result, is_link: bool) -> FoundFile:
    identity = (status.st_dev, status.st_ino)
    return FoundFile(location, status.st_size, status.st_mtime_ns, identity, is_link)
