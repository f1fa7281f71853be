"""Files of every version are read by this one; those of newer ones are left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.experiments.history_schema import STEPS, migrate, version_of
from app.experiments.history_store import HistoryStore
from app.storage.storage_error import StorageError
from tests.unit.experiments.made_experiments import experiment

VERSIONS = Path(__file__).parent / "history_versions"
KEY = "20261130-110036-3f9a2c"


def _add_favourites(connection: sqlite3.Connection) -> None:
    """What a second version might do: a new column, filled from what is there."""
    connection.execute("ALTER TABLE experiments ADD COLUMN is_favourite INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        "UPDATE experiments SET is_favourite = 1 "
        "WHERE key IN (SELECT key FROM tags WHERE tag = 'best')"
    )
    connection.execute("CREATE INDEX favourites ON experiments (key) WHERE is_favourite")


def _fail_half_way(connection: sqlite3.Connection) -> None:
    _add_favourites(connection)
    connection.execute("DELETE FROM words")
    connection.execute("SELECT no_such_column FROM experiments")


NEXT = (*STEPS, _add_favourites)


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return version_of(connection)


def test_that_there_is_a_file_of_every_version() -> None:
    names = sorted(path.name for path in VERSIONS.glob("*.sql"))
    assert names == [f"v{number}.sql" for number in range(1, len(STEPS) + 1)]


@pytest.mark.parametrize("number", range(1, len(STEPS) + 1))
@pytest.mark.parametrize("steps", [STEPS, NEXT], ids=["this", "next"])
def test_that_a_file_of_an_older_version_is_brought_up_to_date(
    tmp_path: Path, number: int, steps: tuple[object, ...]
) -> None:
    path = HistoryStore(tmp_path).path
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((VERSIONS / f"v{number}.sql").read_text(encoding="utf-8"))
    assert version(path) == number
    store = HistoryStore(tmp_path, steps=steps)  # type: ignore[arg-type]
    rows = store.listing()
    assert [row.key for row in rows] == ["20261130-120000-aa00aa", KEY]
    assert rows[1].tags == ("best", "laptop")
    kept = store.experiment(KEY)
    assert kept.note == "On battery."
    assert len(kept.cells[0].runs) == 5
    assert kept.cells[0].config == {"slots": 1}
    store.keep(experiment("20261201-000000-000000"))
    store.close()
    assert version(path) == len(steps)


def test_that_a_step_takes_what_is_there_along(tmp_path: Path) -> None:
    first = HistoryStore(tmp_path)
    first.keep(experiment(KEY, tags=("best",)))
    first.keep(experiment("other"))
    first.close()
    store = HistoryStore(tmp_path, steps=NEXT)
    assert {row.key for row in store.listing()} == {KEY, "other"}
    assert store.experiment(KEY) == experiment(KEY, tags=("best",))
    store.close()
    with closing(sqlite3.connect(first.path)) as connection:
        marked = connection.execute("SELECT key FROM experiments WHERE is_favourite").fetchall()
    assert marked == [(KEY,)]


def test_that_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    first = HistoryStore(tmp_path)
    first.keep(experiment(KEY))
    first.close()
    broken = HistoryStore(tmp_path, steps=(*STEPS, _fail_half_way))
    with pytest.raises(StorageError, match="no_such_column"):
        broken.listing()
    with pytest.raises(StorageError, match="stays in memory"):
        broken.keep(experiment("second"))
    assert version(first.path) == len(STEPS)
    again = HistoryStore(tmp_path)
    assert [row.key for row in again.listing()] == [KEY]
    assert [row.key for row in again.listing()] == [KEY]
    again.close()
    with pytest.raises(StorageError):
        broken.close()


def test_that_a_step_is_taken_once_where_two_programs_come(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    taken = []

    def step(connection: sqlite3.Connection) -> None:
        taken.append(version_of(connection))
        connection.execute("CREATE TABLE once (x)")

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, (step,))
        migrate(connection, (step,))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        migrate(other, (step,))
    assert taken == [0]


def test_that_a_newer_file_is_refused_in_a_sentence_and_never_written_to(tmp_path: Path) -> None:
    newer = HistoryStore(tmp_path, steps=NEXT)
    newer.keep(experiment(KEY))
    newer.close()
    before = newer.path.read_bytes()
    store = HistoryStore(tmp_path)
    for act in (store.listing, lambda: store.delete(KEY), lambda: store.keep(experiment("mine"))):
        with pytest.raises(StorageError, match="written by a newer TuneDeck; update to use it"):
            act()
    assert [one.key for one in store.unwritten()] == ["mine"]
    with pytest.raises(StorageError, match="newer TuneDeck"):
        store.close()
    assert newer.path.read_bytes() == before
    assert [row.key for row in newer.listing()] == [KEY]
    newer.close()


def test_that_a_database_of_another_program_is_refused_and_never_written_to(
    tmp_path: Path,
) -> None:
    store = HistoryStore(tmp_path)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("CREATE TABLE bookmarks (address TEXT)")
        connection.commit()
    before = store.path.read_bytes()
    for act in (store.listing, lambda: store.delete(KEY), lambda: store.keep(experiment("mine"))):
        with pytest.raises(StorageError, match="is a database of another program"):
            act()
    assert store.path.read_bytes() == before
    store.path.rename(tmp_path / "theirs.sqlite3")
    store.close()
    assert [row.key for row in HistoryStore(tmp_path).listing()] == ["mine"]


def test_that_an_empty_database_becomes_a_history(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("VACUUM")  # a page and nothing on it
    store.keep(experiment(KEY))
    assert [row.key for row in store.listing()] == [KEY]
    store.close()


def test_that_a_newer_file_in_use_is_refused_too(tmp_path: Path) -> None:
    newer = HistoryStore(tmp_path, steps=NEXT)
    newer.keep(experiment(KEY))  # its log is beside it
    with pytest.raises(StorageError, match="newer TuneDeck"):
        HistoryStore(tmp_path).listing()
    newer.keep(experiment("second"))
    assert len(newer.listing()) == 2
    newer.close()
