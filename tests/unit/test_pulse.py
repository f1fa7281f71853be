"""A long step says that it gets on, a short one nothing, one that stands still nothing either."""

from __future__ import annotations

from engine_bridge.child.pulse import Pulse
from engine_bridge.protocol import Event, StepProgressed


class Steps:
    """What is under way, as the test says."""

    def __init__(self) -> None:
        self.computed: dict[int, int] = {}
        self.said: list[Event] = []
        self.pulse = Pulse(lambda: dict(self.computed), self.said.append)

    def look(self, **computed: int) -> list[Event]:
        self.computed = {ord(name): count for name, count in computed.items()}
        self.said.clear()
        self.pulse.look()
        return list(self.said)


def test_that_only_a_step_that_lasts_and_gets_on_is_told() -> None:
    steps = Steps()
    assert steps.look() == []
    assert steps.look(a=5) == []
    assert steps.look(a=9) == [StepProgressed(9)]
    assert steps.look(a=9) == []
    assert steps.look(a=10, b=3) == [StepProgressed(10)]
    assert steps.look(b=7) == [StepProgressed(7)]
    assert steps.look() == []
    assert steps.look(b=8) == []


def test_that_a_step_that_begins_anew_is_another_one() -> None:
    steps = Steps()
    steps.look(a=100)
    assert steps.look(a=2) == []


def test_that_the_thread_ends_when_it_is_told() -> None:
    steps = Steps()
    steps.pulse.start()
    steps.pulse.stop()
    assert not steps.pulse.is_alive()
