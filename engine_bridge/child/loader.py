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

from engine_bridge.child.llama import Context, LlamaError, LoadCancelledError, Model
from engine_bridge.child.measure import kv_reads_of, weight_reads_of
from engine_bridge.child.memory_check import memory_problem
from engine_bridge.child.prompts import PromptSource
from engine_bridge.child.stranger import Look, Stamp, stamp_of
from engine_bridge.child.threads import threads_problem
from engine_bridge.gguf_file import GgufError, GgufModel, read_model
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, errors_of

# Seconds between two events about a load's progress.
_PROGRESS_EVERY_S = 0.05


class CannotLoadError(Exception):
    """A load that does not come to its end.

    Attributes:
        problem: What is wrong, why and what to do.
        is_cancelled: Whether the user wanted it so.
    """

    def __init__(self, problem: Problem, *, is_cancelled: bool = False) -> None:
        """Give up for ``problem``."""
        super().__init__(problem.message)
        self.problem = problem
        self.is_cancelled = is_cancelled


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

    def close(self) -> None:
        """Free context and weights."""
        self.context.close()
        self.model.close()


@dataclass(frozen=True)
class LoadEnded:
    """What a job hands to the loop: exactly one of ``loaded`` and ``failure``."""

    job: LoadJob
    loaded: Loaded | None = None
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

    Attributes:
        is_cancelled: Whether it was told to give up.
        is_started: Whether it has begun.
    """

    config: EngineConfig
    put: Callable[[LoadEnded | RoomWanted], None]
    on_progress: Callable[[float, str], None]
    is_cancelled: bool = False
    is_started: bool = False
    _running: MemoryPlan | None = None
    _proven: frozenset[Stamp] = frozenset()
    _look: Look = field(default_factory=Look)
    _room: threading.Event = field(default_factory=threading.Event)
    _told_s: float = 0.0

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
            self.put(LoadEnded(self, failure=failure))
        except Exception as error:
            traceback.print_exc()
            self.put(LoadEnded(self, failure=CannotLoadError(_own_fault(error))))
        else:
            self.put(LoadEnded(self, loaded=loaded))

    def _load(self) -> Loaded:
        begin_s = time.perf_counter()
        self._tell(0.0, "Reading the header")
        gguf = read_checked(self.config)
        stamp = self._make_sure_of_file(gguf.facts)
        self._make_sure_of_memory(gguf)
        model = self._load_weights(gguf.facts)
        context: Context | None = None
        try:
            self._tell(1.0, "Making the context")
            context = make_context(model, self.config)
            self._tell(1.0, "Warming up")
            context.warm_up()
            self._stop_if_cancelled()
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
            )
        except BaseException:
            if context is not None:
                context.close()
            model.close()
            raise

    def _make_sure_of_file(self, facts: ModelFacts) -> Stamp:
        """Have a stranger tried elsewhere while a model runs here, which it could take along."""
        try:
            stamp = stamp_of(facts.path)
        except OSError as error:
            raise CannotLoadError(
                Problem(("model_path",), f"{Path(facts.path).name} cannot be read: {error}.")
            ) from None
        if self._running is not None and stamp not in self._proven:
            self._tell(0.0, "Trying the file")
            problem = self._look.problem_of(self.config)
            self._stop_if_cancelled()
            if problem is not None:
                raise CannotLoadError(problem)
        return stamp

    def _make_sure_of_memory(self, gguf: GgufModel) -> None:
        """Refuse what can never fit; where only both together do not, let the old one go."""
        problem = memory_problem(gguf.facts, self.config, self._running)
        if problem is not None:
            raise CannotLoadError(problem)
        self._stop_if_cancelled()
        if self._running is None or memory_problem(gguf.facts, self.config, None) is None:
            return
        self._tell(0.0, "Making room")
        self.put(RoomWanted(self))
        self._room.wait()
        self._stop_if_cancelled()

    def _load_weights(self, facts: ModelFacts) -> Model:
        try:
            return Model.load(facts.path, self.config, on_progress=self._on_weights)
        except LoadCancelledError:
            raise _cancelled() from None
        except LlamaError as error:
            raise CannotLoadError(_refused_model(facts, error)) from None

    def _on_weights(self, fraction: float) -> bool:
        self._tell(fraction, "Loading weights")
        return not self.is_cancelled

    def _stop_if_cancelled(self) -> None:
        if self.is_cancelled:
            raise _cancelled()

    def _tell(self, fraction: float, stage: str) -> None:
        if self.is_cancelled:
            return  # it is answered already
        now_s = time.perf_counter()
        if stage != "Loading weights" or now_s - self._told_s >= _PROGRESS_EVERY_S:
            self._told_s = now_s
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
    except GgufError as error:
        raise CannotLoadError(Problem(("model_path",), str(error))) from None
    problem = rule_problem(config, gguf.facts)
    if problem is not None:
        raise CannotLoadError(problem)
    return gguf


def rule_problem(config: EngineConfig, facts: ModelFacts) -> Problem | None:
    """The first rule that ``config`` breaks on this model and this machine, or None."""
    return next(iter(errors_of(config, facts)), None) or threads_problem(config)


def make_context(model: Model, config: EngineConfig) -> Context:
    """A context for ``config``, whose rules were checked.

    Raises:
        CannotLoadError: If llama.cpp refuses; with its words.
    """
    try:
        return Context.create(model, config)
    except LlamaError as error:
        raise CannotLoadError(
            Problem(
                ("ctx_per_slot_tok", "slots", "cache_type_k", "cache_type_v", "flash_attn"),
                f"llama.cpp could not make this context: {error} Choose a smaller context, fewer "
                "slots or a smaller cache type.",
            )
        ) from None


def _refused_model(facts: ModelFacts, error: LlamaError) -> Problem:
    name, said = Path(facts.path).name, str(error).rstrip(".")
    if "unknown model architecture" in said:
        text = (
            f"This build of llama.cpp does not know the architecture {facts.architecture!r} of "
            f"{name}. Choose another model, or update TuneDeck's llama-cpp-python."
        )
    else:
        text = (
            f"llama.cpp cannot load {name}: {said}. Download the file again, or choose another "
            "model."
        )
    return Problem(("model_path",), text)


def _cancelled() -> CannotLoadError:
    return CannotLoadError(Problem(("model_path",), "The load was cancelled."), is_cancelled=True)


def _own_fault(error: Exception) -> Problem:
    return Problem(
        ("model_path",),
        f"The load failed by a fault of TuneDeck ({type(error).__name__}: {error}). The engine's "
        "output has the details; please report them.",
    )
