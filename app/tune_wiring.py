"""Between the session and everything that shows or moves a setting."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.cache_words import CACHE_DEPENDENT
from app.command_wiring import CommandWiring
from app.cost_words import cost_words
from app.desk import Desk
from app.hints import Situation, hint_for, ngram_note
from app.placement_words import OF_BOARDS, leaves_layers_to_auto
from app.profiles_wiring import ProfilesWiring
from app.sampler_words import SAMPLER_DEPENDENT
from engine_bridge.engine_state import EngineState
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.metrics.memory_meter import accounted, split
from engine_bridge.metrics.snapshot import MemorySnapshot, together
from engine_bridge.protocol import Applied, MemoryMeasured
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import IntDomain
from engine_bridge.settings.row import Applies, Group
from engine_bridge.settings.rules import Problem, Severity
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY, MODEL_KINDS, kinds_that_use
from engine_bridge.settings.table import BY_KEY, SETTINGS
from widgets.command_bar import CommandBar
from widgets.cost_badge import CostLevel
from widgets.top_bar import TopBar
from widgets.tune_panel import TunePanel

_LEVELS: dict[Applies, CostLevel] = {
    Applies.LIVE: "live",
    Applies.CONTEXT: "context",
    Applies.RELOAD: "reload",
}


def _drafts_by(key: str) -> Callable[[EngineConfig], bool]:
    return lambda config: bool(kinds_that_use(key, config.spec_types))


# Settings that say nothing while another one is off.
_DEPENDENT: dict[str, Callable[[EngineConfig], bool]] = {
    "fit_margin_mib": leaves_layers_to_auto,
    "ctx_total_tok": lambda config: config.kv_unified,
    **{key: _drafts_by(key) for key in KINDS_OF_KEY},
    **{
        setting.key: lambda config: not MODEL_KINDS.keys().isdisjoint(config.spec_types)
        for setting in SETTINGS
        if setting.group is Group.DRAFT
    },
    **CACHE_DEPENDENT,
    **SAMPLER_DEPENDENT,
}
# One refresh serves all signals that come together when something changes.
_REFRESH_MS = 15


class TuneWiring(QObject):
    """Faders to session, session to faders, memory bar, Apply button and command line."""

    def __init__(
        self, desk: Desk, tune: TunePanel, top: TopBar, command: CommandBar, parent: QObject
    ) -> None:
        """Connect the widgets to the session of ``desk``."""
        super().__init__(parent)
        self._desk = desk
        self._session = desk.session
        self._tune = tune
        self._top = top
        self.command_wiring = CommandWiring(desk, command, self)
        self.profiles = ProfilesWiring(desk, tune.profiles, self)
        self._machine: tuple[MemorySnapshot, ...] = ()
        self._kept_bytes = 0  # what prompt caches hold
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.setInterval(_REFRESH_MS)
        self._refresh_timer.timeout.connect(self._refresh)
        session = self._session
        session.wanted_changed.connect(self._on_wanted_changed)
        session.problems_changed.connect(lambda _: self._refresh_soon())
        session.plan_changed.connect(lambda _: self._refresh_soon())
        session.applied_changed.connect(self._on_applied_changed)
        session.work_changed.connect(lambda _: self._refresh_soon())
        desk.engine_said_hello.connect(lambda _: self._refresh_soon())
        desk.client.state_changed.connect(lambda _: self._refresh_soon())
        desk.hardware_measured.connect(self._on_hardware_measured)
        desk.client.event_received.connect(self._on_event_received)
        desk.chats.answer_finished.connect(lambda *_: self._refresh_soon())
        tune.changing.connect(session.preview)
        tune.changed.connect(session.commit)
        tune.refusal_changed.connect(self._refresh_soon)
        tune.repair_requested.connect(session.repair)
        tune.draft_model_requested.connect(top.open_draft_menu)
        top.apply_requested.connect(session.apply)
        top.undo_requested.connect(session.undo)
        top.redo_requested.connect(session.redo)
        top.cancel_requested.connect(session.cancel_load)
        tune.set_values(session.wanted.values())
        self._refresh()

    # --- What came in -------------------------------------------------------------------

    def _on_wanted_changed(self, wanted: EngineConfig) -> None:
        self._refresh_soon()
        self._tune.set_values(wanted.values())

    def _on_applied_changed(self, applied: Applied | None) -> None:
        if applied is not None and applied.model is not None:
            self._set_stops(applied.model.ctx_train_tok, applied.model.layers)
        self._refresh_soon()

    def _on_hardware_measured(self, snapshots: tuple[MemorySnapshot, ...]) -> None:
        # Once a second: what does not hang on the memory has signals of its own.
        self._machine = snapshots
        self._refresh_memory()

    def _on_event_received(self, event: object) -> None:
        if isinstance(event, MemoryMeasured):
            self._kept_bytes = event.caches  # shown with the next measurement of the hardware

    def _set_stops(self, trained_tok: int, layers: int) -> None:
        context = BY_KEY["ctx_per_slot_tok"].domain
        if trained_tok and isinstance(context, IntDomain):
            stops = {stop for stop in context.stops if stop <= trained_tok} | {trained_tok}
            self._tune.row("ctx_per_slot_tok").set_stops(tuple(sorted(stops)))
        if layers:
            # llama.cpp counts the output layer as one more.
            self._tune.row("n_gpu_layers").set_stops(tuple(range(layers + 2)))

    # --- What goes out ------------------------------------------------------------------

    def _refresh_soon(self) -> None:
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def _refresh(self) -> None:
        problems = self._session.problems()
        self._tune.set_problems(problems)
        self._refresh_rows()
        self._refresh_memory()
        self._refresh_apply(problems)
        self.command_wiring.refresh()

    def _refresh_rows(self) -> None:
        applied = self._session.applied
        candidate = self._session.candidate
        plan = self._session.plan
        made_of, effective = self._made_of()
        situation = Situation(
            candidate, self._session.model, plan, effective, self._desk.has_boards,
            self._desk.acceptance,
        )  # fmt: skip
        for setting in SETTINGS:
            key = setting.key
            if setting.group is Group.MODEL:
                continue
            row = self._tune.row(key)
            row.set_hint(hint_for(key, situation))
            cost = self._session.cost_of(key)
            shown = cost or setting.applies
            words = cost_words(shown, self._session.measured_seconds(shown))
            row.set_badge(words, _LEVELS[shown])
            row.set_effective(_effective_words(key, candidate, made_of, effective))
        self._tune.set_applied_values(applied.config.values() if applied else None)
        self._tune.set_enabled_keys(self._enabled_keys(candidate))
        self._tune.section(Group.NGRAM).set_note(ngram_note(candidate.spec_types))

    def _made_of(self) -> tuple[EngineConfig | None, EffectiveConfig | None]:
        """What the engine made, or by its plan would make, and of which configuration."""
        applied, plan = self._session.applied, self._session.plan
        if applied is not None and self._session.candidate == applied.config:
            return applied.config, applied.effective
        if plan is not None and plan.effective is not None:
            return self._session.planned, plan.effective
        return None, None

    def _enabled_keys(self, candidate: EngineConfig) -> set[str]:
        enabled = {setting.key for setting in SETTINGS}
        enabled -= {key for key, counts in _DEPENDENT.items() if not counts(candidate)}
        if not self._desk.has_boards:
            enabled -= OF_BOARDS
        return enabled

    def _refresh_memory(self) -> None:
        bar = self._tune.memory_bar
        applied = self._session.applied
        if not self._machine:
            return
        # The bar shows the memory that is short first: the boards' where layers can be put there.
        boards = [snapshot for snapshot in self._machine if snapshot.kind == "gpu"]
        is_on_gpu = bool(boards) and self._desk.has_gpu
        memory = together(boards) if is_on_gpu else self._machine[0]
        label = f"{memory.name} memory" if is_on_gpu else memory.name
        is_alive = self._desk.client.state is not EngineState.DEAD
        held = applied.memory if applied and is_alive else None
        is_asked = self._session.is_planning and self._session.plan is None
        # Other totals of this memory stand in the live column: each says what it counts.
        label += " · calculating…" if is_asked else ", reserved"
        kept = 0 if is_on_gpu or held is None else self._kept_bytes
        # As the memory chart divides it, so that both come to the same sum.
        parts, _ = split(memory, accounted(held, memory.kind), kept)
        bar.set_present(
            held, round(parts.others), memory.total_bytes, label,
            kind=memory.kind, kept_bytes=round(parts.caches), rest_bytes=round(parts.rest),
        )  # fmt: skip
        plan = self._session.plan
        differs = applied is not None and self._session.candidate != applied.config
        # A plan of settings that break a rule knows no bytes.
        is_known = plan is not None and plan.effective is not None
        bar.set_predicted(plan if held is not None and differs and is_known else None)

    def _refresh_apply(self, problems: tuple[Problem, ...]) -> None:
        cost = self._session.cost()
        errors = [p.message for p in problems if p.severity is Severity.ERROR]
        reason = errors[0] if errors else None
        if self._desk.client.state is EngineState.DEAD:
            reason = "The engine is not running: restart it first."
        elif self._session.work:
            reason = "The engine is being changed."
        elif cost is None and self._tune.refused_label():
            reason = (
                f"What stands in {self._tune.refused_label()} is no value and was not taken: the "
                "engine runs the value of before."
            )
        seconds = self._session.measured_seconds(cost) if cost else None
        # What costs nothing but a moment takes no memory.
        has_forecast = cost is Applies.LIVE or not self._session.is_planning
        self._top.set_apply(str(cost) if cost else None, seconds, reason, has_forecast=has_forecast)
        self._top.set_history(self._session.can_undo, self._session.can_redo)


def _effective_words(
    key: str,
    candidate: EngineConfig,
    made_of: EngineConfig | None,
    effective: EffectiveConfig | None,
) -> str | None:
    """What the engine makes of a setting, where that is not what is asked for."""
    if effective is None or not hasattr(effective, key):
        return None
    value, made = getattr(candidate, key), getattr(effective, key)
    if made in (value, "auto") or getattr(made_of, key) != value:
        return None
    return f"{made:,}" if isinstance(made, int) and not isinstance(made, bool) else str(made)
