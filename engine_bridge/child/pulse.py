"""Says that a long step gets on inside: a word that the window can tell from a hang.

Knows time and the steps under way; must not know what they compute.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from engine_bridge.protocol import Event, StepProgressed

# Far below the time after which the window suspects a hang.
_EVERY_S = 1.0


class Pulse(threading.Thread):
    """Looks once a second; says something only of steps that last longer.

    Args:
        computed: Operations computed in each step under way.
        emit: Takes events.
    """

    def __init__(
        self, computed: Callable[[], dict[int, int]], emit: Callable[[Event], None]
    ) -> None:
        """Prepare the thread."""
        super().__init__(name="pulse", daemon=True)
        self._computed = computed
        self._emit = emit
        self._before: dict[int, int] = {}
        self._is_over = threading.Event()

    def run(self) -> None:
        """Look until ``stop``."""
        while not self._is_over.wait(_EVERY_S):
            self.look()

    def look(self) -> None:
        """Say it if a step that was under way before has computed more since then."""
        now = self._computed()
        for key, computed in now.items():
            if computed > self._before.get(key, computed):
                self._emit(StepProgressed(computed))
                break
        self._before = now

    def stop(self) -> None:
        """End the thread."""
        self._is_over.set()
        self.join()
