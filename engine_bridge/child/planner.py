"""What a configuration would occupy: the engine's own answer, without allocating anything.

Knows rules, room and repairs; the pretended load is ``dry_model``'s, its moment is
``planner_thread``'s.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import msgspec

from engine_bridge.child.allocated import memory_now
from engine_bridge.child.breakdown import NotSupportedError
from engine_bridge.child.draft_model import DraftCheck, as_draft_problem, unreadable_draft
from engine_bridge.child.kept_model import KeptModel
from engine_bridge.child.llama import LlamaError
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.gguf_file import GgufError, GgufModel
from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import CONTEXT_PAD_TOK, EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import Problem, Severity, errors_of, problems_of

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


class _Pair(NamedTuple):
    """A target, and the draft model that is to draft for it."""

    target: GgufModel
    draft: GgufModel | None


class Planner:
    """Keeps dry models and asks them for contexts. For one thread; close it there."""

    def __init__(self) -> None:
        """Know no model yet."""
        self._target = KeptModel()
        self._draft = KeptModel()
        self._draft_check = DraftCheck()

    def close(self) -> None:
        """Let go of the dry models."""
        self._target.close()
        self._draft.close()

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
        draft, refused = self._read_draft(config, gguf.facts)
        if refused is not None:
            problems = _with_first(problems, refused)
        if refused is not None or errors_of(config, gguf.facts):
            seconds = time.perf_counter() - begin_s
            return MemoryPlan(BytesByUse(), (), None, False, problems, seconds)
        room = Room(memory_now(), running)
        pair = _Pair(gguf, draft)
        shape, effective = self._run(pair, config, room.memory)
        short = problem_of_room(shape, room, config)
        if short is not None:
            fix = self._repair(pair, config, shape, room)
            problems = _with_first(problems, msgspec.structs.replace(short, fix=fix))
        seconds = time.perf_counter() - begin_s
        return MemoryPlan(shape.bytes, shape.devices, effective, short is None, problems, seconds)

    def _read(self, path: str) -> GgufModel:
        try:
            return self._target.read(path)
        except GgufError as error:
            raise PlanRefusedError(Problem(("model_path",), str(error))) from None

    def _read_draft(
        self, config: EngineConfig, target: ModelFacts
    ) -> tuple[GgufModel | None, Problem | None]:
        """The draft model of ``config`` if it has one, and why it must not draft."""
        if config.draft is None:
            self._draft.close()
            return None, None
        try:
            gguf = self._draft.read(config.draft_model_path)
        except GgufError as error:
            return None, unreadable_draft(config, error)
        return gguf, self._draft_check.problem(config, target, gguf.facts)

    def _run(
        self, pair: _Pair, config: EngineConfig, memory: tuple[DeviceFacts, ...]
    ) -> tuple[MemoryShape, EffectiveConfig]:
        shape, effective = _asked(self._target, pair.target, config, memory)
        if config.draft is None or pair.draft is None:
            return shape, effective
        try:
            drafts, _ = _asked(self._draft, pair.draft, config.draft, ())
        except PlanRefusedError as error:
            raise PlanRefusedError(as_draft_problem(error.problem, config)) from None
        return shape.with_draft(drafts), effective

    def _repair(
        self, pair: _Pair, config: EngineConfig, shape: MemoryShape, room: Room
    ) -> dict[str, Value]:
        """The largest context that fits, tried out; else fewer layers on the boards, untried."""
        facts = pair.target.facts
        tried = [(_ctx_of(config), shape)]
        for _ in range(_REPAIR_RUNS):
            tokens = _useful(room.tokens_that_fit(tried), config, facts)
            if tokens < _LEAST_CTX_TOK or tokens == tried[-1][0]:
                break
            fix = _ctx_fix(config, tokens)
            candidate = config.with_values(dict(fix))
            if errors_of(candidate, facts):
                break
            shape, _ = self._run(pair, candidate, room.memory)
            if problem_of_room(shape, room, candidate) is None:
                return fix
            tried.append((tokens, shape))
        shape = tried[0][1]
        layers = room.layers_that_fit(shape, facts.layers)
        return {} if layers is None else {"n_gpu_layers": layers}


def _asked(
    model: KeptModel, gguf: GgufModel, config: EngineConfig, memory: tuple[DeviceFacts, ...]
) -> tuple[MemoryShape, EffectiveConfig]:
    """What ``config`` would take on one model.

    Raises:
        PlanRefusedError: If the engine refuses it.
    """
    try:
        return model.run(gguf, config, memory)
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


def _ctx_fix(config: EngineConfig, tokens: int) -> dict[str, Value]:
    return {"ctx_total_tok" if _has_own_pool_size(config) else "ctx_per_slot_tok": tokens}


def _with_first(problems: tuple[Problem, ...], new: Problem) -> tuple[Problem, ...]:
    """Problems with ``new`` among them, errors first."""
    return tuple(sorted((new, *problems), key=lambda p: p.severity is Severity.WARNING))
