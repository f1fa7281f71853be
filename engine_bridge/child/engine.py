"""A loaded model at work: its context, its streams, and what it occupies.

Knows how a change is applied; must not know commands, loading or the pipe.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from engine_bridge.child.allocated import allocated
from engine_bridge.child.auto_placement import Placed, told_of
from engine_bridge.child.batcher import Batcher
from engine_bridge.child.carried import Carried
from engine_bridge.child.contexts import make_contexts, make_draft_context
from engine_bridge.child.draft_model import DraftModel
from engine_bridge.child.host_room import host_caches_of
from engine_bridge.child.llama import Context, can_measure_memory
from engine_bridge.child.load_faults import CannotLoadError
from engine_bridge.child.loader import Loaded
from engine_bridge.child.logged_memory import memory_from_log
from engine_bridge.child.lora import apply_adapters
from engine_bridge.child.measure import StepMeter, kv_reads_of
from engine_bridge.child.memory_check import check_memory, with_way_out
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.rule_check import rule_problem
from engine_bridge.child.sampling import sampling_problem
from engine_bridge.child.threads import threads_of
from engine_bridge.gguf_file import GgufError, guess_reads, read_tensors
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.metrics.roofline import attention_of
from engine_bridge.protocol import Event
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import keeps_context
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


class WeightsMoveError(Exception):
    """The change fits only with the weights placed otherwise, which takes a load."""


class Engine:
    """One model with one context at a time, and its draft model where it has one.

    Attributes:
        config: What runs.
        facts: The model.
        source: What the model contributes to prompts.
        batcher: The streams.
        memory: What is allocated.
        stamp: What tells whether the model's file is still the same one.
        draft: Its draft model, None without one.
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
        self.draft = loaded.draft
        self._placed = loaded.placed
        meter = StepMeter(loaded.weights, loaded.kv, clock())
        meter.attention = attention_of(loaded.facts)
        meter.draft = self._draft_reads()
        self.batcher = Batcher(
            loaded.context,
            loaded.config,
            meter,
            emit,
            clock,
            draft_context=self._draft_context(),
        )
        self.memory = self._measured(loaded.seconds)

    def apply_live(self, config: EngineConfig, seconds: float) -> None:
        """Change what needs no new context.

        Raises:
            CannotLoadError: If a rule is broken; the engine goes on with what it had.
        """
        problem = rule_problem(config, self.facts) or sampling_problem(config, self._model)
        if problem is not None:
            raise CannotLoadError(problem)
        for context in self._contexts():
            context.set_threads(*threads_of(config))
        if config.lora != self.config.lora:
            apply_adapters(self._context, config)
            self.batcher.forget_computed(config)
        self.batcher.set_live(config)
        self.config = config
        self.memory = self._measured(seconds)

    def apply_context(
        self, config: EngineConfig, clock: Callable[[], int], new_draft: DraftModel | None = None
    ) -> None:
        """Replace the context; weights stay, and what the slots hold where its cells are alike.

        The old one is freed first: both at once may not fit. It is built again if the new one
        cannot be had. Where only the draft model's would be another, only that is replaced.

        Args:
            config: What to run.
            clock: Time in nanoseconds.
            new_draft: A draft model that was loaded for ``config``; None keeps the one that is
                there, as far as ``config`` drafts with one. It belongs to the engine once this
                returns.

        Raises:
            CannotLoadError: If the change is refused; the engine goes on with what it had.
            EngineLostError: If then the old context cannot be had either.
            WeightsMoveError: If it takes a load; nothing has changed then.
        """
        begin_ns = clock()
        draft = new_draft or (self.draft if config.draft is not None else None)
        placed = self._check(config, draft)
        old_draft = self.draft
        if old_draft is not None:
            old_draft.drop_context()
        if keeps_context(self.config, config):
            self._replace_draft_context(config, draft)
        else:
            self._replace_contexts(config, draft)
        if old_draft is not None and old_draft is not draft:
            old_draft.close()
        self._placed = placed
        self.memory = self._measured((clock() - begin_ns) / 1e9)

    def _check(self, config: EngineConfig, draft: DraftModel | None) -> Placed:
        """Where the layers of ``config`` lie, which are those that are loaded."""
        problem = rule_problem(config, self.facts) or sampling_problem(config, self._model)
        if problem is not None:
            raise CannotLoadError(problem)
        draft_facts = None if draft is None else draft.facts
        checked = check_memory(self.facts, config, self.memory, draft_facts, keeps_model=True)
        kept = self.batcher.reuse.cache
        if checked.problem is not None and kept.bytes:
            memory = msgspec.structs.replace(self.memory, host_kept=kept.bytes)
            checked = check_memory(self.facts, config, memory, draft_facts, keeps_model=True)
            if checked.problem is None:
                kept.drop_all()
        if checked.problem is not None:
            raise CannotLoadError(checked.problem)
        if checked.moves_weights:
            raise WeightsMoveError
        return checked.placed

    def _replace_contexts(self, config: EngineConfig, draft: DraftModel | None) -> None:
        carried = self.batcher.packed()
        self._context.close()
        try:
            context = make_contexts(self._model, config, draft)
        except CannotLoadError as failure:
            self._go_on_with(self._old_context(), self.config, carried)
            raise with_way_out(failure, config, self.memory) from None
        self.draft = draft
        self._go_on_with(context, config, carried)

    def _replace_draft_context(self, config: EngineConfig, draft: DraftModel | None) -> None:
        """Leave the model's own context with all it holds as it is."""
        try:
            if draft is not None and config.draft is not None:
                make_draft_context(draft, config.draft)
        except CannotLoadError as error:
            self._go_back_to_old_draft(error)
            raise with_way_out(error, config, self.memory) from None
        self.draft = draft
        self._draft_with(config)
        self.apply_live(config, 0.0)

    def _go_back_to_old_draft(self, error: CannotLoadError) -> None:
        if self.draft is not None and self.config.draft is not None:
            try:
                make_draft_context(self.draft, self.config.draft)
            except CannotLoadError:
                raise _lost(error) from None
        self._draft_with(self.config)

    def _draft_with(self, config: EngineConfig) -> None:
        self.batcher.meter.draft = self._draft_reads()
        self.batcher.set_draft(config, self._draft_context())

    @property
    def paths(self) -> tuple[str, ...]:
        """Files of the models that run, as the configuration names them."""
        draft = self.config.draft
        return (self.config.model_path, *([] if draft is None else [draft.model_path]))

    def close(self) -> None:
        """Free everything."""
        self.batcher.close()
        self._context.close()
        if self.draft is not None:
            self.draft.close()
        self._model.close()

    def _old_context(self) -> Context:
        try:
            return make_contexts(self._model, self.config, self.draft)
        except CannotLoadError as error:
            raise _lost(error) from None

    def _go_on_with(self, context: Context, config: EngineConfig, carried: Carried) -> None:
        context.warm_up()
        self._context, self.config = context, config
        self.batcher.meter.kv = kv_reads_of(context.log, self._model.window_tok)
        self.batcher.meter.draft = self._draft_reads()
        self.batcher.move_to(context, config, self._draft_context(), carried)

    def _draft_context(self) -> Context | None:
        return None if self.draft is None else self.draft.context

    def _draft_reads(self) -> tuple[WeightReads, KvReads] | None:
        """What a step reads of whatever model drafts; None where none does."""
        mtp = self._context.mtp
        if mtp is None:
            return None if self.draft is None else self.draft.reads
        try:
            facts = self.facts if self.draft is None else self.draft.facts
            weights = guess_reads(read_tensors(facts.path), facts)
        except GgufError:  # the file went away after it was loaded: a figure less
            return None
        return weights, kv_reads_of(mtp.log, self._model.window_tok)

    def _contexts(self) -> tuple[Context, ...]:
        contexts = (self._context, self._context.mtp, self._draft_context())
        return tuple(context for context in contexts if context is not None)

    def _measured(self, seconds: float) -> MemoryPlan:
        draft = self._draft_context()
        if not can_measure_memory():
            return memory_from_log(self._context, self.config, seconds, draft)
        states = self._context.sequences * (1 + self._context.rollback_tok)
        state = self.batcher.meter.kv.state_bytes * states
        memory = allocated(self._context, self.config, seconds, round(state), draft)
        assert memory.effective is not None
        effective = told_of(memory.effective, self._placed)
        shape = MemoryShape(memory.bytes, memory.devices)
        caches = host_caches_of(self.facts, self.config, shape)
        read = self.batcher.meter.weights.read_bytes
        return msgspec.structs.replace(
            memory, effective=effective, host_caches=caches, weights_read=round(read)
        )


def _lost(error: CannotLoadError) -> EngineLostError:
    return EngineLostError(
        Problem(
            error.problem.keys,
            "The new context could not be made, and neither could the old one again: "
            f"{error} Load the model again with a smaller context.",
        )
    )
