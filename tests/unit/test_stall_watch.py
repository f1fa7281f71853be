"""A hang told from long work, with the processor time of real processes and a clock of its own."""

from __future__ import annotations

import os

import pytest

from engine_bridge import stall_watch
from engine_bridge.stall_watch import StallWatch


class Times:
    """Processor seconds as the test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.own_s = 5.0
        self.family_s = 3.0
        self.family_looks = 0
        monkeypatch.setattr(stall_watch, "_own_cpu_s", lambda _: self.own_s)
        monkeypatch.setattr(stall_watch, "_family_cpu_s", self._family)

    def _family(self, _: int) -> float:
        self.family_looks += 1
        return self.family_s


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    return Times(monkeypatch)


def _verdicts(watch: StallWatch, seconds: range) -> list[bool]:
    return [watch.is_stalled(float(second)) for second in seconds]


def test_that_silence_and_idleness_are_a_stall_after_the_time_given(times: Times) -> None:
    watch = StallWatch(1, 15.0, 0.0)
    assert _verdicts(watch, range(1, 18)) == [False] * 14 + [True] * 3
    # Looking for descendants is dear: only in the second half.
    assert times.family_looks == 10


def test_that_a_word_starts_the_wait_anew(times: Times) -> None:
    watch = StallWatch(1, 15.0, 0.0)
    watch.is_stalled(14.0)
    watch.note_progress(14.5)
    assert _verdicts(watch, range(15, 31)) == [False] * 15 + [True]
    watch.note_progress(31.0)
    assert not watch.is_stalled(32.0)


def test_that_housekeeping_is_not_taken_for_work(times: Times) -> None:
    watch = StallWatch(1, 15.0, 0.0)
    for second in range(1, 16):
        times.own_s += 0.02
        stalled = watch.is_stalled(float(second))
    assert stalled


@pytest.mark.parametrize("who", ["own_s", "family_s"])
def test_that_processor_time_is_progress(times: Times, who: str) -> None:
    watch = StallWatch(1, 15.0, 0.0)
    for second in range(1, 60):
        setattr(times, who, getattr(times, who) + 0.9)
        assert not watch.is_stalled(float(second))


def test_that_computing_for_ever_without_a_word_is_going_round_in_circles(times: Times) -> None:
    watch = StallWatch(1, 15.0, 0.0, 40.0)
    verdicts = []
    for second in range(1, 42):
        times.own_s += 0.9
        verdicts.append(watch.is_stalled(float(second)))
    assert verdicts == [False] * 39 + [True] * 2
    assert watch.spins(41.0)
    watch.note_progress(42.0)
    assert not watch.is_stalled(43.0)
    assert not watch.spins(43.0)


def test_that_a_process_that_is_gone_raises_nothing() -> None:
    watch = StallWatch(2**22 + 1, 1.0, 0.0)
    assert not watch.is_stalled(0.6)
    assert watch.is_stalled(1.0)


def test_that_real_processor_time_is_seen() -> None:
    before = stall_watch._own_cpu_s(os.getpid())
    total = sum(number * number for number in range(2_000_000))
    assert total > 0
    assert stall_watch._own_cpu_s(os.getpid()) > before
    assert stall_watch._family_cpu_s(os.getpid()) >= 0.0
