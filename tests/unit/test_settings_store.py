"""The settings file: whole or not at all, shared, and never lost to a version or a damage."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage import settings_store
from app.storage.settings_merge import Document, merged
from app.storage.settings_store import SCHEMA, NewerSettingsError, SettingsStore
from app.storage.storage_error import StorageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def store(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "tunedeck")


def on_disk(store: SettingsStore) -> Document:
    document = json.loads(store.path.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def put(store: SettingsStore, content: bytes) -> None:
    store.path.parent.mkdir(parents=True, exist_ok=True)
    store.path.write_bytes(content)


def test_that_no_file_is_no_complaint(store: SettingsStore) -> None:
    found = store.read()
    assert (found.document, found.sentences, found.is_writable) == ({}, (), True)
    assert not store.path.parent.exists()


def test_that_what_is_kept_is_read_back(store: SettingsStore) -> None:
    mine: Document = {"theme": "dark", "settings": {"slots": 8}, "recent_models": ["/m/ä b.gguf"]}
    store.keep({}, mine)
    assert on_disk(store) == {"schema": SCHEMA, **mine}
    assert SettingsStore(store.path.parent).read().document == mine
    assert "ä b" in store.path.read_text(encoding="utf-8")  # for people to read


def test_that_a_name_that_is_no_text_is_kept_too(store: SettingsStore) -> None:
    store.keep({}, {"recent_models": ["/m/\udce4.gguf"]})
    assert store.read().document == {"recent_models": ["/m/\udce4.gguf"]}


def test_that_the_file_is_its_user_s_alone(store: SettingsStore) -> None:
    if os.name != "posix":
        pytest.skip("permissions of another kind")
    store.keep({}, {"theme": "dark"})
    assert store.path.stat().st_mode & 0o077 == 0
    assert sorted(p.name for p in store.path.parent.iterdir()) == ["settings.json"]


def test_that_nothing_is_written_where_nothing_changed(store: SettingsStore) -> None:
    store.keep({}, {"theme": "dark"})
    before = store.path.stat().st_ino
    store.keep({"theme": "dark"}, {"theme": "dark"})
    assert store.path.stat().st_ino == before


def test_that_unknown_keys_stay(store: SettingsStore) -> None:
    put(store, b'{"schema": 1, "later": {"a": [1]}, "settings": {"new_fader": 3, "slots": 2}}')
    store.keep({"settings": {"slots": 2}}, {"settings": {"slots": 8}})
    assert on_disk(store)["later"] == {"a": [1]}
    assert on_disk(store)["settings"] == {"new_fader": 3, "slots": 8}


def test_that_the_mark_of_a_windows_editor_is_read_over(store: SettingsStore) -> None:
    put(store, b'\xef\xbb\xbf{"schema": 1, "theme": "light"}')
    assert store.read().document == {"theme": "light"}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"theme": "da', b"[]", b"null", b'{"schema": "one"}', b'{"schema": true}',
     b'{"schema": 0}', b"\xff\xfe\x00", b'{"font_scale": NaN}', b"[" * 100_000,
     b'{"n": ' + b"9" * 10_000 + b"}", b"\x00" * 4096],
)  # fmt: skip
def test_that_a_damaged_file_is_set_aside_with_a_sentence(
    store: SettingsStore, content: bytes
) -> None:
    put(store, content)
    found = store.read()
    assert found.document == {}
    assert found.is_writable
    (sentence,) = found.sentences
    assert "settings.json.damaged-1" in sentence
    assert store.path.with_name("settings.json.damaged-1").read_bytes() == content
    assert not store.path.exists()
    # The next one does not replace the first.
    put(store, b"{{")
    assert "damaged-2" in store.read().sentences[0]
    assert store.path.with_name("settings.json.damaged-1").read_bytes() == content


def test_that_a_file_far_too_long_is_not_read(
    store: SettingsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_store, "_MAX_BYTES", 20)
    put(store, b'{"theme": "dark"}' + b" " * 100)
    assert "117 bytes" in store.read().sentences[0]


def test_that_a_file_damaged_while_the_program_runs_is_replaced_by_all_of_ours(
    store: SettingsStore,
) -> None:
    store.keep({}, {"theme": "dark", "font_scale": 1.5})
    put(store, b'{"theme"')
    store.keep({"theme": "dark", "font_scale": 1.5}, {"theme": "light", "font_scale": 1.5})
    assert on_disk(store) == {"schema": SCHEMA, "theme": "light", "font_scale": 1.5}
    assert store.path.with_name("settings.json.damaged-1").read_bytes() == b'{"theme"'


def test_that_a_file_removed_while_the_program_runs_comes_back_whole(store: SettingsStore) -> None:
    mine: Document = {"theme": "dark", "settings": {"slots": 8}}
    store.keep({}, mine)
    store.path.unlink()
    store.keep(mine, {**mine, "theme": "light"})
    assert on_disk(store) == {"schema": SCHEMA, "theme": "light", "settings": {"slots": 8}}


def test_that_a_newer_file_is_refused_and_left_alone(store: SettingsStore) -> None:
    content = b'{"schema": 2, "theme": ["never seen"]}'
    put(store, content)
    found = store.read()
    assert (found.document, found.is_writable) == ({}, False)
    assert "newer version of TuneDeck" in found.sentences[0]
    with pytest.raises(NewerSettingsError, match="schema 2"):
        store.keep({}, {"theme": "dark"})
    assert store.path.read_bytes() == content


def test_that_a_newer_version_started_meanwhile_is_noticed(store: SettingsStore) -> None:
    store.keep({}, {"theme": "dark"})
    put(store, b'{"schema": 9}')
    with pytest.raises(NewerSettingsError):
        store.keep({"theme": "dark"}, {"theme": "light"})
    assert store.path.read_bytes() == b'{"schema": 9}'


def test_that_a_link_to_settings_kept_elsewhere_stays_one(tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("links need rights on Windows")
    elsewhere = tmp_path / "dotfiles" / "mine.json"
    elsewhere.parent.mkdir()
    elsewhere.write_text('{"schema": 1, "theme": "light"}')
    store = SettingsStore(tmp_path / "config")
    store.path.parent.mkdir()
    store.path.symlink_to(elsewhere)
    store.keep({"theme": "light"}, {"theme": "dark"})
    assert store.path.is_symlink()
    assert json.loads(elsewhere.read_text())["theme"] == "dark"


@pytest.mark.parametrize("target", ["settings.json", "nowhere/deep.json"])
def test_that_a_link_that_leads_nowhere_is_a_sentence(tmp_path: Path, target: str) -> None:
    if os.name != "posix":
        pytest.skip("links need rights on Windows")
    store = SettingsStore(tmp_path)
    store.path.symlink_to(target)
    found = store.read()
    if target == "settings.json":
        assert len(found.sentences) == 1
        with pytest.raises(StorageError):
            store.keep({}, {"theme": "dark"})
    else:
        store.keep({}, {"theme": "dark"})
        assert (tmp_path / target).exists()


def test_that_a_pipe_or_folder_in_its_place_is_a_sentence(store: SettingsStore) -> None:
    store.path.mkdir(parents=True)
    assert "is no file" in store.read().sentences[0]
    with pytest.raises(StorageError, match="is no file"):
        store.keep({}, {"theme": "dark"})
    store.path.rmdir()
    if os.name == "posix":
        os.mkfifo(store.path)
        assert "is no file" in store.read().sentences[0]


# S33: a full or read-only disk.
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO])
def test_that_a_disk_that_takes_nothing_leaves_the_old_file(
    store: SettingsStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store.keep({}, {"theme": "dark"})
    before = store.path.read_bytes()

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("app.storage.atomic_file.os.fsync", full)
    with pytest.raises(StorageError, match="The settings could not be saved: ") as caught:
        store.keep({"theme": "dark"}, {"theme": "light"})
    assert str(store.path) in str(caught.value)
    assert store.path.read_bytes() == before
    monkeypatch.undo()
    assert sorted(p.name for p in store.path.parent.iterdir()) == ["settings.json"]
    store.keep({"theme": "dark"}, {"theme": "light"})
    assert on_disk(store)["theme"] == "light"


_AS_NOBODY = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from app.storage.settings_store import SettingsStore
from app.storage.storage_error import StorageError
store = SettingsStore(Path(sys.argv[1]))
store.read()  # what Python imports for it may be closed to others
if os.geteuid() == 0:  # to root nothing is read-only
    os.setgid(65534); os.setuid(65534)
print(store.read().document)
for attempt in (store.probe, lambda: store.keep({}, {"theme": "light"})):
    try:
        attempt()
    except StorageError as error:
        print(error)
    else:
        sys.exit("it could be written")
"""


# S33: chmod a-w on the configuration folder, not as root.
def test_that_a_read_only_folder_is_a_sentence_with_its_name() -> None:
    if os.name != "posix":
        pytest.skip("permissions of another kind")
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to others
        folder = Path(place) / "config"
        SettingsStore(folder).keep({}, {"theme": "dark"})
        Path(place).chmod(0o755)
        (folder / "settings.json").chmod(0o644)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, str(folder), str(ROOT)],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        folder.chmod(0o755)
        assert done.returncode == 0, done.stderr + done.stdout
        read, probed, kept = done.stdout.splitlines()
        assert read == "{'theme': 'dark'}"
        for sentence in (probed, kept):
            assert sentence.startswith("The settings could not be saved: ")
            assert str(folder) in sentence
            assert "make it writable for you" in sentence
        assert on_disk(SettingsStore(folder))["theme"] == "dark"


_HAMMER = """
import sys
import tempfile
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from app.storage.settings_store import SettingsStore
name, rounds = sys.argv[2], 30
store = SettingsStore(Path(sys.argv[1]))
found = store.read()
assert not found.sentences, found.sentences
base = {}
sys.stdin.readline()
for number in range(rounds):
    mine = {"settings": {name: number}, "window": {name: str(number)},
            "recent_models": [f"{name}-{n}" for n in range(number, -1, -1)]}
    store.keep(base, mine)
    base = mine
    assert not store.read().sentences
"""


# S17: two copies at once.
def test_that_two_processes_that_write_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
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
    document = SettingsStore(tmp_path).read().document
    assert document["settings"] == {"one": 29, "two": 29}
    assert document["window"] == {"one": "29", "two": "29"}
    recent = document["recent_models"]
    assert isinstance(recent, list)
    assert set(recent) == {f"{name}-{n}" for name in ("one", "two") for n in range(30)}
    assert [p.name for p in tmp_path.iterdir()] == ["settings.json"]


_DIES_LOCKED = """
import os, sys
from PySide6.QtCore import QLockFile
lock = QLockFile(sys.argv[1])
assert lock.tryLock(0)
os._exit(0)
"""


# S17: a copy that was killed with the lock in its hand.
def test_that_the_lock_of_a_dead_process_holds_nobody_up(store: SettingsStore) -> None:
    store.keep({}, {"theme": "dark"})
    lock = store.path.with_name(".settings.json.lock")
    subprocess.run([sys.executable, "-c", _DIES_LOCKED, str(lock)], check=True, timeout=60)
    assert lock.exists()
    store.keep({"theme": "dark"}, {"theme": "light"})
    assert on_disk(store)["theme"] == "light"


def test_that_a_lock_held_by_another_copy_is_a_sentence(
    store: SettingsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_store, "_LOCK_WAIT_MS", 0)
    with store._locked(), pytest.raises(StorageError, match="another copy of TuneDeck"):
        store.keep({}, {"theme": "dark"})
    store.keep({}, {"theme": "dark"})
    assert on_disk(store)["theme"] == "dark"


# --- The merge ----------------------------------------------------------------------------

_names = st.sampled_from("abcd")
_leaves = st.one_of(st.integers(0, 3), st.text(max_size=2))
_lists = st.lists(_names, unique=True, min_size=1)
_maps = st.dictionaries(_names, _leaves, min_size=1)
_documents = st.fixed_dictionaries(
    {}, optional={"leaf": _leaves, "other": _leaves, "list": _lists, "map": _maps}
)


@given(_documents, _documents)
def test_that_a_copy_that_changed_nothing_changes_nothing(base: Document, theirs: Document) -> None:
    assert merged(base, base, theirs) == theirs


@given(_documents, _documents)
def test_that_a_copy_that_is_alone_gets_what_it_wants(base: Document, mine: Document) -> None:
    assert merged(base, mine, base) == mine


@given(_documents, _maps, _maps)
def test_that_changes_of_different_keys_both_stay(
    base: Document, ours: dict[str, object], others: dict[str, object]
) -> None:
    mine = base | {"map": {f"my {k}": v for k, v in ours.items()}}
    theirs = base | {"map": {f"their {k}": v for k, v in others.items()}}
    result = merged(base | {"map": {}}, mine, theirs)
    assert result == base | {
        "map": {f"my {k}": v for k, v in ours.items()}
        | {f"their {k}": v for k, v in others.items()}
    }


@given(_lists, _lists, _lists)
def test_that_of_lists_nothing_added_is_lost_and_nothing_removed_comes_back(
    base: list[str], mine: list[str], theirs: list[str]
) -> None:
    result = merged({"l": base}, {"l": mine}, {"l": theirs}).get("l", [])
    assert isinstance(result, list)
    assert len(set(result)) == len(result)
    added = (set(mine) | set(theirs)) - set(base)
    removed = (set(base) - set(mine)) | (set(base) - set(theirs))
    assert set(result) == (set(base) | added) - removed


def test_that_a_setting_put_back_to_its_default_leaves_the_file(store: SettingsStore) -> None:
    store.keep({}, {"settings": {"slots": 8, "top_k": 10}, "theme": "dark"})
    store.keep({"settings": {"slots": 8, "top_k": 10}, "theme": "dark"}, {"settings": {"slots": 8}})
    assert on_disk(store) == {"schema": SCHEMA, "settings": {"slots": 8}}
