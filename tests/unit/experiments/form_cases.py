"""Forms as somebody fills them in, for an engine that runs a small model."""

from __future__ import annotations

import msgspec

from app.experiment_estimate import Engine
from app.experiment_reading import Situation
from engine_bridge.metrics.observations import RunSettings
from engine_bridge.metrics.prediction import Predictor
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import model_facts
from widgets.experiments.form_values import AxisValues, FormValues

RUNNING = EngineConfig(model_path="/m.gguf", slots=2, ctx_per_slot_tok=4096)


def form(
    kind: str, *, source: str = "chat", axes: tuple[str, ...] = (), **texts: str
) -> FormValues:
    """A form; ``axes`` are ``slots=1,2``."""
    parts = [axis.partition("=") for axis in axes]
    return FormValues(
        kind, source, texts, tuple(AxisValues(key, values) for key, _, values in parts)
    )


def situation(
    running: EngineConfig | None = RUNNING,
    predictor: Predictor | None = None,
    **wanted: object,
) -> Situation:
    """The engine runs ``running``; the tune column stands at that but for ``wanted``."""
    base = running or RUNNING
    engine = Engine(predictor, RunSettings(2, 2, 512, flash_attn=True), base.slots)
    return Situation(
        running, msgspec.structs.replace(base, **wanted), model=model_facts(), engine=engine,
        why_no_replay="Nothing was asked in “Chat 1”, so nothing can be replayed.",
    )  # fmt: skip
