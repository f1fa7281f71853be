"""The files of profiles: whole or not at all, of several windows, never lost to a fault."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.profiles import ModelScope, Profile
from app.storage import profile_store
from app.storage.file_lock import locked
from app.storage.json_document import DamagedError
from app.storage.profile_file import (
    FORMAT,
    SCHEMA,
    NewerProfileError,
    profile_bytes,
    profile_in,
)
from app.storage.profile_store import (
    NameTakenError,
    ProfileStore,
    exported_to,
    imported_from,
)
from app.storage.storage_error import StorageError

ROOT = Path(__file__).resolve().parents[2]
TOY = ModelScope("0123456789abcdef", "Toy · Q4_K")
OTHER = ModelScope("fedcba9876543210", "Other · Q8_0")
EIGHT = Profile("Eight", {"slots": 8, "lora": ["/a.gguf"]}, TOY, 1_700_000_000.0)


@pytest.fixture
def store(tmp_path: Path) -> ProfileStore:
    return ProfileStore(tmp_path / "profiles")


def put(store: ProfileStore, name: str, content: bytes) -> Path:
    store.folder.mkdir(parents=True, exist_ok=True)
    path = store.folder / name
    path.write_bytes(content)
    return path


def document(**changes: object) -> bytes:
    whole = {"format": FORMAT, "schema": SCHEMA, "name": "Two", "settings": {"slots": 2}}
    return json.dumps(whole | changes).encode()


def names(store: ProfileStore) -> list[str]:
    return [profile.name for profile in store.read().profiles]


# --- What a file says -----------------------------------------------------------------------


def test_that_what_is_written_is_read_back(store: ProfileStore) -> None:
    added = store.add(EIGHT)
    assert added.id
    assert added == replace(EIGHT, id=added.id)
    assert ProfileStore(store.folder).read().profiles == (added,)
    said = json.loads((store.folder / f"{added.id}.json").read_bytes())
    assert said == {
        "format": "tunedeck-profile", "schema": 1, "name": "Eight",
        "model": {"key": TOY.key, "name": TOY.name}, "saved": "2023-11-14T22:13:20Z",
        "settings": {"slots": 8, "lora": ["/a.gguf"]},
    }  # fmt: skip


def test_that_a_name_of_any_script_is_kept_readable(store: ProfileStore) -> None:
    store.add(Profile("Großer Kontext 家", {}))
    (path,) = store.folder.glob("*.json")
    assert "Großer Kontext 家" in path.read_text(encoding="utf-8")
    assert names(store) == ["Großer Kontext 家"]


def test_that_what_else_a_file_says_stays(store: ProfileStore) -> None:
    put(store, "a.json", document(note="mine", settings={"slots": 2, "tomorrow": {"x": [1]}}))
    (found,) = store.read().profiles
    assert found.settings["tomorrow"] == {"x": [1]}
    store.replace(Profile("Three", found.settings, rest=found.rest), found)
    said = json.loads((store.folder / "a.json").read_bytes())
    assert (said["note"], said["name"]) == ("mine", "Three")
    assert said["settings"]["tomorrow"] == {"x": [1]}


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "tunedeck-conversation"}, {"format": None}, {"schema": None}, {"schema": True},
        {"schema": 0}, {"schema": "1"}, {"settings": [1]}, {"settings": None}, {"name": 5},
        {"name": "  "}, {"name": "x" * 81}, {"model": "Toy"}, {"model": {"key": "", "name": "T"}},
        {"model": {"key": "k" * 65, "name": "T"}}, {"model": {"key": "k"}},
    ],
)  # fmt: skip
def test_that_what_is_no_profile_is_damage(changes: dict[str, object]) -> None:
    with pytest.raises(DamagedError):
        profile_in(document(**changes), "x.json")


@pytest.mark.parametrize(
    "saved", [None, 5, "yesterday", "2023-11-14T22:13:20", "9999-99-99", "0001-01-01T00:00:00Z"]
)
def test_that_a_time_that_is_none_is_no_damage(saved: object) -> None:
    assert profile_in(document(saved=saved), "x.json").saved_s == 0.0


def test_that_a_profile_without_a_time_or_a_model_says_neither() -> None:
    said = json.loads(profile_bytes(Profile("Two", {"slots": 2})))
    assert said == {
        "format": FORMAT, "schema": SCHEMA, "name": "Two", "settings": {"slots": 2},
    }  # fmt: skip


# --- Damage and versions --------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"schema": 1}', b"[" * 100_000,
     b'{"n": NaN}', b"\x00" * 4096, document(settings=3)],
)  # fmt: skip
def test_that_a_damaged_file_is_set_aside_and_said(store: ProfileStore, content: bytes) -> None:
    put(store, "good.json", document())
    put(store, "bad.json", content)
    found = store.read()
    assert [profile.name for profile in found.profiles] == ["Two"]
    (sentence,) = found.sentences
    assert "bad.json.damaged-1" in sentence
    assert (store.folder / "bad.json.damaged-1").read_bytes() == content
    assert not (store.folder / "bad.json").exists()
    assert store.read().sentences == ()
    # The next one does not replace the first.
    put(store, "bad.json", b"{{")
    assert "damaged-2" in store.read().sentences[0]
    assert (store.folder / "bad.json.damaged-1").read_bytes() == content


def test_that_a_newer_file_is_refused_and_left_alone(store: ProfileStore) -> None:
    content = document(schema=2, settings={"slots": {"per": "user"}})
    path = put(store, "new.json", content)
    put(store, "old.json", document())
    found = store.read()
    assert [profile.id for profile in found.profiles] == ["old"]
    assert "newer version of TuneDeck (schema 2, this one knows 1)" in found.sentences[0]
    assert path.read_bytes() == content


def test_that_a_file_of_a_newer_version_is_not_written_over(store: ProfileStore) -> None:
    put(store, "a.json", document())
    (seen,) = store.read().profiles
    content = document(schema=2)
    path = put(store, "a.json", content)
    with pytest.raises(NewerProfileError):
        store.replace(Profile("Two", {"slots": 3}), seen)
    assert path.read_bytes() == content


def test_that_a_file_far_too_long_is_set_aside(
    store: ProfileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.profile_file.MOST_BYTES", 200)
    monkeypatch.setattr(profile_store, "MOST_BYTES", 200)
    put(store, "a.json", document() + b" " * 300)
    assert "more than 200 bytes" in store.read().sentences[0]


def test_that_a_folder_or_a_pipe_with_such_a_name_is_a_sentence(store: ProfileStore) -> None:
    put(store, "good.json", document())
    (store.folder / "dir.json").mkdir()
    if os.name == "posix":
        os.mkfifo(store.folder / "pipe.json")
    found = store.read()
    assert [profile.name for profile in found.profiles] == ["Two"]
    assert len(found.sentences) == (2 if os.name == "posix" else 1)
    assert all("move it away" in sentence for sentence in found.sentences)


def test_that_no_folder_is_no_complaint(store: ProfileStore) -> None:
    found = store.read()
    assert (found.profiles, found.sentences) == ((), ())
    assert not store.folder.exists()


def test_that_a_file_in_the_folder_s_place_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "profiles").touch()
    store = ProfileStore(tmp_path / "profiles")
    assert store.read().profiles == ()
    with pytest.raises(StorageError, match="move it away"):
        store.add(EIGHT)


def test_that_more_files_than_are_read_are_said(
    store: ProfileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_store, "_MOST", 2)
    for number in range(3):
        put(store, f"{number}.json", document(name=str(number)))
    found = store.read()
    assert len(found.profiles) == 2
    assert "3 files" in found.sentences[0]


# --- Names ----------------------------------------------------------------------------------


def test_that_a_name_is_unique_for_its_model(store: ProfileStore) -> None:
    store.add(EIGHT)
    with pytest.raises(NameTakenError, match="“eight” already"):
        store.add(Profile("eight", {}, TOY))
    store.add(Profile("Eight", {}, OTHER))
    store.add(Profile("Eight", {}))
    assert names(store) == ["Eight", "Eight", "Eight"]


def test_that_names_of_what_is_built_in_are_taken(store: ProfileStore) -> None:
    for name in ("defaults", "The Model's own"):
        with pytest.raises(NameTakenError, match="built in"):
            store.add(Profile(name, {}))
    assert store.add(Profile("Defaults", {}), is_numbered=True).name == "Defaults (2)"


def test_that_an_imported_one_of_a_taken_name_gets_a_number(store: ProfileStore) -> None:
    store.add(EIGHT)
    assert store.add(EIGHT, is_numbered=True).name == "Eight (2)"
    assert store.add(EIGHT, is_numbered=True).name == "Eight (3)"


def test_that_renaming_keeps_the_file_and_refuses_a_taken_name(store: ProfileStore) -> None:
    eight, two = store.add(EIGHT), store.add(Profile("Two", {}, TOY))
    renamed = store.replace(replace(eight, name="EIGHT"), eight)
    assert (renamed.id, renamed.name) == (eight.id, "EIGHT")
    with pytest.raises(NameTakenError):
        store.replace(replace(two, name="eight"), two)
    assert names(store) == ["EIGHT", "Two"]


# --- Two windows ----------------------------------------------------------------------------


def test_that_a_change_of_another_window_is_not_written_over(store: ProfileStore) -> None:
    seen = store.add(EIGHT)
    theirs = ProfileStore(store.folder).replace(Profile("Eight", {"slots": 9}, TOY), seen)
    with pytest.raises(StorageError, match="changed in another window"):
        store.replace(Profile("Eight", {"slots": 1}, TOY), seen)
    assert store.read().profiles == (theirs,)
    store.replace(Profile("Eight", {"slots": 1}, TOY), theirs)
    assert store.read().profiles[0].settings == {"slots": 1}


def test_that_one_deleted_in_another_window_does_not_come_back(store: ProfileStore) -> None:
    seen = store.add(EIGHT)
    ProfileStore(store.folder).delete(seen.id)
    with pytest.raises(StorageError, match="another window deleted it"):
        store.replace(Profile("Eight", {"slots": 1}, TOY), seen)
    assert names(store) == []
    with pytest.raises(StorageError, match="gone"):
        store.delete(seen.id)


_HAMMER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from app.profiles import Profile
from app.storage.profile_store import ProfileStore
name, store = sys.argv[2], ProfileStore(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(10):
    made = store.add(Profile(f"{name} {number}", {"slots": number + 1}))
    store.add(Profile("same", {"slots": number + 1}), is_numbered=True)
    store.replace(Profile(f"{name} {number}", {"top_k": number}), made)
    assert not store.read().sentences
"""


# S17: two copies at once.
def test_that_two_programs_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HAMMER, str(tmp_path)]
    copies = [
        subprocess.Popen(
            [*command, name, str(ROOT)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    for copy in copies:
        assert copy.stdin is not None
        copy.stdin.write("\n")
        copy.stdin.flush()
    for copy in copies:
        _, errors = copy.communicate(timeout=100)
        assert copy.returncode == 0, errors
    found = ProfileStore(tmp_path).read().profiles
    own = {p.name: p.settings for p in found if not p.name.startswith("same")}
    assert own == {f"{n} {k}": {"top_k": k} for n in ("one", "two") for k in range(10)}
    same = [profile.name for profile in found if profile.name.startswith("same")]
    assert len(same) == len(set(same)) == 20


def test_that_a_lock_held_by_another_copy_is_waited_for(store: ProfileStore) -> None:
    begun, results = threading.Event(), []

    def add() -> None:
        begun.set()
        results.append(store.add(EIGHT))

    with locked(store.folder / "profiles", "It"):
        adding = threading.Thread(target=add)
        adding.start()
        assert begun.wait(10)
        assert results == []
    adding.join(30)
    assert [profile.name for profile in results] == ["Eight"]


# --- Disks ----------------------------------------------------------------------------------


# S33: a full or read-only disk.
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
def test_that_a_disk_that_takes_nothing_leaves_the_old_file(
    store: ProfileStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    seen = store.add(EIGHT)
    path = store.folder / f"{seen.id}.json"
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("app.storage.atomic_file.os.fsync", full)
    with pytest.raises(StorageError, match="The profile could not be saved: "):
        store.replace(Profile("Eight", {"slots": 1}, TOY), seen)
    with pytest.raises(StorageError):
        store.add(Profile("Another", {}))
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert [p.name for p in store.folder.iterdir() if p.suffix == ".json"] == [path.name]
    store.replace(Profile("Eight", {"slots": 1}, TOY), seen)
    assert store.read().profiles[0].settings == {"slots": 1}


# --- Deleting -------------------------------------------------------------------------------


def test_that_a_deleted_one_is_kept_and_comes_back(store: ProfileStore) -> None:
    seen = store.add(EIGHT)
    token = store.delete(seen.id)
    assert names(store) == []
    # A window that was started since knows it no more; the file is there for a person.
    (kept,) = (store.folder / "deleted").iterdir()
    assert kept.name == f"{token}.json"
    assert store.restore(token) == seen
    assert list((store.folder / "deleted").iterdir()) == []
    assert store.read().profiles == (seen,)


def test_that_one_brought_back_under_a_taken_name_gets_a_number(store: ProfileStore) -> None:
    seen = store.add(EIGHT)
    token = store.delete(seen.id)
    store.add(Profile("Eight", {"slots": 1}, TOY))
    assert store.restore(token).name == "Eight (2)"
    with pytest.raises(StorageError, match="cannot be brought back"):
        store.restore(token)


def test_that_one_brought_back_replaces_no_file_of_its_name(store: ProfileStore) -> None:
    put(store, "mine.json", document())
    token = store.delete("mine")
    put(store, "mine.json", document(name="New"))
    store.restore(token)
    assert names(store) == ["New", "Two"]


def test_that_deleted_ones_go_after_thirty_days(tmp_path: Path) -> None:
    now_s = [time.time()]
    store = ProfileStore(tmp_path, clock_s=lambda: now_s[0])
    first = store.delete(store.add(EIGHT).id)
    now_s[0] += 29 * 86400
    second = store.delete(store.add(Profile("Two", {})).id)
    left = {path.stem for path in (tmp_path / "deleted").iterdir()}
    assert left == {first, second}
    now_s[0] += 2 * 86400
    third = store.delete(store.add(Profile("Three", {})).id)
    left = {path.stem for path in (tmp_path / "deleted").iterdir()}
    assert left == {second, third}


# --- To and from other machines -------------------------------------------------------------


def test_that_an_exported_file_is_imported_as_it_was(store: ProfileStore, tmp_path: Path) -> None:
    seen = store.add(EIGHT)
    path = tmp_path / "elsewhere" / "eight.json"
    exported_to(path, seen)
    found = imported_from(path)
    assert found == replace(seen, id="")


def test_that_a_newer_file_is_not_half_imported(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    path.write_bytes(document(schema=7))
    with pytest.raises(StorageError, match="schema 7, this one knows 1"):
        imported_from(path)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"schema": 1, "theme": "dark"}', b"\xff" * 50])
def test_that_another_file_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"settings\.json could not be understood"):
        imported_from(path)
    assert path.read_bytes() == content


def test_that_files_that_cannot_be_read_are_sentences(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(StorageError, match="could not be imported"):
            imported_from(path)


def test_that_a_place_that_takes_no_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="The profile could not be exported"):
        exported_to(tmp_path / "file" / "x.json", EIGHT)
