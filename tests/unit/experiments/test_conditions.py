"""What made a run unsteady, from readings that are made up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.experiments.conditions import UNWATCHED, Conditions, judged
from app.experiments.machine_state import MachineState

_CORES = 4
_MIB = 1 << 20
_CALM = MachineState(
    at_s=100.0, busy_s=50.0, ours_s=40.0, stolen_s=1.0, swapped_in_bytes=7 * _MIB,
    swapped_out_bytes=9 * _MIB, clock_mhz=4000.0, throttlings=3, slept_s=500.0, on_battery=False,
)  # fmt: skip


def after(seconds: float = 10.0, **changes: object) -> MachineState:
    """``_CALM`` some seconds later, two cores of ours busy all the time."""
    values: dict[str, object] = {
        "at_s": _CALM.at_s + seconds,
        "busy_s": _CALM.busy_s + 2 * seconds,
        "ours_s": _CALM.ours_s + 2 * seconds,
    }
    return replace(_CALM, **(values | changes))  # type: ignore[arg-type]


def test_that_a_quiet_run_has_no_sentence() -> None:
    assert judged((_CALM, after(5), after(10)), _CORES) == ()


def test_that_one_reading_judges_nothing() -> None:
    assert judged((_CALM,), _CORES) == ()


def test_that_other_programs_are_told_with_their_share() -> None:
    # 12 s of others in 10 s on 4 cores: 30 %, 1.2 cores.
    states = (_CALM, after(busy_s=_CALM.busy_s + 20 + 12))
    assert judged(states, _CORES) == (
        "Other programs used 30% of the processor: 1.2 of 4 cores on average.",
    )


def test_that_our_own_work_is_not_that_of_others() -> None:
    assert judged((_CALM, after(busy_s=_CALM.busy_s + 40, ours_s=_CALM.ours_s + 39)), _CORES) == ()


def test_that_a_host_that_gives_the_processor_away_is_told() -> None:
    found = judged((_CALM, after(stolen_s=_CALM.stolen_s + 8)), _CORES)
    assert found == (
        "The host of this virtual machine gave 20% of the processor to others.",
    )  # fmt: skip


def test_that_swapping_is_told_once_it_is_felt() -> None:
    felt = after(swapped_in_bytes=8 * _MIB, swapped_out_bytes=(9 + 120) * _MIB)
    assert judged((_CALM, felt), _CORES) == (
        "The system swapped: 120 MiB were written to the swap and 1 MiB read back.",
    )
    assert judged((_CALM, after(swapped_out_bytes=10 * _MIB)), _CORES) == ()
    silent = after(swapped_in_bytes=None, swapped_out_bytes=None)
    assert judged((_CALM, silent), _CORES) == ()


@pytest.mark.parametrize(("times", "often"), [(1, "once"), (12, "12 times")])
def test_that_throttling_for_heat_is_told(times: int, often: str) -> None:
    assert judged((_CALM, after(throttlings=3 + times)), _CORES) == (
        f"The processor was slowed down for heat {often}.",
    )


def test_that_a_falling_clock_is_told_with_both_clocks() -> None:
    clocks = (4000, 4100, 4000, 3900, 3700, 3400, 3300, 3300, 3300)
    states = [_CALM, *(after(1 + at, clock_mhz=clock) for at, clock in enumerate(clocks))]
    assert judged(states, _CORES) == (
        "The processor's clock fell from 4.00 GHz to 3.30 GHz.",
    )  # fmt: skip


def test_that_the_clock_of_a_machine_at_rest_is_no_drop() -> None:
    """In a pause of thinking users the processor slows down by itself."""
    busy = [_CALM, *(after(1 + at) for at in range(6))]
    resting = [replace(busy[-1], at_s=busy[-1].at_s + 1 + at, clock_mhz=1200.0) for at in range(6)]
    assert judged([*busy, *resting], _CORES) == ()


def test_that_sleep_is_told() -> None:
    assert judged((_CALM, after(slept_s=500.0 + 3600)), _CORES) == (
        "The machine slept for 3,600 s.",
    )


def test_that_where_no_clock_tells_of_sleep_a_standstill_is_told() -> None:
    silent = replace(_CALM, slept_s=None)
    states = (silent, replace(after(1), slept_s=None), replace(after(43), slept_s=None))
    assert judged(states, _CORES) == ("The machine slept or stood still for 42 s.",)


def test_that_the_battery_is_told() -> None:
    assert judged((_CALM, after(5, on_battery=True), after(10)), _CORES) == (
        "The machine ran on its battery, which lowers its clocks.",
    )


def test_that_boards_which_are_held_back_are_told_with_how_often() -> None:
    hot = (("RTX", "too hot"),)
    states = (_CALM, after(5, held_back=hot), after(8, held_back=hot), after(10))
    assert judged(states, _CORES) == (
        "RTX ran at lower clocks (too hot) in 2 of 4 readings.",
    )  # fmt: skip


def test_that_several_things_are_told_one_by_one() -> None:
    found = judged((_CALM, after(throttlings=4, on_battery=True, slept_s=600.0)), _CORES)
    assert len(found) == 3


# --- The thread ----------------------------------------------------------------------------


class _Machine:
    """Hands out readings, one a call, the last one for ever; knows who asked."""

    def __init__(self, *states: MachineState) -> None:
        self.states = list(states)
        self.pids: list[int] = []
        self.threads: set[str] = set()
        self.is_closed = False
        self.reads = 0
        self.third = threading.Event()

    def open(self, pid: int) -> _Machine:
        self.pids.append(pid)
        return self

    def read(self) -> MachineState:
        self.reads += 1
        self.threads.add(threading.current_thread().name)
        if self.reads == 3:
            self.third.set()
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def close(self) -> None:
        self.is_closed = True


def watching(machine: _Machine, open_reader: Callable[[int], _Machine] | None = None) -> Conditions:
    """Conditions that only read when a run begins or ends."""
    return Conditions(7, open_reader=open_reader or machine.open, cores=_CORES, period_s=3600.0)


def test_that_a_run_is_judged_from_its_begin_to_its_end() -> None:
    loud = after(busy_s=_CALM.busy_s + 40)
    later = replace(loud, at_s=200.0)
    machine = _Machine(_CALM, loud, later, replace(later, at_s=210.0))
    with watching(machine) as conditions:
        conditions.begin()
        assert len(conditions.end()) == 1
        conditions.begin()  # what was before this run is not held against it
        assert conditions.end() == ()
    assert machine.pids == [7]
    assert machine.is_closed
    assert machine.threads == {"conditions"}


def test_that_it_reads_by_itself_while_a_run_lasts() -> None:
    machine = _Machine(_CALM, after(5, on_battery=True), after(10))
    with Conditions(0, open_reader=machine.open, cores=_CORES, period_s=0.001) as conditions:
        conditions.begin()
        assert machine.third.wait(10.0)
        assert conditions.end() == ("The machine ran on its battery, which lowers its clocks.",)


def test_that_it_can_be_entered_and_left_without_a_run() -> None:
    machine = _Machine(_CALM)
    with watching(machine):
        pass
    assert machine.reads == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_that_a_run_that_could_not_be_watched_says_so() -> None:
    def broken(_: int) -> _Machine:
        raise OSError("no such machine")

    with watching(_Machine(_CALM), broken) as conditions:
        conditions.begin()
        assert conditions.end() == (UNWATCHED,)
