"""A loaded model at work: its context, its streams, and what it occupies.

Knows how a change is applied; must not know commands, loading or the pipe.
"""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.child.allocated import allocated
from engine_bridge.child.batcher import Batcher
from engine_bridge.child.llama import Context, can_measure_memory
from engine_bridge.child.loader import CannotLoadError, Loaded, make_context, rule_problem
from engine_bridge.child.logged_memory import memory_from_log
from engine_bridge.child.measure import StepMeter, kv_reads_of
from engine_bridge.child.memory_check import memory_problem
from engine_bridge.child.threads import threads_of
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import Event
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem


class EngineLostError(Exception):
    """No context can be had any more, not even the old one.

    Attributes:
        problem: What happened and what to do.
    """

    def __init__(self, problem: Problem) -> None:
        """Lost for ``problem``."""
        super().__init__(problem.message)
        self.problem = problem


class Engine:
    """One model with one context at a time.

    Attributes:
        config: What runs.
        facts: The model.
        source: What the model contributes to prompts.
        batcher: The streams.
        memory: What is allocated.
        stamp: What tells whether the model's file is still the same one.
    """

    def __init__(
        self, loaded: Loaded, emit: Callable[[Event], None], clock: Callable[[], int]
    ) -> None:
        """Take over what was loaded."""
        self.config = loaded.config
        self.facts = loaded.facts
        self.source = loaded.source
        self.stamp = loaded.stamp
        self._model = loaded.model
        self._context = loaded.context
        meter = StepMeter(loaded.weights, loaded.kv, clock())
        self.batcher = Batcher(loaded.context, loaded.config, meter, emit, clock)
        self.memory = self._measured(loaded.seconds)

    def apply_live(self, config: EngineConfig, seconds: float) -> None:
        """Change what needs no new context.

        Raises:
            CannotLoadError: If a rule is broken; the engine goes on with what it had.
        """
        problem = rule_problem(config, self.facts)
        if problem is not None:
            raise CannotLoadError(problem)
        self._context.set_threads(*threads_of(config))
        self.batcher.set_live(config)
        self.config = config
        self.memory = self._measured(seconds)

    def apply_context(self, config: EngineConfig, clock: Callable[[], int]) -> None:
        """Replace the context; weights stay, running streams compute their text again.

        The old one is freed first: both at once may not fit. It is built again if the new one
        cannot be had.

        Raises:
            CannotLoadError: If the change is refused; the engine goes on with what it had.
            EngineLostError: If then the old context cannot be had either.
        """
        begin_ns = clock()
        problem = rule_problem(config, self.facts) or memory_problem(
            self.facts, config, self.memory
        )
        if problem is not None:
            raise CannotLoadError(problem)
        self._context.close()
        try:
            context = make_context(self._model, config)
        except CannotLoadError:
            self._go_on_with(self._old_context(), self.config)
            raise
        self._go_on_with(context, config)
        self.memory = self._measured((clock() - begin_ns) / 1e9)

    def close(self) -> None:
        """Free everything."""
        self.batcher.close()
        self._context.close()
        self._model.close()

    def _old_context(self) -> Context:
        try:
            return make_context(self._model, self.config)
        except CannotLoadError as error:
            raise EngineLostError(
                Problem(
                    error.problem.keys,
                    "The new context could not be made, and neither could the old one again: "
                    f"{error} Load the model again with a smaller context.",
                )
            ) from None

    def _go_on_with(self, context: Context, config: EngineConfig) -> None:
        context.warm_up()
        self._context, self.config = context, config
        self.batcher.meter.kv = kv_reads_of(context.log, self._model.window_tok)
        self.batcher.move_to(context, config)

    def _measured(self, seconds: float) -> MemoryPlan:
        if not can_measure_memory():
            return memory_from_log(self._context, self.config, seconds)
        state = self.batcher.meter.kv.state_bytes * self._context.sequences
        return allocated(self._context, self.config, seconds, round(state))
