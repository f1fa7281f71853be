"""A download of the window alone: what it says while nothing comes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.hub_download import HubDownload
from app.library.hub_shapes import HubFile, HubRepository, Quantisation
from tests.small_hub import COMMIT, Repository, SmallHub
from tests.window.conftest import PATIENCE_MS
from widgets.hub_rows import DownloadRow

pytestmark = pytest.mark.gui
REPO = "somebody/model-GGUF"
SIZE = 1 << 20


class Clock:
    """A time that a test sets, in seconds."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SmallHub]:
    with SmallHub() as server:
        server.repositories[REPO] = Repository({"m-Q4_0.gguf": b"G" * SIZE})
        server.stall_after = SIZE // 2
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_TOKEN", "other")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield server


def test_that_a_download_says_that_nothing_arrives_and_that_it_tries(
    small: SmallHub, qtbot: QtBot
) -> None:
    clock, parent, rows = Clock(), QObject(), list[DownloadRow]()
    download = HubDownload(parent, clock, look_every_ms=10)
    download.changed.connect(rows.append)
    file = HubFile("m-Q4_0.gguf", SIZE, small.repositories[REPO].sha256("m-Q4_0.gguf"))
    model = Quantisation("Q4_0", (file,))
    download.start(HubRepository(REPO, COMMIT, (model,)), model)
    qtbot.waitUntil(lambda: " of " in rows[-1].words, timeout=PATIENCE_MS)

    def is_silent() -> bool:
        clock.now_s += 3
        return rows[-1].is_stalled

    qtbot.waitUntil(is_silent, timeout=PATIENCE_MS)
    said = re.search(r"nothing has arrived for (\d+) s; still trying$", rows[-1].words)
    assert said is not None
    assert int(said[1]) >= 10, "a short silence is usual"
    assert rows[-1].state == "running"
    download.pause()
    assert not rows[-1].is_stalled
    clock.now_s += 60
    with qtbot.assertNotEmitted(download.changed, wait=50):
        pass
    small.stall_after = None
    download.resume()
    assert not rows[-1].is_stalled, "the pause is not the hub's silence"
    qtbot.waitUntil(lambda: rows[-1].state == "done", timeout=PATIENCE_MS)
    with qtbot.assertNotEmitted(download.changed, wait=50):
        clock.now_s += 60
    download.close()
