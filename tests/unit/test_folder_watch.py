"""Folders watched for models: what is told, how often, and what is not watched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import msgspec
import psutil
import pytest
from PySide6.QtCore import QFileSystemWatcher, QObject
from pytestqt.qtbot import QtBot

from app.library import folder_watch
from app.library.folder_watch import (
    Changed,
    FolderWatch,
    WatchAnswer,
    Watched,
    WatchRequest,
    remote_file_system,
)
from app.library.model_entry import FolderToList

PATIENCE_MS = 20_000
Watch = Callable[..., FolderWatch]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, with shorter waits."""
    for name, ms in (("_QUIET_MS", 40), ("_LONGEST_MS", 200), ("_SETTLING_MS", 60)):
        monkeypatch.setattr(folder_watch, name, ms)
    monkeypatch.setattr(folder_watch, "FRESH_S", 0.3)


@pytest.fixture
def watch(qtbot: QtBot, quick: None) -> Iterator[Watch]:
    parent = QObject()

    def make(*folders: Path, most: int = 100, **changes: object) -> FolderWatch:
        told = tuple(
            FolderToList(os.fsencode(path), path.name, **changes)  # type: ignore[arg-type]
            for path in folders
        )
        made = FolderWatch(WatchRequest(told, most), parent, lambda _: "")
        with qtbot.waitSignal(made.watching_changed, timeout=PATIENCE_MS):
            made.start()
        return made

    yield make
    parent.deleteLater()


def put(folder: Path, name: str = "a.gguf", content: bytes = b"GGUF") -> Path:
    """A file that looks as if it had been whole for long."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (1e9, 1e9))
    return path


def settle(made: FolderWatch, qtbot: QtBot) -> None:
    """Until nothing is under way in it any more."""
    qtbot.waitUntil(
        lambda: not (made._fresh or made._quiet.isActive() or made._longest.isActive()),
        timeout=PATIENCE_MS,
    )


@pytest.mark.parametrize("name", ["new.gguf", "below/new.gguf", "New.GGUF"])
def test_that_a_new_model_is_told(watch: Watch, qtbot: QtBot, tmp_path: Path, name: str) -> None:
    made = watch(tmp_path)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        put(tmp_path, name)


def test_that_a_model_in_a_folder_that_came_later_is_told(
    watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    made = watch(tmp_path)
    with qtbot.waitSignal(made.watching_changed, timeout=PATIENCE_MS) as more:
        (tmp_path / "later" / "deep").mkdir(parents=True)
    assert more.args == [Watched(3)]
    settle(made, qtbot)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        put(tmp_path / "later" / "deep")


def test_that_deleting_and_renaming_are_told(watch: Watch, qtbot: QtBot, tmp_path: Path) -> None:
    path = put(tmp_path)
    made = watch(tmp_path)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        path.rename(tmp_path / "b.gguf")
    settle(made, qtbot)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        (tmp_path / "b.gguf").unlink()


def test_that_a_folder_that_is_removed_is_told_and_watched_again(
    watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    put(tmp_path / "sub")
    made = watch(tmp_path)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        shutil.rmtree(tmp_path / "sub")
    settle(made, qtbot)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        put(tmp_path / "sub")
    qtbot.waitUntil(lambda: str(tmp_path / "sub") in made._watched, timeout=PATIENCE_MS)


def test_that_other_files_are_not_told(watch: Watch, qtbot: QtBot, tmp_path: Path) -> None:
    made = watch(tmp_path)
    told: list[int] = []
    made.changed.connect(lambda: told.append(1))
    for name in ("model.gguf.part", "x.incomplete", "settings.json", ".hidden"):
        put(tmp_path, name)
    qtbot.waitUntil(made._quiet.isActive, timeout=PATIENCE_MS)
    settle(made, qtbot)
    put(tmp_path, "real.gguf")  # the first that is told
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert len(told) == 1


def test_that_a_thousand_files_are_told_a_few_times(
    watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    made = watch(tmp_path)
    told: list[int] = []
    made.changed.connect(lambda: told.append(1))
    for number in range(1_000):
        put(tmp_path, f"{number % 10}/{number}.gguf")
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    settle(made, qtbot)
    assert len(told) <= 6
    assert len(made._watched) == 11


def test_that_a_file_is_told_again_once_it_is_written_to_no_more(
    watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    made = watch(tmp_path)
    path = tmp_path / "growing.gguf"
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        path.write_bytes(b"GGUF")
    assert str(path) in made._fresh
    # Nothing in the folder tells that it grows.
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS), path.open("ab") as file:
        file.write(b"more")
    settle(made, qtbot)
    assert not made._fresh


def test_that_folders_beyond_the_limit_are_said_not_to_be_watched(
    watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    made = watch(tmp_path, most=3)
    assert len(made._watched) == 3
    (sentence,) = made._unwatched.values()
    assert "there are too many" in sentence
    assert tmp_path.name in sentence


def test_that_what_the_system_refuses_is_said(
    watch: Watch, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileSystemWatcher, "addPaths", lambda _, paths: list(paths))
    made = watch(tmp_path)
    (sentence,) = made._unwatched.values()
    assert "lends no more watches" in sentence


def test_that_a_folder_on_another_machine_is_not_watched(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QObject()
    request = WatchRequest((FolderToList(os.fsencode(tmp_path), "NAS"),))
    made = FolderWatch(request, parent, lambda _: "nfs4")
    with qtbot.waitSignal(made.watching_changed, timeout=PATIENCE_MS) as told:
        made.start()
    assert told.args is not None
    watched = told.args[0]
    assert watched.count == 0
    assert "NAS lies on another machine (nfs4)" in watched.unwatched[0]
    parent.deleteLater()


def test_that_a_folder_that_is_not_there_is_no_fault(watch: Watch, tmp_path: Path) -> None:
    made = watch(tmp_path / "absent", tmp_path)
    assert list(made._watched) == [str(tmp_path)]
    assert not made._unwatched


def test_that_levels_are_kept_to(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    assert set(watch(tmp_path, levels=1)._watched) == {str(tmp_path), str(tmp_path / "one")}


def test_that_a_download_into_the_hubs_cache_is_told(
    watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    hub = tmp_path / "hub"
    hub.mkdir()
    made = watch(hub, levels=5)
    repository = hub / "models--owner--name"
    blob = put(repository / "blobs", "5f6e.incomplete")
    blob.rename(repository / "blobs" / "5f6e")
    snapshot = repository / "snapshots" / "0123"
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        snapshot.mkdir(parents=True)
        (snapshot / "m.gguf").symlink_to(repository / "blobs" / "5f6e")
    qtbot.waitUntil(lambda: str(snapshot) in made._watched, timeout=PATIENCE_MS)
    settle(made, qtbot)
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        (snapshot / "m.gguf").unlink()


def test_that_manifests_of_ollama_are_watched(watch: Watch, qtbot: QtBot, tmp_path: Path) -> None:
    tags = tmp_path / "manifests" / "registry.ollama.ai" / "library" / "llama3"
    tags.mkdir(parents=True)
    (tmp_path / "blobs").mkdir()
    made = watch(tmp_path, is_ollama=True)
    assert str(tags) in made._watched
    with qtbot.waitSignal(made.changed, timeout=PATIENCE_MS):
        put(tags, "latest", b"{}")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/me/models", ""),
        ("/mnt/nas/models", "nfs4"),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nasty", ""),
        ("/mnt/nas/usb", ""),
        ("/media/ssh/a", "fuse.sshfs"),
        ("/media/disk/a", ""),
        ("/mnt/share", "ntfs"),
    ],
)
def test_that_file_systems_of_other_machines_are_known(
    monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    mounts = [
        ("/", "ext4", "rw"), ("/mnt/nas", "nfs4", "rw"), ("/mnt/nas/usb", "ext4", "rw"),
        ("/media/ssh", "fuse.sshfs", "rw"), ("/media/disk", "fuseblk", "rw"),
        ("/mnt/share", "NTFS", "rw,remote"),
    ]  # fmt: skip
    parts = [SimpleNamespace(mountpoint=m, fstype=f, opts=o) for m, f, o in mounts]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: parts)
    assert remote_file_system(os.fsencode(path)) == kind


def test_that_the_process_tells_and_ends_with_its_input(tmp_path: Path) -> None:
    request = WatchRequest((FolderToList(os.fsencode(tmp_path), "models"),))
    process = subprocess.Popen(
        [sys.executable, "-m", "app.library.folder_watch"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(request) + b"\n")
    process.stdin.flush()
    decoder = msgspec.json.Decoder(WatchAnswer)
    assert decoder.decode(process.stdout.readline()) == Watched(1)
    put(tmp_path)
    assert decoder.decode(process.stdout.readline()) == Changed()
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
