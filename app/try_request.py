"""A configuration to be tried in the real llama-server, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.experiments.experiment import Kind
from app.experiments.workload import Workload
from engine_bridge.settings.config import EngineConfig


class Order(StrEnum):
    """How the server and the embedded engine share this machine."""

    TURNS = "turns"
    """Both are there, and run one at a time, in turns."""
    AFTER = "after"
    """The engine is measured first, and gives its memory back for the server."""
    ALONE = "alone"
    """The server alone is measured."""


@dataclass(frozen=True)
class TryRequest:
    """What is to be tried.

    Attributes:
        program: What the command line begins with: the file, and the name of a tool in it.
        flags: The exported flags.
        tried: The configuration that they say.
        workload: What is run.
        runs: How often each side is measured.
        order: How both share this machine.
        on_line: Takes each line of the server's log; called in another thread.
    """

    program: tuple[str, ...]
    flags: tuple[str, ...]
    tried: EngineConfig
    workload: Workload
    runs: int
    order: Order
    on_line: Callable[[str], None]
    kind = Kind.PROBE

    @property
    def config(self) -> EngineConfig | None:
        """What the embedded engine runs beside; None where it is not measured."""
        return None if self.order is Order.ALONE else self.tried
