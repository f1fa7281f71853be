"""Lists are read by an index, and never read what they do not show."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest

from app.experiments.experiment import Kind, State
from app.experiments.history_query import Filter, query_of
from app.experiments.history_store import HistoryStore
from tests.unit.experiments.made_experiments import experiment


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    store = HistoryStore(tmp_path_factory.mktemp("history"))
    for number in range(200):
        store.keep(
            experiment(
                f"202611{1 + number // 24:02}-{number % 24:02}0000-00000{number % 10}",
                kind=list(Kind)[number % 7],
                tags=("odd",) if number % 2 else (),
            )
        )
    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        yield connection


def plan(connection: sqlite3.Connection, wanted: Filter) -> list[str]:
    statement, parameters = query_of(wanted)
    rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
    return [str(row[3]) for row in rows]


@pytest.mark.parametrize(
    ("wanted", "step"),
    [
        (Filter(), "USING INDEX"),
        (Filter(limit=20), "USING INDEX"),
        (Filter(kinds=(Kind.TUNE,)), "USING INDEX by_kind (kind=?)"),
        (Filter(models=("Gemma",)), "USING INDEX by_model (model=?)"),
        (Filter(tag="odd"), "PRIMARY KEY (tag=?)"),
        (
            Filter(
                since=datetime(2026, 11, 5, tzinfo=UTC), until=datetime(2026, 11, 6, tzinfo=UTC)
            ),
            "USING INDEX by_time",
        ),
    ],
)
def test_that_an_index_is_used(connection: sqlite3.Connection, wanted: Filter, step: str) -> None:
    steps = plan(connection, wanted)
    assert any(step in told for told in steps), steps


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(),
        Filter(text="gemma slots=4"),
        Filter(text="a", tag="odd", kinds=(Kind.TUNE,), states=(State.DONE,), models=("Gemma",)),
    ],
)
def test_that_no_list_reads_the_experiments_themselves(
    connection: sqlite3.Connection, wanted: Filter
) -> None:
    statement, parameters = query_of(wanted)
    read = set()

    def note(action: int, table: str | None, column: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ:
            read.add((table, column))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    connection.execute(statement, parameters).fetchall()
    connection.set_authorizer(None)
    tables = {table for table, _ in read}
    assert "experiments" in tables
    assert "contents" not in tables
    assert ("words" in tables) == bool(wanted.text)


def test_that_the_newest_come_without_sorting(connection: sqlite3.Connection) -> None:
    assert not any("ORDER BY" in step for step in plan(connection, Filter(limit=20)))
