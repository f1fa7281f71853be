"""What a configuration would occupy: the engine's own answer, without allocating anything.

Knows rules, room and repairs; the pretended load is ``dry_model``'s, its moment is
``planner_thread``'s.
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from engine_bridge.child.allocated import memory_now
from engine_bridge.child.breakdown import NotSupportedError
from engine_bridge.child.dry_model import DryModel
from engine_bridge.child.llama import LlamaError
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.gguf_file import GgufError, GgufModel, read_model
from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import CONTEXT_PAD_TOK, EngineConfig, pad_context_tok
from engine_bridge.settings.row import Applies
from engine_bridge.settings.rules import Problem, Severity, errors_of, problems_of
from engine_bridge.settings.table import SETTINGS

# How a file is read does not change what a pretended load finds.
_NO_PLACEMENT = ("model_path", "load_mode")
_PLACEMENT_KEYS = tuple(
    s.key for s in SETTINGS if s.applies is Applies.RELOAD and s.key not in _NO_PLACEMENT
)
# A context below this is no repair; another one is offered instead.
_LEAST_CTX_TOK = 512
_REPAIR_RUNS = 4


class PlanRefusedError(Exception):
    """No plan can be made.

    Attributes:
        problem: What is wrong, why and what to do.
    """

    def __init__(self, problem: Problem) -> None:
        """Refuse for ``problem``."""
        super().__init__(problem.message)
        self.problem = problem


class Planner:
    """Keeps one dry model and asks it for contexts. For one thread; close it there."""

    def __init__(self) -> None:
        """Know no model yet."""
        self._gguf: GgufModel | None = None
        self._file_key: tuple[object, ...] = ()
        self._dry: DryModel | None = None
        self._dry_key: tuple[object, ...] = ()

    def close(self) -> None:
        """Let go of the dry model."""
        if self._dry is not None:
            self._dry.close()
        self._dry, self._dry_key = None, ()

    def facts(self, path: str) -> ModelFacts:
        """Facts of the model at ``path``, read again only if the file changed.

        Raises:
            PlanRefusedError: If it is no model.
        """
        return self._read(path).facts

    def plan(self, config: EngineConfig, running: MemoryPlan | None = None) -> MemoryPlan:
        """Plan ``config``.

        A configuration that breaks a rule is not tried, since the engine might abort: its plan has
        no bytes, does not fit and names the rules.

        Args:
            config: Any configuration.
            running: What the engine occupies now and would give back; None if nothing runs.

        Raises:
            PlanRefusedError: If the file is no model, or the engine refuses it.
        """
        begin_s = time.perf_counter()
        gguf = self._read(config.model_path)
        problems = problems_of(config, gguf.facts)
        if errors_of(config, gguf.facts):
            seconds = time.perf_counter() - begin_s
            return MemoryPlan(BytesByUse(), (), None, False, problems, seconds)
        room = Room(memory_now(), running)
        shape, effective = self._run(gguf, config, room.memory)
        short = problem_of_room(shape, room, config)
        if short is not None:
            fix = self._repair(gguf, config, shape, room)
            problems = _with_first(problems, msgspec.structs.replace(short, fix=fix))
        seconds = time.perf_counter() - begin_s
        return MemoryPlan(shape.bytes, shape.devices, effective, short is None, problems, seconds)

    def _read(self, path: str) -> GgufModel:
        key: tuple[object, ...] = (path,)
        try:
            status = Path(path).stat()
            key = (path, status.st_mtime_ns, status.st_size)
        except (OSError, ValueError):
            pass  # reading the file says what is wrong with it
        if self._gguf is None or key != self._file_key:
            self.close()
            try:
                self._gguf, self._file_key = read_model(path), key
            except GgufError as error:
                self._gguf = None
                raise PlanRefusedError(Problem(("model_path",), str(error))) from None
        return self._gguf

    def _run(
        self, gguf: GgufModel, config: EngineConfig, memory: tuple[DeviceFacts, ...]
    ) -> tuple[MemoryShape, EffectiveConfig]:
        try:
            return self._dry_model(gguf, config).run(config, memory)
        except LlamaError as error:
            raise PlanRefusedError(
                Problem(
                    ("model_path",),
                    f"llama.cpp refuses {gguf.facts.name} with these settings: {error} "
                    "Undo the last change, or choose another model.",
                )
            ) from None
        except NotSupportedError as error:
            raise PlanRefusedError(Problem(("model_path",), str(error))) from None

    def _dry_model(self, gguf: GgufModel, config: EngineConfig) -> DryModel:
        key = (self._file_key, *(getattr(config, name) for name in _PLACEMENT_KEYS))
        if self._dry is None or key != self._dry_key:
            self.close()
            self._dry, self._dry_key = DryModel(gguf, config), key
        return self._dry

    def _repair(
        self, gguf: GgufModel, config: EngineConfig, shape: MemoryShape, room: Room
    ) -> dict[str, int | float | str | bool]:
        """The largest context that fits, tried out; else fewer layers on the boards, untried."""
        tried = [(_ctx_of(config), shape)]
        for _ in range(_REPAIR_RUNS):
            tokens = _useful(room.tokens_that_fit(tried), config, gguf.facts)
            if tokens < _LEAST_CTX_TOK or tokens == tried[-1][0]:
                break
            fix = _ctx_fix(config, tokens)
            candidate = config.with_values(dict(fix))
            if errors_of(candidate, gguf.facts):
                break
            shape, _ = self._run(gguf, candidate, room.memory)
            if problem_of_room(shape, room, candidate) is None:
                return fix
            tried.append((tokens, shape))
        shape = tried[0][1]
        layers = room.layers_that_fit(shape, gguf.facts.layers)
        return {} if layers is None else {"n_gpu_layers": layers}


def _useful(tokens: int, config: EngineConfig, facts: ModelFacts) -> int:
    """``tokens`` rounded down to what llama.cpp makes contexts of, and to what a slot can use."""
    trained = pad_context_tok(facts.ctx_train_tok) or tokens
    most = trained * config.slots if _has_own_pool_size(config) else trained
    return min(tokens, most) // CONTEXT_PAD_TOK * CONTEXT_PAD_TOK


def _has_own_pool_size(config: EngineConfig) -> bool:
    return config.kv_unified and config.ctx_total_tok != "auto"


def _ctx_of(config: EngineConfig) -> int:
    """The number that makes the pool larger or smaller."""
    return config.pool_tok if _has_own_pool_size(config) else config.ctx_per_slot_tok


def _ctx_fix(config: EngineConfig, tokens: int) -> dict[str, int | float | str | bool]:
    return {"ctx_total_tok" if _has_own_pool_size(config) else "ctx_per_slot_tok": tokens}


def _with_first(problems: tuple[Problem, ...], new: Problem) -> tuple[Problem, ...]:
    """Problems with ``new`` among them, errors first."""
    return tuple(sorted((new, *problems), key=lambda p: p.severity is Severity.WARNING))
