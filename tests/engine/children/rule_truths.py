"""Tries every pair of cache types with every flash attention and split mode; it may abort.

``python -m tests.engine.children.rule_truths MODEL FIRST [ENDPOINT…]``, the endpoints of workers
that stand for boards. From the trial FIRST on it writes a line before each (its number) and one
after it: a ``Truth`` as JSON.
"""

from __future__ import annotations

import os
import sys
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np

from engine_bridge.child.llama import GGML, Context, LlamaError, Model
from engine_bridge.child.placement_check import placement_problem
from engine_bridge.gguf_file import read_model
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of

if sys.platform != "win32":
    import resource

_CPU_S = 120
_MEMORY_BYTES = 6 * 2**30
ABORTED = "aborted"
SPLIT_MODES = ("layer", "none", "row", "tensor")


class Trial(NamedTuple):
    """One combination."""

    split_mode: str
    cache_type_k: str
    cache_type_v: str
    flash_attn: str


TRIALS = tuple(
    Trial(*row) for row in product(SPLIT_MODES, CACHE_TYPES, CACHE_TYPES, ("auto", "on", "off"))
)


class Truth(msgspec.Struct, frozen=True):
    """What came of one trial.

    Attributes:
        ruled: What our rules say against it; the empty string for nothing.
        dry: What llama.cpp says where it only pretends, the empty string where it makes a context.
        computed: What it says where a few tokens are computed, None where that was not tried.
    """

    ruled: str
    dry: str
    computed: str | None


class Trials:
    """One model file, loaded as often as the split mode changes."""

    def __init__(self, path: str, endpoints: tuple[str, ...]) -> None:
        """Load nothing yet."""
        self._path = path
        self._endpoints = endpoints
        self._facts: ModelFacts = read_model(path).facts
        self._split_mode = ""
        self._dry: Model | str = ""
        self._loaded: Model | None = None

    def truth(self, trial: Trial) -> Truth:
        """Try one, in a process beside this one where llama.cpp does not look at the head."""
        config = self._config(trial)
        problems = errors_of(config, self._facts)
        problem = problems[0] if problems else placement_problem(config, GGML)
        ruled = "" if problem is None else problem.message
        if trial.split_mode != self._split_mode:
            self._load(config)
        block = CACHE_TYPES[trial.cache_type_k].block_values
        is_risky = trial.flash_attn == "off" and any(d % block for d in self._facts.head_dims_k)
        return self._beside(config, ruled) if is_risky else self._tried(config, ruled)

    def _beside(self, config: EngineConfig, ruled: str) -> Truth:
        if sys.platform == "win32":  # the one process ends then, and another follows
            return self._tried(config, ruled)
        reads, writes = os.pipe()
        process = os.fork()
        if not process:
            os.close(reads)
            os.write(writes, msgspec.json.encode(self._tried(config, ruled)))
            os._exit(0)
        os.close(writes)
        with os.fdopen(reads, "rb") as answers:
            answer = answers.read()
        os.waitpid(process, 0)
        return msgspec.json.decode(answer, type=Truth) if answer else Truth(ruled, ABORTED, ABORTED)

    def _tried(self, config: EngineConfig, ruled: str) -> Truth:
        if isinstance(self._dry, str):
            return Truth(ruled, self._dry, None)
        computed = None if self._loaded is None else _computed(self._loaded, config)
        return Truth(ruled, _said(self._dry, config), computed)

    def close(self) -> None:
        """Let go of the models."""
        for model in (self._dry, self._loaded):
            if isinstance(model, Model):
                model.close()

    def _load(self, config: EngineConfig) -> None:
        self.close()
        self._split_mode, self._loaded = config.split_mode, None
        try:
            self._dry = Model.load(self._path, config, no_alloc=True, quiet=True)
        except LlamaError as error:
            self._dry = str(error) or "refused"
            return
        # Without boards all split modes compute alike.
        if config.split_mode == "layer" and not self._endpoints:
            self._loaded = Model.load(self._path, config, quiet=True)

    def _config(self, trial: Trial) -> EngineConfig:
        return EngineConfig.from_values(
            {
                "model_path": self._path,
                "ctx_per_slot_tok": 256,
                "slots": 1,
                "batch_tok": 32,
                "ubatch_tok": 32,
                "threads": 1,
                "threads_batch": 1,
                "rpc_servers": self._endpoints,
                **trial._asdict(),
            }
        )


def _computed(model: Model, config: EngineConfig) -> str:
    """Words of the refusal; empty where a few tokens are computed."""
    try:
        context = Context.create(model, config, quiet=True)
    except LlamaError as error:
        return str(error) or "refused"
    try:
        batch = context.new_batch(4)
        batch.token[:], batch.pos[:] = (1, 300, 301, 302), range(4)
        batch.wants_logits[-1] = 1
        first = context.decode(batch, 4)
        batch.token[0], batch.pos[0], batch.wants_logits[0] = 303, 4, 1
        second = context.decode(batch, 1)
        if first or second or not np.isfinite(context.logits()[0]).all():
            return f"computed nothing ({first}, {second})"
    finally:
        context.close()
    return ""


def _said(model: Model, config: EngineConfig) -> str:
    try:
        Context.create(model, config, quiet=True).close()
    except LlamaError as error:
        return str(error) or "refused"
    return ""


def main(path: str, first: int, endpoints: tuple[str, ...]) -> None:
    """Try all from ``first`` on."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    GGML.use_workers(endpoints)
    trials = Trials(path, endpoints)
    for number in range(first, len(TRIALS)):
        print(number, flush=True)  # noqa: T201
        truth = trials.truth(TRIALS[number])
        print(msgspec.json.encode(truth).decode(), flush=True)  # noqa: T201
    trials.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), tuple(sys.argv[3:]))
