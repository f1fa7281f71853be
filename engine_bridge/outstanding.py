"""What the engine was asked for and has not answered yet.

Pure: commands sent and events received in, the engine's state and a description of its work out.
"""

from __future__ import annotations

import itertools
from pathlib import PurePath

from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import (
    Applied,
    Apply,
    Command,
    Event,
    Generate,
    Load,
    LoadProgressed,
    Plan,
    PlanReady,
    Refused,
    RequestFinished,
    RequestStarted,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig


class Outstanding:
    """Commands without a final answer."""

    def __init__(self) -> None:
        """Begin with nothing outstanding."""
        self._changes: dict[int, str] = {}
        self._progress: dict[int, str] = {}
        self._requests: dict[int, str] = {}
        self._is_planning = False

    @property
    def state(self) -> EngineState:
        """``loading`` before ``busy`` before ``ready``."""
        if self._changes:
            return EngineState.LOADING
        return EngineState.BUSY if self._requests else EngineState.READY

    @property
    def request_ids(self) -> tuple[int, ...]:
        """Numbers of loads, changes and requests without a final event."""
        return (*self._changes, *self._requests)

    @property
    def doing(self) -> str:
        """What the engine is at, to follow "while"."""
        if self._changes:
            request_id, change = next(reversed(self._changes.items()))
            return change + self._progress.get(request_id, "")
        steps = list(self._requests.values())
        if generating := steps.count("generating"):
            return "writing an answer" if generating == 1 else f"writing {generating} answers"
        if steps:
            return "reading a prompt" if "reading" in steps else "taking up a request"
        return "predicting memory" if self._is_planning else "idle"

    def sent(self, command: Command) -> None:
        """A command went to the engine."""
        match command:
            case Load(request_id, config):
                self._changes[request_id] = f"loading {PurePath(config.model_path).name}"
            case Apply(request_id):
                self._changes[request_id] = "changing its settings"
            case Generate(request_id):
                self._requests[request_id] = "waiting"
            case Plan():
                self._is_planning = True
            case _:
                pass

    def received(self, event: Event) -> None:
        """The engine said something."""
        match event:
            case Applied(request_id):
                self._end_change(request_id)
            case Refused(command="plan") | PlanReady():
                self._is_planning = False
            case Refused(command="generate", request_id=request_id):
                self._requests.pop(request_id, None)
            case Refused(request_id=request_id):
                self._end_change(request_id)
            case RequestFinished(request_id):
                self._requests.pop(request_id, None)
            case LoadProgressed(request_id, fraction, stage) if request_id in self._changes:
                self._progress[request_id] = f" ({stage}, {fraction:.0%})"
            case RequestStarted(request_id) if request_id in self._requests:
                self._requests[request_id] = "reading"
            case TokensDelivered(request_id) if request_id in self._requests:
                self._requests[request_id] = "generating"
            case _:
                pass

    def _end_change(self, request_id: int) -> None:
        self._changes.pop(request_id, None)
        self._progress.pop(request_id, None)


class PlanQueue:
    """Newest wins: one plan on its way, at most one waiting, the rest dropped."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self._numbers = itertools.count(1)
        self._asked: Plan | None = None
        self._waiting: Plan | None = None

    def offer(self, config: EngineConfig) -> tuple[int, Plan | None]:
        """Ask for a plan: its number, and the command if it is to be sent now."""
        plan = Plan(next(self._numbers), config)
        if self._asked is not None:
            self._waiting = plan
            return plan.plan_id, None
        self._asked = plan
        return plan.plan_id, plan

    def answered(self, plan_id: int) -> Plan | None:
        """An answer came; returns what is to be sent next."""
        if self._asked is None or self._asked.plan_id != plan_id:
            return None
        return self.give_up()

    def give_up(self) -> Plan | None:
        """Wait no longer for the plan on its way; returns what is to be sent next."""
        self._asked, self._waiting = self._waiting, None
        return self._asked

    def clear(self) -> None:
        """Forget everything asked; numbers go on, so that no late answer is mistaken."""
        self._asked = self._waiting = None
