"""Loading a model on a thread of its own, so that the running one goes on meanwhile.

Knows what is checked before a load and what can fail; must not know requests or the pipe.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from engine_bridge.child.auto_placement import Placed
from engine_bridge.child.contexts import make_contexts
from engine_bridge.child.draft_model import DraftModel, read_draft
from engine_bridge.child.llama import GGML, Context, LlamaError, LoadCancelledError, Model
from engine_bridge.child.load_faults import (
    CannotLoadError,
    cancelled,
    of_the_draft,
    own_fault,
    refused_model,
    without_vocabulary,
)
from engine_bridge.child.measure import kv_reads_of, weight_reads_of
from engine_bridge.child.memory_check import check_memory, with_way_out
from engine_bridge.child.placement_check import placement_problem
from engine_bridge.child.planner import OutdatedError
from engine_bridge.child.prompts import PromptSource
from engine_bridge.child.rule_check import rule_problem
from engine_bridge.child.speculation.lookup_files import Checked, checked_counts
from engine_bridge.child.stranger import Look, Stamp, stamp_of
from engine_bridge.gguf_file import GgufError, GgufModel, read_model, refuse_drafter
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem

# Seconds between two events about a load's progress.
_PROGRESS_EVERY_S = 0.05
_STAGE, _DRAFT_STAGE = "Loading weights", "Loading the draft model"


@dataclass
class Loaded:
    """A model ready to run.

    Attributes:
        config: What it was loaded for.
        facts: What its header says.
        model: Weights.
        context: Context on them.
        source: What it contributes to prompts.
        weights: What a step reads of it.
        kv: What a stream reads of its caches.
        seconds: How long the load took.
        stamp: What tells whether the file is still the same one.
        draft: Its draft model with a context, None without one.
        placed: What became of the layers that were left to ``auto``.
    """

    config: EngineConfig
    facts: ModelFacts
    model: Model
    context: Context
    source: PromptSource
    weights: WeightReads
    kv: KvReads
    seconds: float
    stamp: Stamp
    draft: DraftModel | None = None
    placed: Placed = field(default_factory=Placed)

    def close(self) -> None:
        """Free contexts and weights."""
        self.context.close()
        if self.draft is not None:
            self.draft.close()
        self.model.close()


@dataclass(frozen=True)
class LoadEnded:
    """What a job hands to the loop: exactly one of ``loaded`` and ``failure``.

    A draft model alone is loaded for the model that runs.
    """

    job: LoadJob
    loaded: Loaded | DraftModel | None = None
    failure: CannotLoadError | None = None


@dataclass(frozen=True)
class RoomWanted:
    """A job waits until the running model is gone, since there is no memory for both."""

    job: LoadJob


@dataclass(eq=False)
class LoadJob:
    """One load, from ``start`` under way on a thread of its own.

    Args:
        config: What to load.
        put: Takes ``RoomWanted`` and ``LoadEnded``; called on the job's thread.
        on_progress: Takes the fraction (0 to 1) and the stage; called on the job's thread.
        keeps_model: Whether the model that runs stays, so that a draft model alone is to be loaded
            (where memory has room for it beside all that runs).

    Attributes:
        is_cancelled: Whether it was told to give up.
        is_started: Whether it has begun.
    """

    config: EngineConfig
    put: Callable[[LoadEnded | RoomWanted], None]
    on_progress: Callable[[float, str], None]
    keeps_model: bool = False
    is_cancelled: bool = False
    is_started: bool = False
    _running: MemoryPlan | None = None
    _proven: frozenset[Stamp] = frozenset()
    _placed: Placed = field(default_factory=Placed)
    _look: Look = field(default_factory=Look)
    _room: threading.Event = field(default_factory=threading.Event)
    _counts: Checked = field(default_factory=Checked)
    _told_s: float = 0.0
    _told_stage: str = ""

    def start(self, running: MemoryPlan | None, proven: frozenset[Stamp]) -> None:
        """Begin.

        Args:
            running: What the running model occupies, None if there is none.
            proven: Files that were loaded before without harm.
        """
        self._running, self._proven = running, proven
        self.is_started = True
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Give up at the next opportunity; from any thread."""
        self.is_cancelled = True
        self._look.stop()
        self._room.set()

    def give_room(self) -> None:
        """The running model is gone."""
        self._room.set()

    def join(self) -> None:
        """Wait for the thread."""
        self._thread.join()

    def _run(self) -> None:
        try:
            loaded = self._load()
        except CannotLoadError as failure:
            self.put(LoadEnded(self, failure=self._explained(failure)))
        except Exception as error:
            traceback.print_exc()
            self.put(LoadEnded(self, failure=CannotLoadError(own_fault(error))))
        else:
            self.put(LoadEnded(self, loaded=loaded))

    def _load(self) -> Loaded | DraftModel:
        begin_s = time.perf_counter()
        self._tell(0.0, "Reading the header")
        gguf = read_checked(self.config)
        # Held as long as this job: on the loop's thread the engine takes them over.
        self._counts = checked_counts(self.config, gguf.facts)
        if self._counts.problem is not None:
            raise CannotLoadError(self._counts.problem)
        draft = self._read_draft(gguf.facts)
        stamp = self._make_sure_of_file(gguf.facts, self.config)
        draft_stamp = None if draft is None else self._make_sure_of_draft(draft.facts)
        self._make_sure_of_memory(gguf.facts, None if draft is None else draft.facts)

        def load() -> Loaded | DraftModel:
            if draft is not None and draft_stamp is not None and self._has_target:
                return self._load_draft(draft, draft_stamp, of_all=0.0)
            return self._load_all(gguf, stamp, draft, draft_stamp, begin_s)

        try:
            return load()
        except CannotLoadError as failure:
            if failure.fault is None or self._running is None:
                raise
        # Beside the running model there was less room than it seemed; without it there is more.
        self._make_room()
        return load()

    def _load_all(
        self,
        gguf: GgufModel,
        stamp: Stamp,
        draft: GgufModel | None,
        draft_stamp: Stamp | None,
        begin_s: float,
    ) -> Loaded:
        share = _share(gguf.facts, draft)
        model = self._load_weights(gguf.facts, share)
        context: Context | None = None
        draft_model: DraftModel | None = None
        try:
            if draft is not None and draft_stamp is not None:
                draft_model = self._load_draft(draft, draft_stamp, of_all=share)
            self._tell(1.0, "Making the context")
            context = make_contexts(model, self.config, draft_model)
            self._tell(1.0, "Warming up")
            context.warm_up()
            self._stop_ifcancelled()
            return Loaded(
                config=self.config,
                facts=gguf.facts,
                model=model,
                context=context,
                source=PromptSource(model),
                weights=weight_reads_of(gguf),
                kv=kv_reads_of(context.log, model.window_tok),
                seconds=time.perf_counter() - begin_s,
                stamp=stamp,
                draft=draft_model,
                placed=self._placed,
            )
        except BaseException:
            if context is not None:
                context.close()
            if draft_model is not None:
                draft_model.close()
            model.close()
            raise

    def _explained(self, failure: CannotLoadError) -> CannotLoadError:
        """``failure``, and where memory was its reason what would fit."""
        if failure.fault is None:
            return failure
        running = self._running
        return with_way_out(failure, self.config, running, is_outdated=lambda: self.is_cancelled)

    @property
    def _has_target(self) -> bool:
        """Whether the model that is to run is there already."""
        return self.keeps_model and self._running is not None

    def _read_draft(self, target: ModelFacts) -> GgufModel | None:
        draft, problem = read_draft(self.config, target)
        if problem is not None:
            raise CannotLoadError(problem)
        return draft

    def _make_sure_of_file(self, facts: ModelFacts, config: EngineConfig) -> Stamp:
        """Have a stranger tried elsewhere while a model runs here, which it could take along."""
        try:
            stamp = stamp_of(facts.path)
        except OSError as error:
            raise CannotLoadError(
                Problem(("model_path",), f"{Path(facts.path).name} cannot be read: {error}.")
            ) from None
        if self._running is not None and (config.override_kv or stamp not in self._proven):
            self._tell(0.0, "Trying the file")
            problem = self._look.problem_of(config)
            self._stop_ifcancelled()
            if problem is not None:
                raise CannotLoadError(problem)
        return stamp

    def _make_sure_of_draft(self, facts: ModelFacts) -> Stamp:
        assert self.config.draft is not None
        try:
            return self._make_sure_of_file(facts, self.config.draft)
        except CannotLoadError as error:
            raise of_the_draft(error, self.config) from None

    def _make_sure_of_memory(self, facts: ModelFacts, draft: ModelFacts | None) -> None:
        """Refuse what can never fit; where only both together do not, let the old one go."""
        try:
            checked = check_memory(
                facts,
                self.config,
                self._running,
                draft,
                keeps_model=self._has_target,
                is_outdated=lambda: self.is_cancelled,
            )
        except OutdatedError:
            raise cancelled() from None
        if checked.problem is not None:
            raise CannotLoadError(checked.problem)
        self._placed = checked.placed
        if checked.moves_weights:
            self.keeps_model = False
        self._stop_ifcancelled()
        if self._running is None or self._fits_beside(facts, draft):
            return
        self._make_room()

    def _make_room(self) -> None:
        self._tell(0.0, "Making room")
        self.put(RoomWanted(self))
        self._room.wait()
        self._running = None
        self._stop_ifcancelled()

    def _fits_beside(self, facts: ModelFacts, draft: ModelFacts | None) -> bool:
        """Whether there is room for what is loaded beside all that runs."""
        config = self._placed_config
        if self._has_target and draft is not None and config.draft is not None:
            return check_memory(draft, config.draft, None, is_draft=True).problem is None
        return check_memory(facts, config, None, draft).problem is None

    @property
    def _placed_config(self) -> EngineConfig:
        """The configuration with numbers in place of what was left to ``auto``."""
        return self._placed.applied_to(self.config)

    def _load_weights(self, facts: ModelFacts, share: float) -> Model:
        """Load the target, which is ``share`` of the whole load."""
        try:
            model = Model.load(
                facts.path,
                self._placed_config,
                on_progress=lambda done: self._on_weights(share * done),
            )
        except LoadCancelledError:
            raise cancelled() from None
        except LlamaError as error:
            raise CannotLoadError(refused_model(facts, error), fault=error.fault) from None
        if not model.has_vocabulary:  # llama.cpp aborts when it is asked for a token's text
            model.close()
            raise CannotLoadError(without_vocabulary(facts))
        return model

    def _load_draft(self, draft: GgufModel, stamp: Stamp, of_all: float) -> DraftModel:
        """Load the draft model, ``of_all`` of the load done before it."""
        config = self._placed_config.draft
        assert config is not None
        facts = draft.facts

        def progressed(done: float) -> bool:
            return self._on_weights(of_all + (1.0 - of_all) * done, _DRAFT_STAGE)

        try:
            model = Model.load(facts.path, config, on_progress=progressed)
        except LoadCancelledError:
            raise cancelled() from None
        except LlamaError as error:
            refused = CannotLoadError(refused_model(facts, error), fault=error.fault)
            raise of_the_draft(refused, self.config) from None
        return DraftModel(facts, model, weight_reads_of(draft), stamp)

    def _on_weights(self, fraction: float, stage: str = _STAGE) -> bool:
        self._tell(fraction, stage)
        return not self.is_cancelled

    def _stop_ifcancelled(self) -> None:
        if self.is_cancelled:
            raise cancelled()

    def _tell(self, fraction: float, stage: str) -> None:
        if self.is_cancelled:
            return  # it is answered already
        now_s = time.perf_counter()
        if stage != self._told_stage or now_s - self._told_s >= _PROGRESS_EVERY_S:
            self._told_s, self._told_stage = now_s, stage
            self.on_progress(fraction, stage)


def read_checked(config: EngineConfig) -> GgufModel:
    """Read the header of ``config.model_path`` and check all rules against it.

    Raises:
        CannotLoadError: If it is no model, or a rule is broken.
    """
    if not config.model_path:
        raise CannotLoadError(
            Problem(("model_path",), "No model is chosen. Choose a GGUF file first.")
        )
    try:
        gguf = read_model(config.model_path)
        refuse_drafter(gguf.facts)
    except GgufError as error:
        raise CannotLoadError(Problem(("model_path",), str(error))) from None
    problem = rule_problem(config, gguf.facts) or placement_problem(config, GGML)
    if problem is not None:
        raise CannotLoadError(problem)
    return gguf


def _share(target: ModelFacts, draft: GgufModel | None) -> float:
    """The target's share of all bytes to load."""
    others = 0 if draft is None else draft.facts.tensor_bytes
    return target.tensor_bytes / max(1, target.tensor_bytes + others)
