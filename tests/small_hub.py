"""A hub on the loopback address that holds what a test puts there, and misbehaves as it is told.

Speaks as much of the real one's interface as its client asks for: searches, one repository, files
whole and in ranges.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.small_hub_search import found_in

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_CHUNK = 64 * 1024


@dataclass
class Repository:
    """One repository.

    Attributes:
        files: By path.
        gated: Whether it wants terms accepted.
        private: Whether it wants a login.
        claims: Sizes that it lies about, by path.
        digests: SHA-256 that it lies about, by path.
        downloads: As it says.
        likes: People who like it.
        updated: When it was changed last.
        trending: How much it is talked of.
        architecture: Of its GGUF files.
        parameters: Of its model; 0 where nobody read its files.
    """

    files: dict[str, bytes]
    gated: bool = False
    private: bool = False
    claims: dict[str, int] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    downloads: int = 10
    likes: int = 3
    updated: str = "2026-11-30T10:00:00.000Z"
    trending: int = 0
    architecture: str = "qwen2"
    parameters: int = 494_000_000

    def size(self, path: str) -> int:
        """What it says a file's size is."""
        return self.claims.get(path, len(self.files[path]))

    def sha256(self, path: str) -> str:
        """What it says a file's digest is."""
        return self.digests.get(path) or _sha256(self.files[path])


@functools.lru_cache
def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


Fault = Callable[["_Handler"], bool]
"""Answers a request by itself, or says False."""


class SmallHub:
    """The server; a context manager.

    Attributes:
        repositories: By ``owner/name``.
        fault: Asked before each answer.
        ranges: Ranges of the files that were asked for, in order; an empty text for a whole file.
        sent_bytes: Bytes of files that were sent.
        cut_after: After so many bytes of a file the connection ends; None for never.
        stall_after: After so many bytes of a file nothing more comes; None for never.
        ignores_ranges: Whether it sends whole files only.
        token: What a private repository wants.
        searches: What was asked of searches, in order.
        link_host: Whose address the next page has; empty for its own.
        closing: Set when it is closed: what hangs ends then.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.repositories: dict[str, Repository] = {}
        self.fault: Fault = lambda _: False
        self.ranges: list[str] = []
        self.sent_bytes = 0
        self.searches: list[dict[str, list[str]]] = []
        self.link_host = ""
        self.cut_after: int | None = None
        self.stall_after: int | None = None
        self.ignores_ranges = False
        self.token = "secret"
        self.closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.hub = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """Its address, for ``HF_ENDPOINT``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    hub: SmallHub

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients are killed in the middle; that is what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def say(self, status: int, content: bytes = b"", **headers: str) -> None:
        """Answer in one piece."""
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def hang(self) -> None:
        """Say nothing until the hub is closed."""
        self.server.hub.closing.wait()
        self.close_connection = True

    def _answer(self, *, with_body: bool) -> None:
        if self.server.hub.fault(self):
            return
        parts = urlsplit(self.path)  # a fault may have changed what was asked
        if parts.path == "/api/models":
            self._search(parse_qs(parts.query))
        elif parts.path.startswith("/api/models/"):
            self._repository(parts.path.removeprefix("/api/models/"))
        elif "/resolve/" in parts.path:
            name, _, rest = parts.path.lstrip("/").partition("/resolve/")
            self._file(name, rest.partition("/")[2], with_body=with_body)
        else:
            self.say(404)

    def _search(self, query: dict[str, list[str]]) -> None:
        hub = self.server.hub
        hub.searches.append(query)
        answer = found_in(hub.repositories, query)
        if answer is None:
            self.say(400, b'{"error": "Invalid query"}')
            return
        content = json.dumps(answer.page).encode()
        if answer.cursor is None:
            self.say(200, content, Content_Type="application/json")
            return
        asked = [(key, value) for key, values in query.items() for value in values]
        rest = urlencode([*((k, v) for k, v in asked if k != "cursor"), ("cursor", answer.cursor)])
        link = f'<{hub.link_host or hub.url}/api/models?{rest}>; rel="next"'
        self.say(200, content, Content_Type="application/json", Link=link)

    def _allowed(self, name: str) -> Repository | None:
        """The repository, or a refusal that was said."""
        repository = self.server.hub.repositories.get(name)
        if repository is None:
            self.say(404, b"{}", X_Error_Code="RepoNotFound")
            return None
        is_known = self.headers.get("Authorization") == f"Bearer {self.server.hub.token}"
        if repository.private and not is_known:
            self.say(401, b"{}", X_Error_Code="RepoNotFound")
            return None
        return repository

    def _repository(self, name: str) -> None:
        name = name.partition("/revision/")[0]
        repository = self._allowed(name)
        if repository is None:
            return
        siblings = [
            {
                "rfilename": path, "size": repository.size(path),
                "lfs": {
                    "sha256": repository.sha256(path), "size": repository.size(path),
                    "pointerSize": 134,
                },
            }
            for path in repository.files
        ]  # fmt: skip
        told: dict[str, Any] = {
            "id": name, "modelId": name, "sha": COMMIT, "siblings": siblings, "private": False,
            "gated": "auto" if repository.gated else False,
            "cardData": {"license": "apache-2.0", "base_model": "somebody/base"},
        }  # fmt: skip
        self.say(200, json.dumps(told).encode(), Content_Type="application/json")

    def _file(self, name: str, path: str, *, with_body: bool) -> None:
        hub, repository = self.server.hub, self._allowed(name)
        if repository is None:
            return
        if repository.gated:
            self.say(403, b"{}", X_Error_Code="GatedRepo")
            return
        if path not in repository.files:
            self.say(404, b"{}", X_Error_Code="EntryNotFound")
            return
        content = repository.files[path]
        headers = {
            "X-Repo-Commit": COMMIT, "ETag": f'"{repository.sha256(path)}"',
            "X-Linked-Etag": f'"{repository.sha256(path)}"',
            "X-Linked-Size": str(repository.size(path)), "Accept-Ranges": "bytes",
        }  # fmt: skip
        asked = self.headers.get("Range", "")
        match = _RANGE.fullmatch(asked)
        begin, end, status = 0, len(content), 200
        if match is not None and not hub.ignores_ranges:
            begin = int(match[1])
            end = min(end, int(match[2]) + 1) if match[2] else end
            status = 206
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(content)}"
        self.send_response(status)
        for key, text in headers.items():
            self.send_header(key, text)
        self.send_header("Content-Length", str(max(0, end - begin)))
        self.end_headers()
        if with_body:
            hub.ranges.append(asked)
            self._send(content[begin:end])

    def _send(self, content: bytes) -> None:
        hub = self.server.hub
        for at in range(0, len(content), _CHUNK):
            if hub.cut_after is not None and at >= hub.cut_after:
                self.close_connection = True
                self.connection.close()
                return
            if hub.stall_after is not None and at >= hub.stall_after:
                self.hang()
                return
            part = content[at : at + _CHUNK]
            self.wfile.write(part)
            hub.sent_bytes += len(part)

    def log_message(self, *_: object) -> None:
        """Say nothing on the test's error stream."""
