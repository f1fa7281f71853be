"""Keys of experiments are unique and in order of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from app.experiments.keys import begun_at, new_key


def test_that_a_key_begins_with_the_time_in_utc() -> None:
    east = datetime(2026, 11, 30, 13, 0, 36, tzinfo=timezone(timedelta(hours=2)))
    assert new_key(east).startswith("20261130-110036-")
    assert begun_at(east) == "2026-11-30T11:00:36+00:00"


def test_that_keys_of_one_second_differ() -> None:
    now = datetime.now(UTC)
    assert len({new_key(now) for _ in range(50)}) == 50


def test_that_keys_are_in_order_of_time() -> None:
    first = datetime(2026, 9, 30, 23, 59, 59, tzinfo=UTC)
    times = [first + timedelta(seconds=61 * number) for number in range(100)]
    keys = [new_key(time) for time in times]
    assert keys == sorted(keys)
