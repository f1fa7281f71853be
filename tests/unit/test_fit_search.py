"""What every search for something that fits begins with: each dry run once, and not too many."""

from __future__ import annotations

import pytest

from engine_bridge.child.fit_search import FitSearch, NoTrialError
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room
from engine_bridge.memory_plan import BytesByUse
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import model_facts

_GIB = 2**30
_ROOM = Room((DeviceFacts("CPU", "", "cpu", "CPU", 8 * _GIB, 16 * _GIB),), None)
_CONFIG = EngineConfig(model_path="/m.gguf")


class Search(FitSearch):
    """Shows what a search may ask."""

    def asked(self, slots: int) -> MemoryShape | None:
        return self._shape(self._config.with_values({"slots": slots}))


class ShortSearch(Search):
    """Has two dry runs."""

    MOST_RUNS = 2


class Machine:
    """Makes dry runs; refuses what has more than four slots."""

    def __init__(self) -> None:
        self.tried: list[int] = []

    def __call__(self, config: EngineConfig) -> MemoryShape:
        self.tried.append(config.slots)
        if config.slots > 4:
            raise NoTrialError
        return MemoryShape(BytesByUse(total=config.slots), ())


def search(kind: type[Search], machine: Machine) -> Search:
    return kind(_CONFIG, model_facts(), _ROOM, machine)


@pytest.mark.parametrize(("slots", "is_refused"), [(2, False), (5, True)])
def test_that_each_dry_run_is_made_once_whatever_its_answer(slots: int, is_refused: bool) -> None:
    machine = Machine()
    found = search(Search, machine)
    first, second = found.asked(slots), found.asked(slots)
    assert (first is None) is is_refused
    assert first is second
    assert machine.tried == [slots]


def test_that_after_enough_tries_the_rest_counts_as_refused_and_what_is_known_stays() -> None:
    machine = Machine()
    found = search(ShortSearch, machine)
    known = found.asked(1)
    assert found.asked(2) is not None
    assert found.asked(3) is None
    assert found.asked(1) is known
    assert machine.tried == [1, 2]
