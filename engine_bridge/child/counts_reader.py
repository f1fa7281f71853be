"""Files of counts that a change of settings asks for, read before the change is made.

On a thread of its own, while the streams go on. Knows in which order changes are made then; must
not know how.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from engine_bridge.child.speculation.lookup_files import Checked, checked_counts, lookup_paths
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Apply
from engine_bridge.settings.config import EngineConfig


@dataclass(eq=False)
class CountsRead:
    """What a thread hands back to the loop: the files of ``command`` were read, or cannot be.

    Attributes:
        command: The change.
        checked: Holds the counts until the change is made.
    """

    command: Apply
    checked: Checked = field(default_factory=Checked)


class CountsReader:
    """Reads files for one change at a time; changes that come meanwhile wait for it.

    All but its threads belongs to the loop's thread.

    Args:
        put: Brings ``CountsRead`` to the loop; called on a thread.
    """

    def __init__(self, put: Callable[[CountsRead], None]) -> None:
        """Read nothing."""
        self._put = put
        self._job: CountsRead | None = None
        self._waiting: deque[Apply] = deque()
        self._threads: list[threading.Thread] = []

    def takes(self, command: Apply, running: EngineConfig, facts: ModelFacts) -> bool:
        """Whether ``command`` has to wait for a file; it comes back by ``done`` or ``next_one``.

        Args:
            command: A change.
            running: What runs; its files were read.
            facts: The model that runs.
        """
        if self._job is not None:
            self._waiting.append(command)
            return True
        if set(lookup_paths(command.config)) <= set(lookup_paths(running)):
            return False
        job = self._job = CountsRead(command)
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=self._run, args=(job, facts), name="counts", daemon=True)
        self._threads.append(thread)
        thread.start()
        return True

    def done(self, read: CountsRead) -> bool:
        """Whether the change of ``read`` is to be made now; it was given up otherwise."""
        if read is not self._job:
            return False
        self._job = None
        return True

    def next_one(self) -> Apply | None:
        """The next change that waited; None while a file is read or where none waits."""
        return self._waiting.popleft() if self._waiting and self._job is None else None

    def give_up(self) -> list[Apply]:
        """Forget the changes that wait; these are them, oldest first."""
        given_up = [*([] if self._job is None else [self._job.command]), *self._waiting]
        self._job = None
        self._waiting.clear()
        return given_up

    def close(self) -> None:
        """Wait for what is being read."""
        for thread in self._threads:
            thread.join()

    def _run(self, job: CountsRead, facts: ModelFacts) -> None:
        job.checked = checked_counts(job.command.config, facts)
        self._put(job)
