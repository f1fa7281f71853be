"""Memory of a model that no engine has loaded, asked of a process that may die of it.

A file from anywhere can make the library abort; the process that asks it here is thrown away.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from engine_bridge.gguf_window import shown_name
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.own_failure import innocent_sentence, last_words
from engine_bridge.settings.config import EngineConfig

# A dry model of 200 layers takes half a second, its largest allowed context one more.
_TIMEOUT_S = 60.0


class PlanningError(RuntimeError):
    """No plan can be had; the message is a sentence for the user."""


class PlanAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the throwaway process answers: a plan with the model's facts, or a sentence."""

    plan: MemoryPlan
    model: ModelFacts | None = None


class PlanRefusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why there is no plan."""

    error: str


def plan_in_throwaway_process(
    config: EngineConfig, running: MemoryPlan | None = None
) -> PlanAnswer:
    """Plan ``config`` for its model in a process of its own.

    Args:
        config: What to plan.
        running: What an engine occupies now and would give back for it; None if none does.

    Raises:
        PlanningError: If the file is no model, or the process died or took over a minute.
    """
    command = [sys.executable, "-m", "engine_bridge.child.plan_once"]
    environment = os.environ | {"GGML_NO_BACKTRACE": "1"}
    try:
        done = subprocess.run(
            command,
            input=msgspec.json.encode({"config": config, "running": running, "with_ways": True}),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            env=environment,
            cwd=Path(__file__).resolve().parents[1],
        )
    except subprocess.TimeoutExpired:
        raise PlanningError(
            f"Planning {config.model_path} took over {_TIMEOUT_S:.0f} s and was given up; "
            "the file may be damaged."
        ) from None
    return _answer_of(done, config)


def _answer_of(done: subprocess.CompletedProcess[bytes], config: EngineConfig) -> PlanAnswer:
    try:
        return msgspec.json.decode(done.stdout, type=PlanAnswer)
    except msgspec.DecodeError:
        pass
    try:
        raise PlanningError(msgspec.json.decode(done.stdout, type=PlanRefusal).error)
    except msgspec.DecodeError:
        name = shown_name(config.model_path)
        if sentence := innocent_sentence(done.returncode, done.stderr, name):
            raise PlanningError(sentence) from None
        said = last_words(done.stderr.decode(errors="replace"))
        raise PlanningError(
            f"llama.cpp ended (status {done.returncode}) while it looked at {config.model_path}; "
            f"the file may be damaged or of an unsupported kind.{said}"
        ) from None
