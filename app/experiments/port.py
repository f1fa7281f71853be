"""What an experiment needs of an engine, wherever the engine lives.

One port is a process of its own (command line), the other the engine that runs in the window. An
experiment blocks on its port in a thread that is not the GUI's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine_bridge.protocol import Applied, Command, Event, Hello
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

if TYPE_CHECKING:
    from app.experiments.run_record import RunRecord


class PortError(Exception):
    """The engine cannot go on with this; the message is a sentence for the user.

    Attributes:
        record: What the run that it cut short had measured; None outside of a run.
    """

    record: RunRecord | None = None


class EngineGoneError(PortError):
    """The engine died or does not answer; what it was asked for is lost."""


class ConfigRefusedError(PortError):
    """The engine refuses a configuration and keeps the one before.

    Attributes:
        problem: The rule's or the engine's reason, with a repair where there is one.
    """

    def __init__(self, problem: Problem) -> None:
        """Keep ``problem``; its message is the sentence."""
        super().__init__(problem.message)
        self.problem = problem


class StoppedError(PortError):
    """The user stopped the experiment; what was measured so far stays."""


class EnginePort(Protocol):
    """A running engine, used by one experiment at a time and from one thread."""

    @property
    def hello(self) -> Hello:
        """How the engine introduced itself."""

    @property
    def pid(self) -> int:
        """Its process, for what the system says of it; 0 if unknown."""

    @property
    def now_ns(self) -> int:
        """The time by the engine's clock, which stamps its events."""

    @property
    def peak_bytes_per_s(self) -> float:
        """Peak read bandwidth as it was measured last; 0 if it was not."""

    @property
    def is_peak_lower_bound(self) -> bool:
        """Whether other programs took the cores while the peak was measured: it may be higher."""

    def apply(self, config: EngineConfig) -> Applied:
        """Run ``config``, loading its model if another or none is loaded; blocks until it does.

        Raises:
            ConfigRefusedError: If it is refused; the engine goes on with what it had.
            EngineGoneError: If the engine died of it.
            StoppedError: If the user stopped the experiment meanwhile.
        """

    def next_id(self) -> int:
        """A number that no command to this engine has had."""

    def send(self, command: Command) -> None:
        """Send a command; answers come as events.

        Raises:
            EngineGoneError: If there is no engine to send it to.
            StoppedError: If the user stopped the experiment and this would be new work.
        """

    def next_event(self, timeout_s: float) -> Event | None:
        """The next event in order, None if none comes in time.

        Events of requests that this port did not send are not handed out.

        Raises:
            EngineGoneError: If the engine has died.
            StoppedError: If the user stopped the experiment; once, so that what it began can be
                ended in good order.
        """

    def take_disturbances(self) -> tuple[str, ...]:
        """Sentences on what others did to the engine since this was asked last."""

    def stop(self) -> None:
        """Stop the experiment, from any thread: its next wait raises ``StoppedError``."""

    def close(self) -> None:
        """Give the engine back: with the settings it had before, or ended if started here."""
