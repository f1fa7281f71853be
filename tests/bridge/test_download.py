"""Downloads from a small hub that stalls, cuts, lies and is killed in the middle."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.utils._http import close_session

from app.library.download import MARGIN_BYTES, Download
from app.library.hub import Hub
from app.library.hub_faults import HubError
from app.library.hub_shapes import HubFault
from tests.small_hub import Repository, SmallHub

REPO = "somebody/model-GGUF"
PATH = "m-Q4_K_M.gguf"
ROOT = Path(__file__).resolve().parents[2]
# Each starts a program that takes a second to import; all fifty with CHAOS=full.
_KILLS = 50 if os.environ.get("CHAOS") == "full" else 5
# What each of them gets before it is killed: more than the client hands on at once.
_PART_BYTES = 320 << 10
CONTENT = b"GGUF" + os.urandom(max(6 << 20, (_KILLS + 1) * _PART_BYTES) + 123)


@pytest.fixture
def small() -> Iterator[SmallHub]:
    with SmallHub() as server:
        server.repositories[REPO] = Repository({PATH: CONTENT})
        yield server
    close_session()


def download(small: SmallHub, cache: Path) -> Download:
    hub = Hub(small.url, token="other")
    repository = hub.repository(REPO)
    file = repository.quantisations[0].files[0]
    return Download(hub, REPO, repository.commit, file, cache=cache, pause=lambda _: None)


def told(_here_bytes: int, _is_checking: bool) -> None:
    """Nobody listens."""


def failing(small: SmallHub, cache: Path) -> tuple[HubFault, str]:
    with pytest.raises(HubError) as found:
        download(small, cache).run(told)
    return found.value.kind, str(found.value)


def test_that_a_download_lies_where_the_hubs_own_client_looks(
    small: SmallHub, tmp_path: Path
) -> None:
    seen: list[tuple[int, bool]] = []
    path = download(small, tmp_path).run(lambda here, checks: seen.append((here, checks)))
    assert path.read_bytes() == CONTENT
    assert path.name == PATH
    assert path.parent.parent.name == "snapshots"
    assert (tmp_path / "models--somebody--model-GGUF" / "refs" / "main").exists()
    assert seen[-1] == (len(CONTENT), True)
    heres = [here for here, _ in seen]
    assert heres == sorted(heres)
    small.ranges.clear()
    assert download(small, tmp_path).run(told) == path, "it is there already"
    assert small.ranges == []


def test_that_a_line_that_is_cut_is_taken_up_where_it_ended(
    small: SmallHub, tmp_path: Path
) -> None:
    small.cut_after = 1 << 20
    assert download(small, tmp_path).run(told).read_bytes() == CONTENT
    assert small.ranges[0] == ""
    begins = [int(asked.split("=")[1].rstrip("-")) for asked in small.ranges[1:]]
    assert begins == sorted(begins)
    assert small.sent_bytes < len(CONTENT) + len(small.ranges) * (256 << 10)


def test_that_a_hub_that_ignores_ranges_is_read_from_the_front_again(
    small: SmallHub, tmp_path: Path
) -> None:
    first = download(small, tmp_path)
    first.partial.parent.mkdir(parents=True)
    first.partial.write_bytes(CONTENT[: 1 << 20])
    small.ignores_ranges = True
    assert first.run(told).read_bytes() == CONTENT


def test_that_what_is_not_what_was_announced_is_deleted_and_said(
    small: SmallHub, tmp_path: Path
) -> None:
    small.repositories[REPO].digests[PATH] = hashlib.sha256(b"another").hexdigest()
    kind, sentence = failing(small, tmp_path)
    assert kind is HubFault.DAMAGED
    assert "SHA-256" in sentence
    assert not list(tmp_path.rglob("*partial"))
    assert not list(tmp_path.rglob("snapshots/*/*"))


def test_that_a_file_changed_meanwhile_is_not_mixed_with_the_old_one(
    small: SmallHub, tmp_path: Path
) -> None:
    old = download(small, tmp_path)
    small.repositories[REPO].files[PATH] = CONTENT[::-1]
    with pytest.raises(HubError) as found:
        old.run(told)
    assert found.value.kind is HubFault.CHANGED


def test_that_a_hub_that_lies_about_a_size_is_told(small: SmallHub, tmp_path: Path) -> None:
    small.repositories[REPO].claims[PATH] = len(CONTENT) + 5
    kind, _ = failing(small, tmp_path)
    assert kind in (HubFault.SERVER, HubFault.CHANGED, HubFault.OFFLINE)


def test_that_a_disk_without_room_is_told_before_the_first_byte(
    small: SmallHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("usage", (), {"free": MARGIN_BYTES + 1_000})()
    monkeypatch.setattr("app.library.download.shutil.disk_usage", lambda _: usage)
    kind, sentence = failing(small, tmp_path)
    assert kind is HubFault.DISK
    assert "are free" in sentence
    assert small.sent_bytes == 0


@pytest.mark.parametrize(("status", "kind"), [(403, HubFault.LOGIN), (404, HubFault.MISSING)])
def test_that_a_refusal_is_not_tried_again(
    small: SmallHub, tmp_path: Path, status: int, kind: HubFault
) -> None:
    asked = []

    def refuse(handler: Any) -> bool:
        if "/resolve/" not in handler.path or handler.command == "HEAD":
            return False
        asked.append(handler.path)
        handler.say(status, b"{}", **({"X_Error_Code": "EntryNotFound"} if status == 404 else {}))
        return True

    small.fault = refuse
    assert failing(small, tmp_path)[0] is kind
    assert len(asked) == 1


def test_that_a_pause_the_hub_wants_is_kept_and_the_download_goes_on(
    small: SmallHub, tmp_path: Path
) -> None:
    waited: list[float] = []
    refusals = iter([True, True])

    def busy(handler: Any) -> bool:
        is_file = "/resolve/" in handler.path and handler.command == "GET"
        if is_file and next(refusals, False):
            handler.say(429, b"{}", Retry_After="3")
            return True
        return False

    small.fault = busy
    hub = Hub(small.url, token="other")
    repository = hub.repository(REPO)
    file = repository.quantisations[0].files[0]
    job = Download(hub, REPO, repository.commit, file, cache=tmp_path, pause=waited.append)
    assert job.run(told).read_bytes() == CONTENT
    assert waited == [3.0, 3.0]


def test_that_killed_downloads_end_in_the_right_file(small: SmallHub, tmp_path: Path) -> None:
    """At moments that move through the file; each start goes on where it was."""
    environment = os.environ | {
        "HF_ENDPOINT": small.url, "HF_HUB_CACHE": str(tmp_path), "HF_TOKEN": "other",
        "HF_HUB_OFFLINE": "0",
    }  # fmt: skip
    command = [sys.executable, "-m", "app", "hub", "download", REPO, "Q4_K_M", "--json"]
    small.stall_after = _PART_BYTES
    for _ in range(_KILLS):
        process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        assert process.stderr.readline(), "told once the first bytes are in the file"
        process.send_signal(signal.SIGKILL)
        process.communicate()
    small.stall_after = None
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True)
    (path,) = json.loads(done.stdout)["paths"]
    assert Path(path).read_bytes() == CONTENT
    begins = [int(asked.split("=")[1].rstrip("-")) for asked in small.ranges if asked]
    assert len(set(begins)) == len(begins) == _KILLS, "each went on where the one before ended"
    assert begins == sorted(begins)
    assert not list(tmp_path.rglob("*partial"))
