"""What every search for something that fits begins with: rooms, and dry runs that are made once.

Knows rooms and shapes; how a dry run is made is ``planner``'s, what is tried is the search's.
"""

from __future__ import annotations

import sys

from engine_bridge.child.auto_placement import TryOut
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig


class NoTrialError(Exception):
    """The engine would refuse this configuration, or there were enough tries."""


class FitSearch:
    """The search for one configuration; what was tried is known.

    Attributes:
        MOST_RUNS: Dry runs of one search; what would be tried after them counts as refused.
    """

    MOST_RUNS = sys.maxsize

    def __init__(
        self, config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut
    ) -> None:
        """Begin with nothing tried.

        Args:
            config: Its rules checked and its layers placed.
            facts: The model.
            room: Free memory of every device.
            try_out: Makes dry runs; may raise ``NoTrialError``.
        """
        self._config = config
        self._facts = facts
        self._room = room
        # What only just fits would be too much by the time it is asked for.
        self._roomy = room.with_slack()
        self._try_out = try_out
        self._tried: dict[EngineConfig, MemoryShape | None] = {}

    def _shape(self, config: EngineConfig) -> MemoryShape | None:
        """What ``config`` would occupy; None where the engine refuses it."""
        if config not in self._tried:
            if len(self._tried) >= self.MOST_RUNS:
                return None
            try:
                self._tried[config] = self._try_out(config)
            except NoTrialError:
                self._tried[config] = None
        return self._tried[config]
