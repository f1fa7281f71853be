"""From the faders to ghosts in the charts: TTFT and TPOT of settings that do not run yet."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.desk import Desk
from app.prediction_words import tpot_ghost, ttft_ghost
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.metrics.ghost import NO_GHOST, Ghost
from engine_bridge.metrics.observations import (
    RunSettings,
    run_settings,
    settings_of_candidate,
)
from engine_bridge.metrics.prediction import Predictor
from engine_bridge.metrics.run_observer import RunObserver
from engine_bridge.metrics.step_cost import Streams
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of

USUAL_PROMPT_TOK = 1000
"""What TTFT is predicted for while no prompt was sent yet."""

# What a new context can only take over from one of the same: see ``child.state_outline``.
_KINDS_OF_CELLS = frozenset({"model_path", "cache_type_k", "cache_type_v", "lora", "override_kv"})

# One refresh serves all signals that come together when a fader moves.
_REFRESH_MS = 15


class PredictionWiring(QObject):
    """Keeps the meters' ghosts at what the faders stand at; none while that is what runs."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        """Follow the session and the measurements of ``desk``."""
        super().__init__(parent)
        self._session = desk.session
        self._meters = desk.meters
        self._measurements = desk.measurements
        self._soon = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._soon.timeout.connect(self._refresh)
        session = desk.session
        for signal in (
            session.wanted_changed, session.problems_changed, session.plan_changed,
            session.applied_changed, desk.measurements.changed,
        ):  # fmt: skip
            signal.connect(self._refresh_soon)

    def _refresh_soon(self, _: object = None) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _refresh(self) -> None:
        self._meters.note_prediction(*self._ghosts())

    def _ghosts(self) -> tuple[Ghost, Ghost]:
        """Of TTFT and of TPOT."""
        applied, candidate = self._session.applied, self._session.candidate
        if applied is None or candidate == applied.config:
            return NO_GHOST, NO_GHOST
        if errors_of(candidate, self._session.model):
            return NO_GHOST, NO_GHOST  # the Apply button says what is wrong
        predictor = self._measurements.predictor()
        if predictor is None:
            return NO_GHOST, NO_GHOST
        return self._predicted(predictor, applied, candidate)

    def _predicted(
        self, predictor: Predictor, applied: Applied, candidate: EngineConfig
    ) -> tuple[Ghost, Ghost]:
        settings = run_settings(applied.config, applied.effective)
        changed = settings_of_candidate(candidate, applied, self._planned(candidate))
        if changed is None:
            return NO_GHOST, NO_GHOST  # the plan that tells comes in a moment
        runs = self._measurements.runs
        cap_tok = candidate.slot_cap_tok
        read_tok, cached_tok = self._read_and_cached(runs, cap_tok)
        prompt_tok = read_tok + cached_tok
        streams_now = max(1, runs.streams)
        streams = min(streams_now, candidate.slots)
        depth_tok = min(runs.depth_tok or prompt_tok, cap_tok)
        if changed == settings and streams == streams_now:
            return NO_GHOST, NO_GHOST  # nothing that takes longer or shorter
        pool_tok = runs.pool_tok or None
        now = Streams(streams_now, depth_tok, pool_tok, runs.passes)
        # A pool of all takes any streams in one step; else they may lie apart in it as they do now.
        passes = 1.0 if changed.kv_unified else min(runs.passes, streams)
        then = Streams(streams, depth_tok, pool_tok, passes)
        return (
            ttft_ghost(
                predictor.prefill(changed, read_tok, cached_tok),
                predictor.prefill(settings, read_tok, cached_tok),
                read_tok,
                cached_tok,
                is_lost=_loses_cache(applied.config, candidate, settings, changed),
            ),
            tpot_ghost(
                predictor.decode(changed, then),
                predictor.decode(settings, now),
                streams,
                depth_tok,
            ),
        )

    @staticmethod
    def _read_and_cached(runs: RunObserver, cap_tok: int) -> tuple[int, int]:
        """Tokens that a prompt like the last one reads, and those that are there before it."""
        if not runs.prompt_tok:
            return min(USUAL_PROMPT_TOK, cap_tok), 0
        prompt_tok = min(runs.prompt_tok, cap_tok)
        read_tok = min(max(1, runs.prompt_tok - runs.reused_tok), prompt_tok)
        return read_tok, prompt_tok - read_tok

    def _planned(self, candidate: EngineConfig) -> EffectiveConfig | None:
        plan = self._session.plan
        return plan.effective if plan is not None and self._session.planned == candidate else None


def _loses_cache(
    running: EngineConfig, candidate: EngineConfig, now: RunSettings, then: RunSettings
) -> bool:
    """Whether what the slots hold is computed anew after a change: else it is taken along."""
    is_other = not _KINDS_OF_CELLS.isdisjoint(candidate.changed_from(running))
    return is_other or now.flash_attn != then.flash_attn
