"""A board that is full while shared memory grows is said to spill; all else is not."""

from __future__ import annotations

import pytest

from engine_bridge.metrics.board_activity import BoardActivity, SharedMemory
from engine_bridge.metrics.board_spill import Allocated, SpillWatch
from engine_bridge.metrics.snapshot import MemorySnapshot

GIB = 1 << 30
NOTHING = Allocated()


def board(
    used: float, shared: float | None, *, name: str = "A board", is_unified: bool = False
) -> BoardActivity:
    memory = MemorySnapshot(1, "gpu", name, 8 * GIB, int(used * GIB))
    lent = None if shared is None else SharedMemory(int(shared * GIB), 16 * GIB)
    return BoardActivity(name, memory=memory, shared=lent, is_unified=is_unified)


def warnings(
    *readings: tuple[float, float | None], allocated: Allocated = NOTHING, is_unified: bool = False
) -> list[bool]:
    """Whether each of several readings, (GiB used, GiB shared), brings the warning."""
    watch = SpillWatch()
    found = []
    for used, shared in readings:
        (seen,) = watch.look([board(used, shared, is_unified=is_unified)], allocated)
        found.append(bool(seen.warning))
    return found


def test_that_shared_memory_that_grows_while_the_board_is_full_is_a_spill() -> None:
    assert warnings((4, 0.2), (7.9, 0.2), (7.9, 1.2)) == [False, False, True]


def test_that_the_sentence_says_how_much_and_what_to_do() -> None:
    watch = SpillWatch()
    watch.look([board(4, 0.25)], NOTHING)
    (seen,) = watch.look([board(7.9, 1.75)], NOTHING)
    assert "1.50 GiB so far" in seen.warning
    assert "A board" in seen.warning
    assert "fewer layers" in seen.warning


@pytest.mark.parametrize(
    "readings",
    [
        [(4, 0.2), (6, 3.0)],  # shared grows while there is room: locked pages, other programs
        [(7.9, 3.0), (7.9, 3.0)],  # it was so from the start, and does not grow
        [(4, 0.2), (7.9, 0.3)],  # what comes and goes
        [(4, None), (7.9, None)],  # nobody tells
    ],
)
def test_that_nothing_else_is_a_spill(readings: list[tuple[float, float | None]]) -> None:
    assert warnings(*readings) == [False] * len(readings)


def test_that_memory_the_engine_locked_for_itself_is_no_spill() -> None:
    readings = ((4, 0.2), (7.9, 3.2))
    assert warnings(*readings) == [False, True]
    assert warnings(*readings, allocated=Allocated(host_bytes=4 * GIB)) == [False, False]


def test_that_a_gpu_that_lives_in_main_memory_cannot_spill_into_it() -> None:
    assert warnings((4, 0.2), (7.9, 3.2), is_unified=True) == [False, False]


def test_that_a_warning_stays_until_there_is_room_and_does_not_flicker() -> None:
    readings = ((4, 0.2), (7.9, 1.2), (7.5, 1.2), (7.9, 0.4), (7.0, 0.4), (7.9, 0.4))
    #            room      spills      hardly less  half gone   room       as before
    assert warnings(*readings) == [False, True, True, True, False, False]


def test_that_more_than_the_board_has_cannot_lie_on_it_though_nobody_tells_of_shared() -> None:
    """As under Windows, where NVML does not tell of shared memory."""
    assert warnings((7.9, None), allocated=Allocated({"A board": 9 * GIB})) == [True]
    assert warnings((7.9, None), allocated=Allocated({"A board": 8 * GIB})) == [False]
    assert warnings((7.9, None), allocated=Allocated({"Another": 9 * GIB})) == [False]


def test_that_two_boards_of_one_name_are_judged_together() -> None:
    watch = SpillWatch()
    both = [board(7.9, None), board(7.9, None)]
    fits = watch.look(both, Allocated({"A board": 15 * GIB}))
    assert not any(seen.warning for seen in fits)
    assert all(seen.warning for seen in watch.look(both, Allocated({"A board": 17 * GIB})))


def test_that_each_board_is_held_against_its_own_past() -> None:
    watch = SpillWatch()
    watch.look([board(4, 0.2), board(4, 2.0)], NOTHING)
    seen = watch.look([board(7.9, 2.0), board(7.9, 2.0)], NOTHING)
    assert [bool(one.warning) for one in seen] == [True, False]
