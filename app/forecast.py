"""What the planner says of the settings as the faders stand right now.

Holds no widget. Knows which candidate each answer belongs to, so that an old plan is never shown
as present: it may stand in for a moment while a fader moves, then it goes.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from engine_bridge.client import EngineClient
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import PlanReady
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, Severity

# A plan normally comes within 100 ms; until then the one before it is the better guess. After this
# it would be a lie.
_OVERDUE_MS = 300


class Forecast(QObject):
    """The newest plan and the configuration it is for.

    Signals:
        changed: The plan (``MemoryPlan``), None where none can be shown.
    """

    changed = Signal(object)

    def __init__(self, client: EngineClient, parent: QObject) -> None:
        """Begin without a plan."""
        super().__init__(parent)
        self._client = client
        self._candidate: EngineConfig | None = None
        self._plan_id: int | None = None
        self._asked: dict[int, EngineConfig] = {}
        self._plan: MemoryPlan | None = None
        self._planned: EngineConfig | None = None
        self._refusal: Problem | None = None
        self._overdue = QTimer(self)
        self._overdue.setSingleShot(True)
        self._overdue.setInterval(_OVERDUE_MS)
        self._overdue.timeout.connect(self._on_overdue)

    @property
    def plan(self) -> MemoryPlan | None:
        """The newest plan; of the candidate, or for a moment of the one before it."""
        return self._plan

    @property
    def planned(self) -> EngineConfig | None:
        """The configuration that ``plan`` is for."""
        return self._planned

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the planner found wrong, or why it could not plan the candidate."""
        if self._plan is not None:
            return self._plan.problems
        return () if self._refusal is None else (self._refusal,)

    @property
    def is_waiting(self) -> bool:
        """Whether the candidate's own plan is still to come."""
        return self._plan_id is not None and self._planned != self._candidate

    def ask(self, candidate: EngineConfig) -> None:
        """Ask for the plan of ``candidate``, which replaces the one asked for before."""
        if candidate != self._candidate:
            self._refusal = None
        self._candidate = candidate
        self._plan_id = self._client.plan(candidate)
        if self._plan_id is not None:
            self._asked[self._plan_id] = candidate
        if not self._overdue.isActive():
            self._overdue.start()

    def take(self, event: PlanReady) -> None:
        """Show a plan of this drag, if not the newest then one that the fader just passed."""
        asked = self._asked.pop(event.plan_id, None)
        if asked is None:
            return
        self._asked = {number: c for number, c in self._asked.items() if number > event.plan_id}
        self._plan, self._planned, self._refusal = event.plan, asked, None
        self._overdue.stop()
        if asked != self._candidate:
            self._overdue.start()
        self.changed.emit(event.plan)

    def refuse(self, plan_id: int, problem: Problem) -> None:
        """The planner could not answer.

        What it says is a warning: a file that is gone can be planned no more, and still run.
        """
        if plan_id == self._plan_id:
            self._plan_id = None
            self._refusal = Problem(problem.keys, problem.message, severity=Severity.WARNING)
            self._drop()

    def outdate(self) -> None:
        """What was planned was planned beside another configuration than runs now."""
        self._plan = self._planned = None

    def forget(self) -> None:
        """There is no model any more: nothing is planned, no answer is awaited."""
        self._plan_id = self._refusal = None
        self._asked.clear()
        self._drop()

    def _on_overdue(self) -> None:
        if self._planned != self._candidate:
            self._drop()

    def _drop(self) -> None:
        """Show nothing rather than what is not of the candidate."""
        self._overdue.stop()
        self._plan = self._planned = None
        self.changed.emit(None)
