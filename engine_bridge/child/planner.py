"""What a configuration would occupy: the engine's own answer, without allocating anything.

Knows rules, room and repairs; the pretended load is ``dry_model``'s, its moment is
``planner_thread``'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from engine_bridge.child.allocated import memory_now
from engine_bridge.child.auto_placement import Placed, kept_placement, place, told_of
from engine_bridge.child.breakdown import NotSupportedError
from engine_bridge.child.draft_model import DraftCheck, as_draft_problem, unreadable_draft
from engine_bridge.child.files_beside import files_problems
from engine_bridge.child.fit_search import NoTrialError
from engine_bridge.child.host_room import host_caches_of
from engine_bridge.child.kept_model import KeptModel
from engine_bridge.child.llama import GGML, LlamaError
from engine_bridge.child.memory_failure import failure_problem, room_after
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.placement_check import layers_left_out, placement_problem
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.child.room_search import room_beside
from engine_bridge.child.smaller import nearest_that_fits, ways_that_fit
from engine_bridge.gguf_file import GgufError, GgufModel, refuse_drafter
from engine_bridge.host_caches import drafting_bytes
from engine_bridge.memory_fault import MemoryFault
from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.memory_room import RoomFigures
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import Problem, Severity, errors_of, problems_of


class PlanRefusedError(Exception):
    """No plan can be made.

    Attributes:
        problem: What is wrong, why and what to do.
    """

    def __init__(self, problem: Problem) -> None:
        """Refuse for ``problem``."""
        super().__init__(problem.message)
        self.problem = problem


class OutdatedError(Exception):
    """Nobody waits for this plan any more."""


class _Pair(NamedTuple):
    """A target, and the draft model that is to draft for it."""

    target: GgufModel
    draft: GgufModel | None


class Planner:
    """Keeps dry models and asks them for contexts. For one thread; close it there."""

    def __init__(
        self,
        memory: Callable[[], tuple[DeviceFacts, ...]] | None = None,
        is_outdated: Callable[[], bool] = lambda: False,
    ) -> None:
        """Know no model yet.

        Args:
            memory: Devices with their free memory at that moment; by default the machine's.
            is_outdated: Whether nobody waits for the answer any more; asked between dry runs of a
                search.
        """
        self._memory = memory
        self._is_outdated = is_outdated
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

    def plan(
        self,
        config: EngineConfig,
        running: MemoryPlan | None = None,
        *,
        keeps_model: bool = False,
        failed: MemoryFault | None = None,
        with_ways: bool = False,
        is_draft: bool = False,
    ) -> MemoryPlan:
        """Plan ``config``.

        A configuration that breaks a rule, or names devices that are not there, is not tried, since
        the engine might abort: its plan has no bytes, does not fit and names the reasons.

        Args:
            config: Any configuration.
            running: What the engine occupies now and would give back; None if nothing runs.
            keeps_model: The weights that run stay where they are, as long as that fits.
            failed: The allocation that really failed with ``config``: then the plan does not fit,
                whatever the devices say, and tells what would.
            with_ways: Tell of all changes with which it would fit, not of the nearest alone.
            is_draft: It is a draft model's own configuration (``EngineConfig.draft``).

        Raises:
            PlanRefusedError: If the file is no model, or the engine refuses it.
            OutdatedError: If nobody waits for the answer any more.
        """
        begin_s = time.perf_counter()
        pair, problems = self._checked(config, is_draft=is_draft)
        if any(problem.severity is Severity.ERROR for problem in problems):
            seconds = time.perf_counter() - begin_s
            return MemoryPlan(BytesByUse(), (), None, False, problems, seconds)
        room = self._room(config, running)
        kept = running if keeps_model else None
        placed, shape, effective = self._placed(pair, config, room, kept)
        wanted = placed.applied_to(config)
        if failed is None:
            short = problem_of_room(shape, room, wanted)
        else:
            short = failure_problem(failed, shape, room, wanted)
            room = room_after(failed, shape, room)
        ways: tuple[dict[str, Value], ...] = ()
        if short is not None:
            ways = self._ways(pair, wanted, room, only_nearest=not with_ways)
            fix = ways[0] if ways else {}
            problems = _with_first(problems, msgspec.structs.replace(short, fix=fix))
        effective = told_of(effective, placed)
        left_out = None if is_draft else layers_left_out(config, effective)
        problems = problems if left_out is None else (*problems, left_out)
        seconds = time.perf_counter() - begin_s
        return MemoryPlan(
            bytes=shape.bytes,
            devices=shape.devices,
            effective=effective,
            fits=short is None,
            problems=problems,
            seconds=seconds,
            ways=ways if with_ways else (),
            host_caches=host_caches_of(pair.target.facts, wanted, shape),
        )

    def room(
        self,
        config: EngineConfig,
        running: MemoryPlan | None = None,
        *,
        keeps_model: bool = False,
        pause: Callable[[], None] = lambda: None,
    ) -> RoomFigures:
        """What fits beside ``config``, with its layers where they are placed now.

        Args:
            config: Any configuration.
            running: What the engine occupies now and would give back; None if nothing runs.
            keeps_model: The weights that run stay where they are, as long as that fits.
            pause: Called before each dry run of the search.

        Raises:
            PlanRefusedError: If a rule is broken, the file is no model, or the engine refuses it.
            OutdatedError: If nobody waits for the answer any more.
        """
        begin_s = time.perf_counter()
        pair, problems = self._checked(config)
        broken = next((one for one in problems if one.severity is Severity.ERROR), None)
        if broken is not None:
            raise PlanRefusedError(broken)
        room = self._room(config, running)
        placed, _, _ = self._placed(pair, config, room, running if keeps_model else None)
        runs = 0

        def tried(candidate: EngineConfig) -> MemoryShape:
            nonlocal runs
            pause()
            runs += 1
            return self._tried(pair, candidate, room)

        slots, ctx, coarse = room_beside(placed.applied_to(config), pair.target.facts, room, tried)
        return RoomFigures(slots, ctx, coarse, time.perf_counter() - begin_s, runs)

    def _checked(
        self, config: EngineConfig, *, is_draft: bool = False
    ) -> tuple[_Pair, tuple[Problem, ...]]:
        """The models of ``config``, and all that is wrong with it before any dry run."""
        gguf = self._read(config.model_path, is_draft=is_draft)
        problems = problems_of(config, gguf.facts)
        draft, refused = self._read_draft(config, gguf.facts)
        if refused is not None:
            problems = _with_first(problems, refused)
        for missing in _missing(config, gguf.facts):
            problems = _with_first(problems, missing)
        return _Pair(gguf, draft), problems

    def _room(self, config: EngineConfig, running: MemoryPlan | None) -> Room:
        memory = memory_now() if self._memory is None else self._memory()
        return Room(memory, running, config.fit_margin_mib)

    def _placed(
        self, pair: _Pair, config: EngineConfig, room: Room, kept: MemoryPlan | None
    ) -> tuple[Placed, MemoryShape, EffectiveConfig]:
        """Where the layers go: where they are, if that fits, else where they fit best."""
        facts = pair.target.facts

        def tried(candidate: EngineConfig) -> MemoryShape:
            self._stop_if_outdated()
            return self._run(pair, candidate, room.memory)[0]

        if kept is not None and kept.effective is not None and kept.effective.placed:
            placed = kept_placement(kept.effective, config)
            placed = placed.with_more(place(placed.applied_to(config), facts, room, tried))
            shape, effective = self._run(pair, placed.applied_to(config), room.memory)
            if not room.is_any_board_short(shape):
                return placed, shape, effective
        placed = place(config, facts, room, tried)
        shape, effective = self._run(pair, placed.applied_to(config), room.memory)
        return placed, shape, effective

    def _read(self, path: str, *, is_draft: bool = False) -> GgufModel:
        try:
            gguf = self._target.read(path)
            if not is_draft:
                refuse_drafter(gguf.facts)
        except GgufError as error:
            raise PlanRefusedError(Problem(("model_path",), str(error))) from None
        return gguf

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
        drafting = drafting_bytes(config, shape.bytes.recurrent)
        if config.draft is None or pair.draft is None:
            return shape.with_drafting(drafting), effective
        try:
            drafts, _ = _asked(self._draft, pair.draft, config.draft, ())
        except PlanRefusedError as error:
            raise PlanRefusedError(as_draft_problem(error.problem, config)) from None
        return shape.with_draft(drafts).with_drafting(drafting), effective

    def _ways(
        self, pair: _Pair, config: EngineConfig, room: Room, *, only_nearest: bool
    ) -> tuple[dict[str, Value], ...]:
        """Changes with which ``config`` fits; none where the search was given up."""

        def tried(candidate: EngineConfig) -> MemoryShape:
            return self._tried(pair, candidate, room)

        facts = pair.target.facts
        try:
            if not only_nearest:
                return ways_that_fit(config, facts, room, tried)
            nearest = nearest_that_fits(config, facts, room, tried)
        except OutdatedError:
            return ()
        return (nearest,) if nearest else ()

    def _tried(self, pair: _Pair, candidate: EngineConfig, room: Room) -> MemoryShape:
        """A dry run of a search, which goes on where the engine refuses one of them."""
        self._stop_if_outdated()
        try:
            return self._run(pair, candidate, room.memory)[0]
        except PlanRefusedError as error:
            raise NoTrialError from error

    def _stop_if_outdated(self) -> None:
        if self._is_outdated():
            raise OutdatedError


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
                f"llama.cpp refuses {gguf.facts.name} with these settings: "
                f"{str(error).rstrip('.')}. Undo the last change, or choose another model.",
            )
        ) from None
    except NotSupportedError as error:
        raise PlanRefusedError(Problem(("model_path",), str(error))) from None


def _missing(config: EngineConfig, facts: ModelFacts) -> tuple[Problem, ...]:
    """What is not there: an adapter, a worker, a device; each told, whatever else is wrong.

    Workers and devices are asked only for what keeps all rules.
    """
    broken = errors_of(config, facts)
    told = {key for problem in broken for key in problem.keys}
    missing = [one for one in files_problems(config, facts) if told.isdisjoint(one.keys)]
    placement = None if broken else placement_problem(config, GGML)
    return tuple(missing if placement is None else [placement, *missing])


def _with_first(problems: tuple[Problem, ...], new: Problem) -> tuple[Problem, ...]:
    """Problems with ``new`` among them, errors first."""
    return tuple(sorted((new, *problems), key=lambda p: p.severity is Severity.WARNING))
