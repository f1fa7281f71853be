"""One file from a hub into the hub's cache, going on where an earlier try ended.

The hub's client begins every download anew in a file of a new name, so a download that was killed
would be lost. Here the bytes go into a partial file beside the cache's blobs; once all are there
and their SHA-256 is right it becomes the blob, of which the client then makes the snapshot, so that
every program of that cache finds it. Blocks.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils._fixes import WeakFileLock
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import get_session, hf_raise_for_status

from app.figures import bytes_text
from app.library.hub import Hub
from app.library.hub_faults import HubError, hub_faults
from app.library.hub_shapes import HubFault, HubFile

# What stays free on the disk; a full one harms every program.
MARGIN_BYTES = 256 << 20
_PARTIAL = 206
_CHUNK_BYTES = 256 << 10
_SILENCE_S = 30.0
# Without a single new byte in between; after the last of them it is told.
_TRIES = 6
_LONGEST_PAUSE_S, _LONGEST_WAIT_S = 16.0, 120.0
_AGAIN = (HubFault.OFFLINE, HubFault.SERVER, HubFault.BUSY)

Told = Callable[[int, bool], None]
"""Is told how many bytes are here, and whether they are being checked."""


class Download:
    """One file.

    Attributes:
        partial: The file that bytes are written to until all are here.

    Args:
        hub: Where it is.
        repo: ``owner/name``.
        commit: Of the repository.
        file: The file.
        cache: The hub's cache; None takes ``HF_HUB_CACHE``, or the usual one.
        pause: Waits between tries; takes seconds.
    """

    def __init__(
        self,
        hub: Hub,
        repo: str,
        commit: str,
        file: HubFile,
        *,
        cache: Path | None = None,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """Ask nothing yet."""
        self._hub = hub
        self._repo = repo
        self._commit = commit
        self._file = file
        self._cache = cache or Path(constants.HF_HUB_CACHE)
        self._pause = pause
        self._url = hf_hub_url(repo, file.path, revision=commit, endpoint=hub.api.endpoint)
        self.partial = self._blobs / f"{file.sha256 or _name_alone(file, commit)}.tunedeck-partial"

    @property
    def here_bytes(self) -> int:
        """How much of it is here already."""
        try:
            return min(self.partial.stat().st_size, self._file.size_bytes)
        except OSError:
            return 0

    def run(self, told: Told) -> Path:
        """Download what is missing, check it, and put it into the cache.

        Args:
            told: Is told how far it is, some times a second.

        Returns:
            Where it lies in the cache, by its own name.

        Raises:
            HubError: If it cannot be had, in a sentence; what is here stays for the next try.
        """
        try:
            with WeakFileLock(self._lock):
                return self._run(told)
        except OSError as error:
            raise _disk_fault(self._file, error, self.partial) from None

    def forget(self) -> None:
        """Delete what is here of an unfinished download."""
        self.partial.unlink(missing_ok=True)

    # --- Inside -------------------------------------------------------------------------

    @property
    def _named(self) -> str:
        return f"{self._repo}/{self._file.path}"

    @property
    def _blobs(self) -> Path:
        folder = repo_folder_name(repo_id=self._repo, repo_type="model")
        return self._cache / folder / "blobs"

    @property
    def _lock(self) -> Path:
        folder = self._cache / ".locks" / self._blobs.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        # Not the client's own of the same blob: it takes that inside this one.
        return folder / f"{self.partial.name}.lock"

    def _run(self, told: Told) -> Path:
        token = self._hub.api.token
        with hub_faults(self._named):
            metadata = get_hf_file_metadata(self._url, token=token, endpoint=self._hub.api.endpoint)
        if self._file.size_bytes <= 0:
            raise HubError(HubFault.SERVER, f"{self._file.name} is empty on the hub.")
        size, etag = self._file.size_bytes, metadata.etag or ""
        if (metadata.size or size) != size or (self._file.sha256 or etag) != etag:
            raise HubError(
                HubFault.CHANGED,
                f"{self._file.name} is another file on the hub now. Open its repository again.",
            )
        blob = self._blobs / etag
        if not blob.exists():
            self._blobs.mkdir(parents=True, exist_ok=True)
            self._refuse_full_disk()
            self._fetch(told)
            self._check(told)
            self.partial.replace(blob)
        with hub_faults(self._named):
            return self._in_snapshot()

    def _refuse_full_disk(self) -> None:
        needed = self._file.size_bytes - self.here_bytes + MARGIN_BYTES
        free = shutil.disk_usage(self._blobs).free
        if free < needed:
            raise HubError(
                HubFault.DISK,
                f"{self._file.name} needs {bytes_text(needed)} on the disk of {self._cache}, where "
                f"{bytes_text(free)} are free. Free some, or set HF_HOME to another disk.",
            )

    def _fetch(self, told: Told) -> None:
        """Load until all bytes are here; a line that breaks is taken up again."""
        tries = 0
        while (begin := self.here_bytes) < self._file.size_bytes:
            try:
                with hub_faults(self._named):
                    self._load_from(begin, told)
            except HubError as error:
                tries = 0 if self.here_bytes > begin else tries + 1
                is_long = (error.wait_s or 0.0) > _LONGEST_WAIT_S
                if error.kind not in _AGAIN or tries >= _TRIES or is_long:
                    raise
                told(self.here_bytes, False)
                self._pause(error.wait_s or min(_LONGEST_PAUSE_S, 2.0**tries / 2))

    def _load_from(self, begin: int, told: Told) -> None:
        headers = build_hf_headers(token=self._hub.api.token, library_name="tunedeck")
        headers["Accept-Encoding"] = "identity"
        if begin:
            headers["Range"] = f"bytes={begin}-"
        with get_session().stream(
            "GET", self._url, headers=headers, timeout=_SILENCE_S, follow_redirects=True
        ) as answer:
            hf_raise_for_status(answer)
            if begin and not _begins_at(answer, begin):
                begin = 0  # it sends all of it
            with self.partial.open("r+b" if self.partial.exists() else "wb") as file:
                file.seek(begin)
                file.truncate()
                left = self._file.size_bytes - begin
                for chunk in answer.iter_bytes(chunk_size=_CHUNK_BYTES):
                    file.write(chunk[:left])
                    file.flush()
                    left -= len(chunk)
                    told(self._file.size_bytes - max(0, left), False)
                    if left <= 0:
                        break
        if self.here_bytes <= begin:
            raise HubError(HubFault.SERVER, f"The hub sends nothing of {self._file.name}.")

    def _check(self, told: Told) -> None:
        """Compare what came with what the hub announced.

        Raises:
            HubError: If it is something else; it is deleted then.
        """
        told(self._file.size_bytes, True)
        if not self._file.sha256:
            return  # small files that git itself keeps
        digest = hashlib.sha256()
        with self.partial.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
        if digest.hexdigest() != self._file.sha256:
            self.forget()
            raise HubError(
                HubFault.DAMAGED,
                f"What came of {self._file.name} is not what the hub announced (its SHA-256 is "
                "another), so it was deleted. Download it again; if that repeats, something "
                "between here and the hub changes files.",
            )

    def _in_snapshot(self) -> Path:
        """Have the client make the snapshot's name; it loads nothing, for the blob is there."""
        api = self._hub.api
        main = get_hf_file_metadata(
            hf_hub_url(self._repo, self._file.path, endpoint=api.endpoint),
            token=api.token,
            endpoint=api.endpoint,
        )
        is_main = main.commit_hash == self._commit
        return Path(
            hf_hub_download(
                self._repo,
                self._file.path,
                revision="main" if is_main else self._commit,
                cache_dir=self._cache,
                endpoint=api.endpoint,
                token=api.token,
                library_name="tunedeck",
            )
        )


def _begins_at(answer: Any, begin: int) -> bool:  # noqa: ANN401 - a response of the hub's client
    """Whether an answer goes on from there; else it is the whole file."""
    told = str(answer.headers.get("Content-Range", ""))
    return answer.status_code == _PARTIAL and told.startswith(f"bytes {begin}-")


def _name_alone(file: HubFile, commit: str) -> str:
    """A partial file's name where the hub announces no digest."""
    return hashlib.sha256(f"{commit}/{file.path}".encode()).hexdigest()


def _disk_fault(file: HubFile, error: OSError, partial: Path) -> HubError:
    if error.errno == errno.ENOSPC:
        return HubError(
            HubFault.DISK,
            f"The disk is full: {file.name} is not complete. What came stays in "
            f"{os.fspath(partial.parent)}; free some space and go on.",
        )
    return HubError(HubFault.DISK, f"{file.name} cannot be written ({error.strerror or error}).")
