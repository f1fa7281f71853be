"""One figure of both programs, run for run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.bench import stats
from tests.bench.work import Contender


@dataclass
class Compared:
    """Values of pairs of runs that alternated.

    Attributes:
        name: What was measured.
        unit: Unit of the values.
        engine: The engine's values.
        peer: The peer's values of the same pairs.
        is_more_better: True for rates, False for times.
    """

    name: str
    unit: str
    is_more_better: bool = False
    engine: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> stats.Ratio:
        """Above 1 where the engine is better, with its interval."""
        gains = stats.log_gains(self.engine, self.peer, is_more_better=self.is_more_better)
        return stats.ratio(gains)

    def line(self) -> str:
        """Medians of both and the ratio, for the terminal."""
        ratio = self.ratio
        return (
            f"{self.name:<44} {np.median(self.engine):>9.1f} {np.median(self.peer):>9.1f} "
            f"{self.unit:<5} {ratio.value:5.3f}  [{ratio.low:.3f}, {ratio.high:.3f}]"
        )

    def as_json(self) -> dict[str, Any]:
        """Everything measured."""
        ratio = self.ratio
        return {
            "name": self.name,
            "unit": self.unit,
            "engine": self.engine,
            "peer": self.peer,
            "ratio": ratio.value,
            "interval": [ratio.low, ratio.high],
        }


HEAD = f"{'':<44} {'engine':>9} {'peer':>9}       ratio  95 % interval"


def in_turn(
    compared: Compared,
    engine: Contender,
    peer: Contender,
    pairs: int,
    measure: Callable[[Contender, int], float],
) -> None:
    """Fill ``compared`` from ``pairs`` pairs, the order changing from pair to pair.

    Args:
        compared: Takes the values.
        engine: The engine.
        peer: The peer.
        pairs: How many; one more is run first and thrown away.
        measure: Gives a contender's value; told the pair's number, for work of its own.
    """
    for pair in range(pairs + 1):
        both = (engine, peer) if pair % 2 == 0 else (peer, engine)
        values = {contender.pid: measure(contender, pair) for contender in both}
        if pair:
            compared.engine.append(values[engine.pid])
            compared.peer.append(values[peer.pid])


def in_fresh_processes(
    compared: Compared,
    start: Callable[[], AbstractContextManager[tuple[Contender, Contender]]],
    pairs: int,
    warm_up: Callable[[Contender], object],
    measure: Callable[[Contender, int], float],
) -> None:
    """Fill ``compared`` from ``pairs`` pairs, both programs started anew for each.

    Where a process's memory happens to lie makes it up to 7 % faster or slower for as long as it
    lives (measured with one program on both sides), so that runs of one process are no sample.

    Args:
        compared: Takes the values.
        start: Starts engine and peer.
        pairs: How many.
        warm_up: Sets up what is set up on first use.
        measure: Gives a contender's value; told the pair's number, for work of its own.
    """
    for pair in range(1, pairs + 1):
        with start() as both:
            for contender in both:
                warm_up(contender)
            engine, peer = both
            order = (engine, peer) if pair % 2 == 0 else (peer, engine)
            values = {contender.pid: measure(contender, pair) for contender in order}
            compared.engine.append(values[engine.pid])
            compared.peer.append(values[peer.pid])
