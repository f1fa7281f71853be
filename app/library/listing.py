"""The listing of all folders at once, none of which can hold up the others.

Runs in a process of its own (``python -m app.library.listing``): reading 2,000 headers would take
the interpreter from the window, and a drive that died keeps whoever asks it. That process is
thrown away afterwards, threads that never came back included.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from app.library.folder_job import (
    Alive,
    Failed,
    FolderJob,
    HeaderRead,
    Listed,
    Post,
    ReadFacts,
    Seen,
    WalkFolder,
)
from app.library.list_cache import KeptFolder, ListCache, read_list_cache, write_list_cache
from app.library.model_entry import (
    RECENT,
    EntriesFound,
    FolderReported,
    FolderToList,
    ListAnswer,
    ListingDone,
    ListRequest,
    ModelEntry,
)
from app.library.model_walk import shown_path, walk_folder
from app.storage.storage_error import StorageError, storage_error
from engine_bridge.header_facts import read_header_facts

# Files opened lately are listed first where they answer at once, so that they are not found again
# under their folder.
_HEAD_START_S = 0.3
# What the window takes in at once without a frame that is late.
_BATCH = 50
# Headers are told as soon as this has passed, single ones included.
_BATCH_WAIT_S = 0.05
_NICENESS = 10


class Listing:
    """One listing from its start to its end."""

    def __init__(
        self,
        request: ListRequest,
        tell: Callable[[ListAnswer], None],
        read: ReadFacts = read_header_facts,
        walk: WalkFolder = walk_folder,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare it.

        Args:
            request: What is wanted.
            tell: Called with each answer, always from the thread that calls ``run``.
            read: Reads one header.
            walk: Lists one folder.
            now_s: The clock that silence is measured by.
        """
        self._request = request
        self._tell = tell
        self._now_s = now_s
        self._posts: queue.Queue[tuple[FolderJob, Post]] = queue.Queue()
        self._cache: ListCache = read_list_cache(Path(request.cache_path))
        known, seen = self._cache.known(), Seen()
        folders = (FolderToList(RECENT, "Recent"), *request.folders)
        self._jobs = [
            FolderJob(
                folder, request.recent, self._cache.folder(folder.location), known, seen,
                posts=self._posts, read=read, walk=walk,
            )
            for folder in folders
        ]  # fmt: skip
        self._running: dict[FolderJob, float] = {}
        self._found: dict[FolderJob, dict[bytes, ModelEntry]] = {}
        self._lost_since_s: dict[FolderJob, float] = {}
        self._unsent: list[ModelEntry] = []
        self._sent_s = 0.0

    def hurry(self, location: bytes) -> None:
        """Read this file's header next; may be called from any thread."""
        for job in self._jobs:
            job.hurried.put(location)

    def run(self) -> None:
        """List it all; returns once every folder is through or given up."""
        recent, *others = self._jobs
        self._start(recent)
        self._take_posts(until_s=self._now_s() + _HEAD_START_S)
        for job in others:
            self._start(job)
        self._take_posts(until_s=None)
        self._send_entries()
        self._tell(ListingDone(self._keep()))

    # --- Inside -------------------------------------------------------------------------

    def _start(self, job: FolderJob) -> None:
        self._running[job] = self._now_s()
        job.start()

    def _take_posts(self, until_s: float | None) -> None:
        while self._running:
            now_s = self._now_s()
            if until_s is not None and now_s >= until_s:
                return
            try:
                job, post = self._posts.get(timeout=_BATCH_WAIT_S)
            except queue.Empty:
                self._send_entries()
            else:
                self._take(job, post)
            self._give_up_silent()

    def _take(self, job: FolderJob, post: Post) -> None:
        is_given_up = job not in self._running
        if not is_given_up:
            self._running[job] = self._now_s()
        if isinstance(post, Listed):
            self._take_listed(job, post)
        elif isinstance(post, HeaderRead):
            self._add(job, (post.entry,))
        elif isinstance(post, Failed):
            self._take_failed(job, post.error)
        elif not isinstance(post, Alive) and not is_given_up:
            del self._running[job]

    def _take_listed(self, job: FolderJob, post: Listed) -> None:
        # It answered after all where it had been given up.
        self._lost_since_s.pop(job, None)
        self._found[job] = {}
        problem = post.left_out
        if job.folder.location == RECENT:
            self._lose(job, post.away, "")
            problem = ""
        elif post.away:
            problem = f"A drive below {job.folder.title} is not mounted. {problem}".rstrip()
            self._lose(job, post.away, "its drive is not mounted")
        self._add(job, post.entries)
        self._send_entries()
        self._tell(FolderReported(job.folder.location, problem))

    def _take_failed(self, job: FolderJob, error: OSError) -> None:
        folder = job.folder
        is_missing = isinstance(error, FileNotFoundError)
        if is_missing and not folder.is_own and not job.kept.entries:
            # Another program's folder, on a machine without that program.
            self._tell(FolderReported(folder.location, "", is_missing=True))
            return
        path = Path(folder.path)
        sentence = str(storage_error(f"{folder.title} cannot be listed", path, error))
        self._lose(job, job.kept.entries, "its folder is not there" if is_missing else "")
        self._tell(FolderReported(folder.location, sentence))

    def _give_up_silent(self) -> None:
        limit_s = self._now_s() - self._request.silence_s
        for job in [job for job, last_s in self._running.items() if last_s < limit_s]:
            del self._running[job]
            unread = [e for e in self._found.get(job, {}).values() if not e.is_read]
            is_listed = job in self._found
            self._lose(job, tuple(unread) if is_listed else job.kept.entries, "")
            where = shown_path(job.folder.location) or "a file opened lately"
            self._tell(
                FolderReported(
                    job.folder.location,
                    f"{job.folder.title} does not answer ({where}): its drive may be gone or "
                    "asleep. Its models are greyed until it answers; connect it and refresh.",
                )
            )

    def _lose(self, job: FolderJob, entries: tuple[ModelEntry, ...], why: str) -> None:
        """Keep entries whose folder does not answer, greyed."""
        since_s = job.kept.lost_since_s or time.time()
        self._lost_since_s[job] = since_s
        day = time.strftime("%d %B, %H:%M", time.localtime(since_s))
        problem = f"Not reachable since {day}: {why or 'its drive does not answer'}. Connect the "
        problem += "drive and refresh; nothing was deleted from the list."
        self._add(
            job,
            tuple(
                msgspec.structs.replace(entry, problem=problem, is_reachable=False)
                for entry in entries
            ),
        )

    def _add(self, job: FolderJob, entries: tuple[ModelEntry, ...]) -> None:
        found = self._found.setdefault(job, {})
        for entry in entries:
            found[entry.location] = entry
            self._unsent.append(entry)
        if len(self._unsent) >= _BATCH or self._now_s() - self._sent_s > _BATCH_WAIT_S:
            self._send_entries()

    def _send_entries(self) -> None:
        for start in range(0, len(self._unsent), _BATCH):
            self._tell(EntriesFound(tuple(self._unsent[start : start + _BATCH])))
        self._unsent.clear()
        self._sent_s = self._now_s()

    def _keep(self) -> str:
        """Write what was found; the sentence of an error, or nothing."""
        kept = tuple(
            KeptFolder(
                job.folder.location,
                tuple(_as_kept(entry) for entry in self._found.get(job, {}).values()),
                self._lost_since_s.get(job, 0.0),
            )
            for job in self._jobs
        )
        if kept == self._cache.folders:
            return ""
        try:
            write_list_cache(Path(self._request.cache_path), kept)
        except StorageError as error:
            return str(error)
        return ""


def _as_kept(entry: ModelEntry) -> ModelEntry:
    """Facts are kept, faults are looked at anew."""
    return msgspec.structs.replace(
        entry, problem="", is_read=False, is_reachable=True, is_growing=False
    )


def main() -> int:
    """List what the first line of standard input asks for; one answer a line.

    Every further line is the location of a file to read next, as JSON; the end of the input ends
    the process.
    """
    if hasattr(os, "nice"):
        os.nice(_NICENESS)  # the engine and the window come first
    request = msgspec.json.decode(sys.stdin.buffer.readline(), type=ListRequest)
    listing = Listing(request, _write)
    threading.Thread(target=_follow_input, args=(listing,), daemon=True).start()
    listing.run()
    sys.stdout.buffer.flush()
    os._exit(0)  # threads that a dead drive holds would keep the interpreter


def _follow_input(listing: Listing) -> None:
    for line in sys.stdin.buffer:
        listing.hurry(msgspec.json.decode(line, type=bytes))
    os._exit(0)


def _write(answer: ListAnswer) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
