"""Killed programs, two programs at once, full and read-only disks, and damaged histories."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.experiments import history_file
from app.experiments.experiment import Experiment, State
from app.experiments.history_store import HistoryStore
from app.experiments.history_writer import Writer, is_alive, own_writer
from app.storage.storage_error import StorageError
from tests.unit.experiments.made_experiments import experiment

ROOT = Path(__file__).resolve().parents[3]
KEY = "20261130-110036-3f9a2c"

# Keeps ever more cells of experiments, and says after each how many are kept.
_COUNT = """
import sys
from pathlib import Path
from app.experiments.experiment import Experiment, State
from app.experiments.history_store import HistoryStore
from tests.unit.experiments.made_experiments import cell, experiment

store, name, cells = HistoryStore(Path(sys.argv[1])), sys.argv[2], []
while True:
    cells.append(cell(f"cell {len(cells)}", {"slots": len(cells) + 1}))
    store.keep(experiment(name, cells, state=State.RUNNING))
    print(len(cells), flush=True)
"""
# Keeps an experiment that runs, and then another for each line it is given.
_HOLD = """
import sys
from pathlib import Path
from app.experiments.experiment import Experiment, State
from app.experiments.history_store import HistoryStore
from tests.unit.experiments.made_experiments import cell, experiment

store = HistoryStore(Path(sys.argv[1]))
store.keep(experiment(sys.argv[2], [cell("a")], state=State.RUNNING))
print("kept", flush=True)
for line in sys.stdin:
    store.keep(experiment(line.strip(), [cell("a")]))
    print("kept", flush=True)
store.close()
"""


def start(script: str, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> str:
    """Kill it; gives what it had said that was not read."""
    process.kill()
    return process.communicate()[0]


def keys(store: HistoryStore) -> list[str]:
    return [row.key for row in store.listing()]


# --- Killed -----------------------------------------------------------------------------


def test_that_a_program_killed_at_any_moment_loses_at_most_the_run_in_progress(
    tmp_path: Path,
) -> None:
    chance = random.Random(6)
    for attempt in range(4):
        name = f"experiment-{attempt}"
        process = start(_COUNT, tmp_path, name)
        for _ in range(chance.randint(1, 40)):
            last = read_line(process)
        # In the middle of whatever it does: between two lines lies a write.
        timer = threading.Event()
        timer.wait(chance.uniform(0.0, 0.02))
        said = [last, *kill(process).split()]
        store = HistoryStore(tmp_path)
        kept = store.experiment(name)
        assert kept.state is State.CUT
        assert len(kept.cells) >= int(said[-1])
        assert kept.cells[-1].name == f"cell {len(kept.cells) - 1}"
        assert [row.state for row in store.listing()] == [State.CUT] * (attempt + 1)
        store.close()
        with closing(sqlite3.connect(store.path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_that_what_another_living_program_runs_is_not_called_cut(tmp_path: Path) -> None:
    process = start(_HOLD, tmp_path, KEY)
    assert read_line(process) == "kept"
    store = HistoryStore(tmp_path)
    assert store.listing()[0].state is State.RUNNING
    kill(process)
    # Without being opened anew.
    assert store.listing()[0].state is State.CUT
    assert store.experiment(KEY).state is State.CUT
    store.close()


def test_that_a_program_that_lives_after_all_says_so_with_its_next_part(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    store.keep(experiment(state=State.RUNNING))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE experiments SET writer_started_s = 1.0")
    assert store.listing()[0].state is State.CUT
    store.keep(experiment(state=State.RUNNING))
    assert store.listing()[0].state is State.RUNNING
    store.close()


def test_that_a_writer_is_known_by_number_and_beginning() -> None:
    own = own_writer()
    assert is_alive(own, 0.0, 1e9)
    assert not is_alive(Writer(own.host, own.pid, own.started_s - 3600), 0.0, 1e9)
    assert not is_alive(None, 0.0, 0.0)
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    assert not is_alive(Writer(own.host, gone.pid, own.started_s), 0.0, 0.0)


def test_that_a_writer_elsewhere_is_believed_for_a_day() -> None:
    elsewhere = Writer("another machine", 1, 1.0)
    assert is_alive(elsewhere, 0.0, 86_399.0)
    assert not is_alive(elsewhere, 0.0, 86_401.0)


# --- Two programs -----------------------------------------------------------------------


def test_that_two_programs_write_into_one_history(tmp_path: Path) -> None:
    process = start(_HOLD, tmp_path, "there-0")
    store = HistoryStore(tmp_path)
    store.keep(experiment("here-0"))
    assert read_line(process) == "kept"
    assert process.stdin is not None
    for number in range(1, 10):
        process.stdin.write(f"there-{number}\n")
        process.stdin.flush()
        store.keep(experiment(f"here-{number}"))
        assert read_line(process) == "kept"
    process.communicate()
    assert len(keys(store)) == 20
    store.close()


def test_that_programs_that_make_the_file_at_the_same_time_get_along(tmp_path: Path) -> None:
    together = [start(_HOLD, tmp_path, f"number-{number}") for number in range(4)]
    for process in together:
        assert read_line(process) == "kept"
        process.communicate()
    store = HistoryStore(tmp_path)
    assert len(keys(store)) == 4
    store.close()


def test_that_a_history_held_by_another_program_is_a_sentence_and_nothing_is_lost(
    tmp_path: Path,
) -> None:
    store = HistoryStore(tmp_path, patience_s=0.0)
    store.keep(experiment("first"))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another copy of TuneDeck is writing"):
            store.keep(experiment("second"))
        assert [one.key for one in store.unwritten()] == ["second"]
        assert store.experiment("second") == experiment("second")
        assert keys(store) == ["first"]
        other.execute("ROLLBACK")
    store.keep(experiment("third"))
    assert sorted(keys(store)) == ["first", "second", "third"]
    assert not store.unwritten()
    store.close()


# --- Disks ------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk with room for 512 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("this machine does not let a small disk be mounted")
    yield place
    subprocess.run(["umount", place], check=True)


def large(key: str) -> Experiment:
    """An experiment that takes about a megabyte even when it is deflated."""
    return experiment(key, workload=random.Random(key).randbytes(1_000_000).hex())


def test_that_a_real_full_disk_loses_nothing(small_disk: Path) -> None:
    store = HistoryStore(small_disk / "history")
    store.keep(experiment("small"))
    for number in (1, 2):
        with pytest.raises(StorageError, match="the disk is full; free some space"):
            store.keep(large(f"large-{number}"))
    assert store.unwritten() == (large("large-1"), large("large-2"))
    assert keys(store) == ["small"]
    assert store.experiment("large-1") == large("large-1")
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    store.flush()
    assert sorted(keys(store)) == ["large-1", "large-2", "small"]
    store.close()


def test_that_a_full_disk_can_be_read_and_is_called_full(small_disk: Path) -> None:
    folder = small_disk / "history"
    first = HistoryStore(folder)
    first.keep(experiment(KEY))
    first.close()
    full = small_disk / "full"
    with suppress(OSError), full.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)

    store = HistoryStore(folder)
    assert keys(store) == [KEY]
    assert store.experiment(KEY) == experiment(KEY)
    with pytest.raises(StorageError, match="the disk is full; free some space"):
        store.set_note(KEY, "a note")
    with pytest.raises(StorageError, match="the disk is full; free some space"):
        store.keep(experiment("other"))
    full.unlink()
    store.flush()
    assert sorted(keys(store)) == sorted([KEY, "other"])
    store.close()


def test_that_a_file_that_may_not_grow_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite's own limit answers as a full disk does, without one.
    limits = (*history_file._PRAGMAS, "PRAGMA max_page_count = 30")
    monkeypatch.setattr(history_file, "_PRAGMAS", limits)
    store = HistoryStore(tmp_path)
    store.keep(experiment("small"))
    with pytest.raises(StorageError, match=r"could not be kept; it stays in memory.*disk is full"):
        store.keep(large("large"))
    assert keys(store) == ["small"]
    assert [one.key for one in store.unwritten()] == ["large"]
    with pytest.raises(StorageError, match="disk is full"):
        store.close()


def test_that_a_read_only_disk_can_be_read(small_disk: Path) -> None:
    folder = small_disk / "history"
    first = HistoryStore(folder)
    first.keep(experiment(KEY))
    first.close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    store = HistoryStore(folder)
    assert keys(store) == [KEY]
    assert store.experiment(KEY) == experiment(KEY)
    with pytest.raises(StorageError, match=r"stays in memory.*the disk is read-only"):
        store.keep(experiment("second"))
    with pytest.raises(StorageError, match="could not be changed: the disk is read-only"):
        store.delete(KEY)
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    store.flush()
    assert sorted(keys(store)) == sorted([KEY, "second"])
    store.close()


_AS_NOBODY = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from app.experiments.history_store import HistoryStore
from app.storage.storage_error import StorageError
from tests.unit.experiments.made_experiments import experiment
import engine_bridge.settings.config, encodings.idna, sqlite3
first = HistoryStore(Path(sys.argv[1]))
first.listing()
first.close()
if os.geteuid() == 0:  # to root nothing is read-only
    os.setgid(65534); os.setuid(65534)
store = HistoryStore(Path(sys.argv[1]))
print([row.key for row in store.listing()])
try:
    store.keep(experiment("second"))
except StorageError as error:
    print(error)
else:
    sys.exit("it could be written")
print([one.key for one in store.unwritten()])
"""


def test_that_a_read_only_folder_is_a_sentence_with_its_name() -> None:
    if os.name != "posix":
        pytest.skip("permissions of another kind")
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to others
        folder = Path(place) / "history"
        store = HistoryStore(folder)
        store.keep(experiment(KEY))
        store.close()
        Path(place).chmod(0o755)
        store.path.chmod(0o644)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, str(folder), str(ROOT)],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        folder.chmod(0o755)
        assert done.returncode == 0, done.stderr + done.stdout
        listed, refused, left = done.stdout.splitlines()
        assert listed == f"['{KEY}']"
        assert refused.startswith("The experiment could not be kept; it stays in memory")
        assert "make the folder writable for you" in refused
        assert str(folder) in refused
        assert left == "['second']"


def test_that_a_drive_that_was_gone_is_written_to_when_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    store = HistoryStore(folder)
    store.keep(experiment("first"))
    elsewhere = tmp_path / "unplugged"
    folder.rename(elsewhere)
    folder.write_text("no folder can be made here")
    with pytest.raises(StorageError, match="stays in memory"):
        store.keep(experiment("second"))
    folder.unlink()
    elsewhere.rename(folder)
    store.keep(experiment("third"))
    store.close()
    again = HistoryStore(folder)
    assert sorted(keys(again)) == ["first", "second", "third"]
    again.close()
