"""One form being read: the situation it is filled in for, its settings and its workload.

Pure but for the user's own text, which is read: not for the GUI thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.experiment_estimate import Engine
from app.experiment_fields import Fields, FormError
from app.experiment_request import Request
from app.experiments.lengths import lengths_of
from app.experiments.presets import preset_workload
from app.experiments.scripting import sample_text
from app.experiments.workload import LIMIT_USERS, Workload
from app.experiments.workload_words import changed, workload_of
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of
from widgets.experiments.form_fields import BY_NAME, SOURCE
from widgets.experiments.form_values import CONVERSATION, FILE

WANTED, RUNNING = "wanted", "running"
NO_MODEL = "No model is loaded. Choose one first; an experiment measures the model that runs."
_DAY_S = 86_400.0
_LIMIT_REQUESTS = 100_000


@dataclass(frozen=True)
class Situation:
    """What the form is filled in for.

    Attributes:
        running: What the engine runs; None without a model.
        wanted: What the tune column stands at.
        model: Facts of the model that runs.
        memory: What it occupies.
        engine: What is known of how fast it is; None without a model.
        replay: The conversation in front as a workload of one user; None where it is none.
        why_no_replay: Why it is none, in a sentence.
    """

    running: EngineConfig | None
    wanted: EngineConfig
    model: ModelFacts | None = None
    memory: MemoryPlan | None = None
    engine: Engine | None = None
    replay: Workload | None = None
    why_no_replay: str = ""


@dataclass(frozen=True)
class Checked:
    """A form that can be started.

    Attributes:
        request: What it asks for.
        estimate: How long it takes, a sentence; may be empty.
        notes: Sentences beside fields.
    """

    request: Request
    estimate: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


class Reading:
    """One form being read."""

    def __init__(self, fields: Fields, situation: Situation) -> None:
        """Read ``fields`` for ``situation``."""
        self.fields = fields
        self.situation = situation

    @property
    def running(self) -> EngineConfig:
        """What the engine runs."""
        assert self.situation.running is not None
        return self.situation.running

    def config(self) -> EngineConfig:
        """The settings to measure, which must keep the rules."""
        is_wanted = self.fields.text("settings") == WANTED
        return self.allowed(self.situation.wanted if is_wanted else self.running, "settings")

    def allowed(self, config: EngineConfig, name: str) -> EngineConfig:
        """``config``, which must keep the rules; what it breaks is told at ``name``."""
        if broken := errors_of(config, self.situation.model):
            raise FormError({name: broken[0].message})
        return config

    def workload(self, *, users: int | None = None) -> Workload:
        """What is run; ``users`` go before those typed."""
        fields = self.fields
        changes = {} if users is None else {"users": str(users)}
        for name, most in (("users", LIMIT_USERS), ("requests", _LIMIT_REQUESTS)):
            number = fields.whole(name, 0, 1, most)
            if number:
                changes.setdefault(name, str(number))
        if limit := fields.limit("ttft_slo_s", _DAY_S):
            changes["ttft_slo_s"] = limit
        if limit := fields.limit("tpot_slo_ms", _DAY_S * 1000):
            is_none = limit == "none"
            changes["tpot_slo_s"] = limit if is_none else f"{float(limit) / 1000:.6g}"
        for name in ("prompt_tok", "answer_tok"):
            if text := fields.text(name):
                with fields.at(name):
                    lengths_of(BY_NAME[name].label, text)
                changes[name] = text
        fields.refuse()
        with fields.at(SOURCE):
            workload = changed(self._base(), [f"{key}={text}" for key, text in changes.items()])
            sample_text(workload)
        return workload

    def _base(self) -> Workload:
        source = self.fields.values.source
        if source == CONVERSATION:
            if self.situation.replay is None:
                raise FormError({SOURCE: self.situation.why_no_replay})
            return self.situation.replay
        if source != FILE:
            return preset_workload(source)
        path = self.fields.values.text("path")
        if not path:
            raise FormError({SOURCE: "Choose a text file, a workload or an exported conversation."})
        if path.lower().endswith(".json"):
            return workload_of([path])
        return workload_of(["chat", f"text_path={path}", f"name={_one_word(path)}"])


def _one_word(path: str) -> str:
    """A workload's name from that of its file."""
    return "-".join(Path(path).stem.split()) or "text"
