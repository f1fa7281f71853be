"""What an engine had computed, handed on to the one that takes its place with the same model.

A reload with other settings (layers on another device, another load mode) leaves it valid as a new
context does. Knows engines; must not know commands.
"""

from __future__ import annotations

from engine_bridge.child.carried import places
from engine_bridge.child.engine import Engine
from engine_bridge.child.recompute import SETTING_CHANGED

# What changes the numbers that a model computes, beside what ``kind_of_cells`` compares.
_NUMBERS = ("override_kv",)


class HandedOn:
    """Copies of what the slots of an engine hold; take them before it is closed.

    Args:
        engine: The engine.
        with_cells: Whether there is memory for that; else it is only known what was there.
    """

    def __init__(self, engine: Engine, *, with_cells: bool = True) -> None:
        """Copy what its slots hold."""
        batcher = engine.batcher
        self._stamp = engine.stamp
        self._numbers = tuple(getattr(engine.config, key) for key in _NUMBERS)
        self._carried = batcher.packed() if with_cells else None
        self._slots, self._reuse = batcher.slots, batcher.reuse
        if not with_cells:
            self._reuse.cache.drop_all()

    def give_to(self, engine: Engine) -> None:
        """Let ``engine``, a new one, go on with it, if it computes the same.

        What it does not take is said to be lost by a changed setting.
        """
        if engine.stamp != self._stamp:
            return
        reuse = engine.batcher.reuse
        reuse.inherit(self._reuse)
        numbers = tuple(getattr(engine.config, key) for key in _NUMBERS)
        if self._carried is None or numbers != self._numbers:
            reuse.cache.drop_all()
            reuse.recompute.lost_all(SETTING_CHANGED)
            return
        seats = places(self._slots, engine.batcher.slots)
        reuse.take_over(self._slots, seats, self._carried, engine.config)
