"""The list of models: what is shown of good, bad, split, doubled and unreachable files."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.library.known_folders import folders_to_list
from app.library.list_cache import read_list_cache
from app.library.listing import Listing
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
from app.library.model_walk import Walk, walk_folder
from app.model_sheets import about
from engine_bridge.header_facts import HeaderFacts, read_header_facts
from tests.unit.gguf_bytes import Gguf, llama_values

MODEL = Gguf().file()
POSIX_NAMES = pytest.mark.skipif(sys.platform != "linux", reason="names there are text")


class Desk:
    """A folder of models, the cache, and the listings of them."""

    def __init__(self, folder: Path) -> None:
        self.models = folder / "models"
        self.models.mkdir()
        self.cache = folder / "cache" / "list.json"
        self.reports: list[FolderReported] = []
        self.recent: tuple[Path, ...] = ()
        self.read_paths: list[str] = []
        self.done: list[ListingDone] = []
        self.now_s: Callable[[], float] = time.monotonic
        self.is_good_read = False

    def put(self, name: str, content: bytes = MODEL) -> Path:
        path = self.models / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        # As if it had lain there for long: what was written a moment ago may still grow.
        long_ago_s = time.time() - 3_600
        os.utime(path, (long_ago_s, long_ago_s))
        return path

    def list(
        self,
        *own: Path,
        walk: Callable[[bytes, int, Callable[[], None]], Walk] = walk_folder,
    ) -> dict[str, ModelEntry]:
        """List and return the entries by name."""
        folders = own or (self.models,)
        request = ListRequest(
            tuple(FolderToList(os.fsencode(f), f.name, is_own=True) for f in folders),
            tuple(os.fsencode(path) for path in self.recent),
            str(self.cache),
        )
        entries: dict[bytes, ModelEntry] = {}
        self.reports.clear()

        def take(answer: ListAnswer) -> None:
            if isinstance(answer, EntriesFound):
                entries.update({entry.location: entry for entry in answer.entries})
                self.is_good_read |= any(
                    entry.name == "good.gguf" and entry.is_read for entry in answer.entries
                )
            elif isinstance(answer, FolderReported):
                self.reports.append(answer)
            else:
                self.done.append(answer)

        self.read_paths.clear()
        Listing(request, take, self._read, walk, self.now_s).run()
        return {entry.name: entry for entry in entries.values()}

    def _read(self, path: str) -> HeaderFacts:
        self.read_paths.append(path)
        return read_header_facts(path)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_that_a_model_is_listed_with_its_facts(desk: Desk) -> None:
    desk.put("deep/er/small.GGUF")
    entry = desk.list()["small.GGUF"]
    assert entry.is_usable
    assert entry.size_bytes == len(MODEL)
    assert entry.facts is not None
    assert entry.facts.architecture == "llama"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"<!doctype html><html>sign in</html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "Git LFS pointer"),
        (MODEL[:-100], "cut short"),
        (MODEL[:40], "ends in the middle"),
        (Gguf({"general.type": "mmproj", "general.architecture": "clip"}).file(), "vision part"),
        (Gguf(tensor_count=2**60).file(), "claims"),
        (Gguf(tensors={}).file(), "only a vocabulary"),
    ],
)
def test_that_what_is_no_model_is_greyed_with_a_sentence(
    desk: Desk, content: bytes, words: str
) -> None:
    desk.put("bad.gguf", content)
    desk.put("good.gguf")
    entries = desk.list()
    assert words in entries["bad.gguf"].problem
    assert not entries["bad.gguf"].is_usable
    assert entries["good.gguf"].is_usable


def test_that_a_file_that_may_still_grow_is_not_called_broken(desk: Desk) -> None:
    path = desk.put("growing.gguf", MODEL[:-100])
    path.touch()
    entry = desk.list()["growing.gguf"]
    assert entry.is_growing
    assert "not whole yet" in entry.problem
    assert about(entry) == "not whole yet"
    os.utime(path, (1e9, 1e9))
    entry = desk.list()["growing.gguf"]
    assert not entry.is_growing
    assert "cut short" in entry.problem


def test_that_downloads_under_way_are_left_out(desk: Desk) -> None:
    for name in (
        "incomplete-a.gguf",
        "downloading_b.gguf",
        "c.gguf.part",
        "d.gguf.aria2",
        "e.gguf",
    ):
        desk.put(name)
    desk.put("d.gguf")
    desk.put("5f.tunedeck-partial")
    assert list(desk.list()) == ["e.gguf"]
    (desk.models / "d.gguf.aria2").unlink()
    assert set(desk.list()) == {"d.gguf", "e.gguf"}


# S27: a split model is one entry, its part 1; a joined one is recognised.
def test_that_a_split_model_is_one_entry(desk: Desk) -> None:
    tensors = {"token_embd.weight": ((64, 3), 0, 768)}
    total = 0
    for number in range(3):
        values = llama_values() | {
            "split.no": number, "split.count": 3, "split.tensors.count": 3,
        }  # fmt: skip
        names = {f"blk.{number}.a.weight": ((64, 64), 8, 64 * 68)} if number else tensors
        part = desk.put(f"big-0000{number + 1}-of-00003.gguf", Gguf(values, names).file())
        total += part.stat().st_size
    entries = desk.list()
    assert list(entries) == ["big-00001-of-00003.gguf"]
    entry = entries["big-00001-of-00003.gguf"]
    assert (entry.parts, entry.size_bytes, entry.problem) == (3, total, "")


def test_that_a_missing_part_is_named(desk: Desk) -> None:
    values = llama_values() | {"split.no": 0, "split.count": 2, "split.tensors.count": 4}
    desk.put("big-00001-of-00002.gguf", Gguf(values).file())
    desk.put("late-00002-of-00002.gguf", Gguf(values | {"split.no": 1}).file())
    entries = desk.list()
    assert "Part 2 of 2 is missing" in entries["big-00001-of-00002.gguf"].problem
    assert "Part 1 of 2 is missing" in entries["late-00002-of-00002.gguf"].problem


def test_that_joined_parts_are_recognised(desk: Desk) -> None:
    desk.put("joined.gguf", MODEL + MODEL)
    assert "parts joined" in desk.list()["joined.gguf"].problem


# S31: a name that is no text is shown with an escape; the others are not affected.
@POSIX_NAMES
def test_that_a_name_that_is_no_text_is_shown_with_an_escape(desk: Desk) -> None:
    desk.put("good.gguf")
    path = os.path.join(os.fsencode(desk.models), b"mod\xff.gguf")  # noqa: PTH118 - bytes
    try:
        with open(path, "wb") as file:  # noqa: PTH123 - bytes
            file.write(MODEL)
    except OSError:
        pytest.skip("this file system takes no such name")
    entries = desk.list()
    strange = entries["mod\\xff.gguf"]
    assert "no UTF-8" in strange.problem
    assert strange.facts is not None
    assert not strange.is_usable
    assert entries["good.gguf"].is_usable
    # The cache carries it as well.
    desk.list()
    assert desk.read_paths == []


def test_that_two_names_of_a_file_are_one_entry(desk: Desk) -> None:
    real = desk.put("real.gguf")
    (desk.models / "a-link.gguf").symlink_to(real)
    (desk.models / "round").symlink_to(desk.models)
    entries = desk.list()
    assert list(entries) == ["real.gguf"]


def test_that_a_link_that_leads_nowhere_is_greyed(desk: Desk) -> None:
    (desk.models / "gone.gguf").symlink_to(desk.models / "deleted")
    assert "leads nowhere" in desk.list()["gone.gguf"].problem


def test_that_a_recent_file_stands_under_recent_alone(desk: Desk, tmp_path: Path) -> None:
    inside, outside = desk.put("inside.gguf"), tmp_path / "outside.gguf"
    outside.write_bytes(MODEL)
    desk.put("other.gguf")
    desk.recent = (outside, inside, tmp_path / "deleted.gguf")
    entries = desk.list()
    assert {name: entry.folder == RECENT for name, entry in entries.items()} == {
        "outside.gguf": True,
        "inside.gguf": True,
        "other.gguf": False,
    }


def test_that_unchanged_headers_are_not_read_again(desk: Desk) -> None:
    same, changed = desk.put("same.gguf"), desk.put("changed.gguf")
    desk.list()
    assert sorted(desk.read_paths) == [str(changed), str(same)]
    changed.write_bytes(Gguf(llama_values(block_count=1)).file())
    entries = desk.list()
    assert desk.read_paths == [str(changed)]
    facts = entries["changed.gguf"].facts
    assert facts is not None
    assert facts.layers == 1


def test_that_a_damaged_cache_is_no_loss(desk: Desk) -> None:
    desk.put("good.gguf")
    desk.list()
    desk.cache.write_bytes(desk.cache.read_bytes()[:-50])
    assert desk.list()["good.gguf"].is_usable
    assert read_list_cache(desk.cache).folders


def test_that_a_cache_that_cannot_be_written_is_a_sentence(desk: Desk) -> None:
    desk.put("good.gguf")
    desk.cache.parent.write_bytes(b"a file where the folder should be")
    assert desk.list()["good.gguf"].is_usable
    assert "could not be kept" in desk.done[-1].problem


def test_that_deleted_files_are_gone_but_an_unmounted_drive_is_not(desk: Desk) -> None:
    desk.put("deleted.gguf").unlink()
    away = desk.put("away.gguf")
    desk.list()
    # As if the file had been on another drive than the empty folder left behind.
    content = desk.cache.read_bytes()
    device = away.stat().st_dev
    desk.cache.write_bytes(content.replace(b'"device":%d' % device, b'"device":%d' % (device + 1)))
    away.unlink()
    entries = desk.list()
    assert list(entries) == ["away.gguf"]
    assert "Not reachable since" in entries["away.gguf"].problem
    assert "not mounted" in desk.reports[-1].problem


def test_that_a_folder_of_the_user_that_is_gone_greys_its_models(
    desk: Desk, tmp_path: Path
) -> None:
    desk.put("good.gguf")
    desk.list()
    desk.models.rename(tmp_path / "unplugged")
    entry = desk.list()["good.gguf"]
    assert not entry.is_reachable
    assert "Not reachable since" in entry.problem
    assert "gone" in desk.reports[-1].problem
    lost_since_s = read_list_cache(desk.cache).folders[-1].lost_since_s
    assert desk.list()["good.gguf"].problem == entry.problem
    assert read_list_cache(desk.cache).folders[-1].lost_since_s == lost_since_s
    (tmp_path / "unplugged").rename(desk.models)
    assert desk.list()["good.gguf"].is_usable
    assert desk.read_paths == []


# S35: a drive that does not answer holds up nothing but itself, and nothing is forgotten.
@pytest.fixture
def dead_drive(desk: Desk) -> Iterator[Callable[[bytes, int, Callable[[], None]], Walk]]:
    """Listing a folder called ``dead`` blocks until the test is over."""
    released = threading.Event()

    def walk(root: bytes, levels: int, is_alive: Callable[[], None]) -> Walk:
        if root.endswith(b"dead"):
            released.wait()
        return walk_folder(root, levels, is_alive)

    yield walk
    released.set()


def test_that_a_dead_drive_holds_up_nothing(
    desk: Desk,
    tmp_path: Path,
    dead_drive: Callable[[bytes, int, Callable[[], None]], Walk],
) -> None:
    desk.put("good.gguf")
    dead = tmp_path / "dead"
    dead.mkdir()
    (dead / "far.gguf").write_bytes(MODEL)
    assert desk.list(desk.models, dead)["far.gguf"].is_usable
    # Time passes only once everything that answers has answered.
    desk.is_good_read = False
    desk.now_s = lambda: 100.0 if desk.is_good_read else 0.0
    entries = desk.list(dead, desk.models, walk=dead_drive)
    assert entries["good.gguf"].is_usable
    far = entries["far.gguf"]
    assert far.facts is not None
    assert not far.is_reachable
    assert "Not reachable since" in far.problem
    silent = next(r for r in desk.reports if r.location.endswith(b"dead"))
    assert "does not answer" in silent.problem
    # Nothing is deleted: it is back as soon as the drive is.
    assert desk.list(dead, desk.models)["far.gguf"].is_usable


def test_that_levels_below_the_limit_are_said_not_walked(desk: Desk) -> None:
    desk.put("a/b/c/d/e/f/in.gguf")
    desk.put("a/b/c/d/e/f/g/out.gguf")
    assert list(desk.list()) == ["in.gguf"]
    assert "levels down" in desk.reports[-1].problem


def test_that_the_users_folders_come_first_and_once() -> None:
    first = folders_to_list([])[0]
    folders = folders_to_list([first.path, "/models/mine"])
    assert [f.title for f in folders[:2]] == [Path(first.path).name, "mine"]
    assert len({f.location for f in folders}) == len(folders)
