"""Damaged histories are set aside, and taken over as far as they can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.experiments import history_file
from app.experiments.history_query import Filter
from app.experiments.history_store import HistoryStore
from app.storage.storage_error import StorageError
from tests.unit.experiments.made_experiments import cell, experiment, sweep

KEY = "20261130-110036-3f9a2c"


def keys(store: HistoryStore) -> list[str]:
    return [row.key for row in store.listing()]


def asides(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.damaged-*") if path.suffix == ".sqlite3"]


@pytest.mark.parametrize(
    "content", [b"no database at all, and long enough for one" * 50, b"\x00" * 8192]
)
def test_that_what_is_no_history_is_set_aside_and_a_new_one_begun(
    tmp_path: Path, content: bytes
) -> None:
    store = HistoryStore(tmp_path)
    store.path.write_bytes(content)
    store.keep(experiment(KEY))
    assert keys(store) == [KEY]
    (aside,) = asides(tmp_path)
    assert aside.read_bytes() == content
    (sentence,) = store.take_sentences()
    assert aside.name in sentence
    assert "a new one begins" in sentence
    assert not store.take_sentences()
    store.close()
    again = HistoryStore(tmp_path)
    assert keys(again) == [KEY]
    assert not again.take_sentences()
    again.close()


def test_that_what_can_be_read_of_a_damaged_history_is_taken_over(tmp_path: Path) -> None:
    first = HistoryStore(tmp_path)
    made = [sweep(f"202611{day:02}-000000-aaaaaa") for day in range(1, 29)]
    for one in made:
        first.keep(one)
    first.set_tags(made[0].key, ["mine"])
    first.delete(made[1].key)
    first.close()
    damaged = bytearray(first.path.read_bytes())
    # A page of the table that lists read, and of nothing else.
    with closing(sqlite3.connect(first.path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'by_kind'"
        ).fetchone()[0]
    damaged[(root - 1) * size : root * size] = b"\xff" * size
    first.path.write_bytes(damaged)
    store = HistoryStore(tmp_path)
    rows = store.listing(Filter(kinds=(made[0].kind,)))
    (aside,) = asides(tmp_path)
    assert aside.read_bytes() == bytes(damaged)
    assert f"{len(made)} experiments were read from it" in store.take_sentences()[0]
    assert [row.key for row in rows] == [one.key for one in reversed(made) if one is not made[1]]
    assert store.experiment(made[0].key).tags == ("mine",)
    assert store.experiment(made[5].key) == made[5]
    store.restore(made[1].key)
    store.close()


def test_that_one_damaged_experiment_leaves_the_others(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    store.keep(experiment("good"))
    store.keep(experiment("bad"))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE contents SET content = x'00' WHERE key = 'bad'")
    with pytest.raises(StorageError, match="The experiment bad is damaged"):
        store.experiment("bad")
    assert store.experiment("good") == experiment("good")
    assert sorted(keys(store)) == ["bad", "good"]
    store.close()


@pytest.mark.parametrize("damage", ["kind = 'dance'", "extra = '{'", "tags = '1'"])
def test_that_one_damaged_row_is_told_once_and_the_others_listed(
    tmp_path: Path, damage: str
) -> None:
    store = HistoryStore(tmp_path)
    store.keep(experiment("good"))
    store.keep(experiment("bad"))
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute(f"UPDATE experiments SET {damage} WHERE key = 'bad'")
    for _ in range(2):
        assert keys(store) == ["good"]
    assert store.take_sentences() == (
        "The experiment bad is damaged in the history and not listed.",
    )
    store.close()


def test_that_two_programs_do_not_set_aside_the_new_file_of_each_other(tmp_path: Path) -> None:
    first, second = HistoryStore(tmp_path), HistoryStore(tmp_path)
    first.path.write_bytes(b"no database at all" * 100)
    first.keep(experiment("first"))
    # It saw the damage before the other had mended it.
    assert history_file.set_aside(second.path) is None
    assert keys(second) == ["first"]
    assert len(asides(tmp_path)) == 1
    first.close()
    second.close()


def test_that_an_experiment_of_many_cells_survives_its_own_size(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    whole = experiment(cells=[cell(f"cell {n}", {"slots": n + 1}) for n in range(500)])
    store.keep(whole)
    assert store.experiment(KEY) == whole
    store.close()


def test_that_a_version_that_none_ever_had_is_a_damage_and_loses_nothing(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    store.keep(experiment(KEY))
    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA user_version = -5")
    again = HistoryStore(tmp_path)
    assert keys(again) == [KEY]
    again.close()
