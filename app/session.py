"""What the user wants and what the engine runs; the one way from the first to the second.

Holds no widget. A fader goes ``preview`` (while dragging) → ``commit`` (released) → ``apply``; the
engine's answer comes back as ``applied_changed``. Live settings are applied as soon as they are
committed, the others wait for ``apply``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from app.forecast import Forecast
from app.model_bound import for_file, with_model_of
from engine_bridge.client import EngineClient
from engine_bridge.memory_plan import MemoryPlan, moves_weights
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import (
    Applied,
    Apply,
    CancelLoad,
    Event,
    Load,
    LoadProgressed,
    PlanReady,
    Refused,
    Unloaded,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import cost_of_change, cost_of_key
from engine_bridge.settings.row import Applies
from engine_bridge.settings.rules import Problem, Severity, errors_of, problems_of, repaired

# Undo keeps this many steps; a configuration is about 500 bytes.
_UNDO_STEPS = 200


class Session(QObject):
    """Wanted and applied configuration of one engine.

    Signals:
        wanted_changed: The wanted configuration (``EngineConfig``) after a commit, undo or load.
        problems_changed: Problems of the candidate, errors first (tuple of ``Problem``).
        plan_changed: Memory of the candidate (``MemoryPlan``), None while nothing can be planned.
        applied_changed: What the engine runs now (``Applied``), None once it has no model.
        settings_applied: Keys that just took effect (tuple of str); empty after a load.
        work_changed: ``load``, ``apply`` or the empty string: what the engine is busy with.
        load_progressed: Fraction 0 to 1 and the stage in words.
        refused: A ``Refused`` that the user has to see.
        model_lost: A sentence: the engine had to give its model up.
    """

    wanted_changed = Signal(object)
    problems_changed = Signal(object)
    plan_changed = Signal(object)
    applied_changed = Signal(object)
    settings_applied = Signal(object)
    work_changed = Signal(str)
    load_progressed = Signal(float, str)
    refused = Signal(object)
    model_lost = Signal(str)

    def __init__(
        self, client: EngineClient, start: EngineConfig, parent: QObject | None = None
    ) -> None:
        """Begin with ``start`` wanted and nothing applied."""
        super().__init__(parent)
        self._client = client
        self._wanted = start
        self._candidate = start
        self._applied: Applied | None = None
        self._forecast = Forecast(client, self)
        self._forecast.changed.connect(self._on_forecast_changed)
        self._undo: list[EngineConfig] = []
        self._redo: list[EngineConfig] = []
        self._numbers = itertools.count(1)
        self._pending: Load | Apply | None = None
        self._cancelled: Load | Apply | None = None
        self._is_engine_empty = True
        self._seconds: dict[Applies, float] = {}
        self._load_path = start.model_path
        self._tried: EngineConfig | None = None
        client.event_received.connect(self._on_event_received)
        client.engine_died.connect(self._on_engine_died)

    # --- What is known ------------------------------------------------------------------

    @property
    def wanted(self) -> EngineConfig:
        """The configuration as committed."""
        return self._wanted

    @property
    def candidate(self) -> EngineConfig:
        """The configuration as the faders stand right now, uncommitted drags included."""
        return self._candidate

    @property
    def applied(self) -> Applied | None:
        """What the engine runs, None without a model."""
        return self._applied

    @property
    def model(self) -> ModelFacts | None:
        """Facts of the loaded model."""
        return self._applied.model if self._applied else None

    @property
    def plan(self) -> MemoryPlan | None:
        """The newest plan; of the candidate, or for a moment of the one before it."""
        return self._forecast.plan

    @property
    def planned(self) -> EngineConfig | None:
        """The configuration that ``plan`` is for."""
        return self._forecast.planned

    @property
    def is_planning(self) -> bool:
        """Whether the candidate's own plan is still to come."""
        return self._applied is not None and self._forecast.is_waiting

    @property
    def work(self) -> str:
        """``load``, ``apply`` or the empty string."""
        if self._pending is None:
            return ""
        return "load" if isinstance(self._pending, Load) else "apply"

    @property
    def tried(self) -> EngineConfig | None:
        """What the engine was last told to run, or ran when it died; None before the first."""
        return self._tried

    @property
    def base(self) -> EngineConfig:
        """What a load starts from: the settings that run, or those wanted if nothing runs."""
        return self._applied.config if self._applied else self._wanted

    @property
    def load_path(self) -> str:
        """The file asked for last, whether or not it could be loaded."""
        return self._load_path

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to take again."""
        return bool(self._redo)

    def problems(self) -> tuple[Problem, ...]:
        """Rules that the candidate breaks, and what the planner found wrong with it."""
        found = list(problems_of(self._candidate, self.model))
        known = {problem.message for problem in found}
        found += [p for p in self._forecast.problems if p.message not in known]
        return tuple(sorted(found, key=lambda p: p.severity is Severity.WARNING))

    def cost(self) -> Applies | None:
        """What ``apply`` would cost now; None where nothing differs or nothing is loaded."""
        if self._applied is None:
            return None
        cost = cost_of_change(self._applied.config, self._wanted)
        plan = self.plan if self.planned == self._wanted else None
        is_moving = plan is not None and moves_weights(self._applied.effective, plan.effective)
        return Applies.RELOAD if cost is Applies.CONTEXT and is_moving else cost

    def cost_of(self, key: str) -> Applies | None:
        """What the change of one setting costs; None where it does not differ."""
        applied = self._applied
        if applied is None or getattr(self._candidate, key) == getattr(applied.config, key):
            return None
        return cost_of_key(key, applied.config, self._candidate)

    def measured_seconds(self, cost: Applies) -> float | None:
        """How long the last change of this cost took on this model; None before the first."""
        return self._seconds.get(cost)

    # --- What the user does -------------------------------------------------------------

    def preview(self, key: str, value: object) -> None:
        """A fader stands at ``value`` but is still held: only the prediction moves.

        Raises:
            DomainError: If the setting cannot take the value.
        """
        self._candidate = self._wanted.with_values({key: value})
        self._ask_planner()

    def commit(self, key: str, value: object) -> None:
        """A fader was released at ``value``.

        Raises:
            DomainError: If the setting cannot take the value.
        """
        self._want(self._wanted.with_values({key: value}))

    def want(self, values: dict[str, object]) -> None:
        """Change several settings in one step that undo takes back as one.

        Raises:
            DomainError: If a setting is unknown or cannot take its value.
        """
        self._want(self._wanted.with_values(values))

    def repair(self, problem: Problem) -> None:
        """Carry out the change that ``problem`` offers."""
        self._want(repaired(self._wanted, problem))

    def try_out(self, config: EngineConfig) -> None:
        """Want ``config`` for an experiment: no step that undo goes back to."""
        self._set_wanted(config)

    def undo(self) -> None:
        """Take the last change back."""
        if self._undo:
            self._redo.append(self._wanted)
            self._set_wanted(self._undo.pop())

    def redo(self) -> None:
        """Do again what was taken back last."""
        if self._redo:
            self._undo.append(self._wanted)
            self._set_wanted(self._redo.pop())

    def load(self, path: str, values: Mapping[str, object] | None = None) -> None:
        """Load a model with the settings that run now, or with those wanted if nothing runs.

        Changes that wait for ``apply`` go on waiting: opening a file is no way to apply them.

        Args:
            path: The file; of a split model any part.
            values: Settings to change with it, such as the repair of a load that was refused.

        Raises:
            DomainError: If a value or the path cannot be taken.
        """
        self._load_path = path
        changes = dict(values or {})
        config = for_file(self.base, path).with_values(changes | {"model_path": path})
        command = Load(next(self._numbers), config)
        if changes:
            self._want(self._wanted.with_values(changes))
        self._send(command)

    def reload(self) -> None:
        """Bring back the model that ran last, after the engine was started anew."""
        if self._applied is not None:
            self._send(Load(next(self._numbers), self._applied.config))

    def cancel_load(self) -> None:
        """Give up the load under way, that of a draft model by ``apply`` too."""
        # Once only: a second one would give up the old model as well, on its way back.
        if self._pending is not None and self._cancelled is not self._pending:
            self._cancelled = self._pending
            self._client.send(CancelLoad())

    def apply(self) -> None:
        """Make the engine run the wanted configuration."""
        if self._applied is None or self._pending is not None or self.cost() is None:
            return
        if errors_of(self._wanted, self.model):
            return
        self._send(Apply(next(self._numbers), self._wanted))

    # --- Inside -------------------------------------------------------------------------

    def _want(self, config: EngineConfig) -> None:
        if config == self._wanted:
            # A drag that came back to where it began still has to take its preview back.
            if self._candidate != config:
                self._set_wanted(config)
            return
        self._undo.append(self._wanted)
        del self._undo[:-_UNDO_STEPS]
        self._redo.clear()
        self._set_wanted(config)

    def _set_wanted(self, config: EngineConfig) -> None:
        self._wanted = config
        self._candidate = config
        self.wanted_changed.emit(config)
        self._ask_planner()
        self._apply_live_part()

    def _ask_planner(self) -> None:
        if self._applied is not None:
            self._forecast.ask(self._candidate)
        self.problems_changed.emit(self.problems())

    def _apply_live_part(self) -> None:
        """Apply those wanted changes that cost nothing, leaving the others for the button."""
        if self._applied is None or self._pending is not None:
            return
        running = self._applied.config
        live = {
            key: getattr(self._wanted, key)
            for key in self._wanted.changed_from(running)
            if cost_of_key(key, running, self._wanted) is Applies.LIVE
        }
        target = running.with_values(live)
        is_live = cost_of_change(running, target) is Applies.LIVE
        if is_live and not errors_of(target, self.model):
            self._send(Apply(next(self._numbers), target))

    def _send(self, command: Load | Apply) -> None:
        if not self._client.send(command):
            return
        self._pending, self._tried = command, command.config
        self.work_changed.emit(self.work)

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, Applied):
            self._take_applied(event)
        elif isinstance(event, Refused):
            self._take_refused(event)
        elif isinstance(event, PlanReady):
            self._forecast.take(event)
        elif isinstance(event, LoadProgressed):
            self.load_progressed.emit(event.fraction, event.stage)
        elif isinstance(event, Unloaded):
            self._take_unloaded(event)

    def _take_applied(self, event: Applied) -> None:
        self._is_engine_empty = False
        self._tried = event.config
        before = self._applied
        was_load = event.model is not None
        model = event.model or (before.model if before else None)
        self._applied = Applied(
            event.request_id, event.config, event.effective, event.cost, event.seconds,
            event.memory, model,
        )  # fmt: skip
        if was_load:
            self._seconds.clear()
        # A draft model's load says nothing of how long the model itself would take.
        if was_load or event.cost != Applies.RELOAD:
            self._seconds[Applies(event.cost)] = event.seconds
        if self._pending is not None and event.request_id == self._pending.request_id:
            self._pending = None
        self._adopt_model(event.config)
        changed = () if was_load or before is None else event.config.changed_from(before.config)
        self._forecast.outdate()
        self.work_changed.emit(self.work)
        self.applied_changed.emit(self._applied)
        self.settings_applied.emit(changed)
        self.wanted_changed.emit(self._wanted)
        self._ask_planner()
        self._apply_live_part()

    def _adopt_model(self, loaded: EngineConfig) -> None:
        """The model is what was loaded last, in every step that undo can go back to as well."""
        if self._wanted.model_path != loaded.model_path:
            self._wanted = with_model_of(loaded, self._wanted)
            self._candidate = self._wanted
        self._undo = [with_model_of(loaded, step) for step in self._undo]
        self._redo = [with_model_of(loaded, step) for step in self._redo]

    def _take_unloaded(self, event: Unloaded) -> None:
        self._lose_model()
        self.model_lost.emit(event.sentence)

    def _lose_model(self) -> None:
        """The engine runs, and has no model any more."""
        self._applied = None
        self._is_engine_empty = True
        self._forecast.forget()
        self.applied_changed.emit(None)

    def _take_refused(self, event: Refused) -> None:
        if event.command == "plan":
            self._forecast.refuse(event.request_id, event.problem)
            return
        if self._pending is None or event.request_id != self._pending.request_id:
            return
        was_load = isinstance(self._pending, Load)
        self._pending = None
        self.work_changed.emit("")
        if was_load and self._is_engine_empty and self._applied is not None:
            # A new engine could not bring back what the old one ran.
            self._lose_model()
        self.refused.emit(event)
        if self._pending is None:
            self._tried = self._applied.config if self._applied else None

    def _on_forecast_changed(self, plan: MemoryPlan | None) -> None:
        self.plan_changed.emit(plan)
        self.problems_changed.emit(self.problems())

    def _on_engine_died(self, _: object) -> None:
        self._pending = None
        self._is_engine_empty = True
        self._forecast.forget()
        self.work_changed.emit("")
