"""Two contexts on one loaded model that read the same tokens.

Knows what a comparison takes of a configuration and how much memory; what is read, and what is
made of it, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Context, LlamaError, Model
from engine_bridge.child.load_faults import CannotLoadError, refused_model, without_vocabulary
from engine_bridge.child.loader import read_checked
from engine_bridge.child.lora import apply_adapters, load_adapters
from engine_bridge.child.memory_check import check_memory
from engine_bridge.child.rule_check import rule_problem
from engine_bridge.child.scoring_context import scoring_context
from engine_bridge.hardware.memory_limit import host_memory
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import CONTEXT_PAD_TOK, EngineConfig
from engine_bridge.settings.domain import Value

BATCH_TOK = 512
"""Tokens of a step: with chunks of 512 the shape that llama-perplexity has with ``-b 512``. Other
shapes round otherwise, and that alone moves the divergence."""
# Rows of logits a step, 155 MB in each context with 152,000 tokens in the vocabulary; fewer where
# it is larger than any that is known.
_ROWS_MOST = 256
_LOGITS_MOST = 80 << 20
_VALUE_BYTES = 4
# Each of two contexts keeps them where they are computed and where they are handed out.
_COPIES = 4
_GIB = 1 << 30


class QualityError(Exception):
    """The comparison cannot be made; the message is a sentence for the user."""


class ContextPair:
    """The base and the candidate, one sequence each. Close it before its model.

    Attributes:
        base: The context compared with.
        candidate: The other one.
        rows_most: Rows of logits a step may have.
    """

    def __init__(self, model: Model, base: EngineConfig, candidate: EngineConfig) -> None:
        """Make both.

        Raises:
            QualityError: If there is no memory for them, or llama.cpp refuses one.
        """
        self.rows_most = max(1, min(_ROWS_MOST, _LOGITS_MOST // model.vocab))
        _refuse_without_room(model, self.rows_most)
        self.base = _context(model, base, self.rows_most, "base")
        try:
            self.candidate = _context(model, candidate, self.rows_most, "candidate")
        except QualityError:
            self.base.close()
            raise
        self._batch = self.base.new_batch(BATCH_TOK)

    def close(self) -> None:
        """Free both."""
        self.candidate.close()
        self.base.close()

    def clear(self) -> None:
        """Forget what was read."""
        self.base.clear()
        self.candidate.clear()

    def read(
        self, tokens: Sequence[int], begin: int, wanted: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute some tokens in both.

        Args:
            tokens: At most ``BATCH_TOK``.
            begin: Position of the first.
            wanted: How many of the last give logits, at most ``rows_most``.

        Returns:
            The logits of base and candidate, (wanted, vocab); views, valid until the next step.

        Raises:
            QualityError: If llama.cpp cannot compute it.
        """
        self._fill(tokens, begin, wanted)
        return self._step(self.base, len(tokens), wanted), self._step(
            self.candidate, len(tokens), wanted
        )

    def read_alone(self, context: Context, token: int, position: int) -> NDArray[np.float32]:
        """Compute one token in one of the two; its logits, (1, vocab), once they are there.

        Raises:
            QualityError: If llama.cpp cannot compute it.
        """
        self._fill([token], position, 1)
        return self._step(context, 1, 1)

    def read_without_logits(
        self, tokens: Sequence[int], on_step: Callable[[int], None] = lambda _: None
    ) -> None:
        """Compute any number of tokens from position 0 on, in both.

        Args:
            tokens: What to compute.
            on_step: Told after each step how many tokens it was.

        Raises:
            QualityError: If llama.cpp cannot compute it.
        """
        for begin in range(0, len(tokens), BATCH_TOK):
            part = tokens[begin : begin + BATCH_TOK]
            self.read(part, begin, 0)
            on_step(len(part))

    def _fill(self, tokens: Sequence[int], begin: int, wanted: int) -> None:
        count, batch = len(tokens), self._batch
        batch.token[:count] = tokens
        batch.pos[:count] = range(begin, begin + count)
        batch.wants_logits[:count] = 0
        batch.wants_logits[count - wanted : count] = 1

    def _step(self, context: Context, count: int, wanted: int) -> NDArray[np.float32]:
        code = context.decode(self._batch, count)
        if code:
            raise QualityError(
                f"llama.cpp could not compute a step of {count:,} tokens (code {code}); its lines "
                "above say more. Try fewer tokens a chunk."
            )
        return context.logits()[:wanted] if wanted else np.empty((0, 0), np.float32)


@contextmanager
def loaded_model(config: EngineConfig, tell: Callable[[float], None]) -> Iterator[Model]:
    """The model of ``config``, which is freed at the end.

    Args:
        config: The base, see ``comparing_config``.
        tell: Told how far the load is, 0 to 1.

    Raises:
        CannotLoadError: If a rule is broken, memory does not suffice or llama.cpp refuses it.
    """
    gguf = read_checked(config)
    _refuse_longer_than_trained(gguf.facts, config)
    checked = check_memory(gguf.facts, config, None)
    if checked.problem is not None:
        raise CannotLoadError(checked.problem)

    def progressed(fraction: float) -> bool:
        tell(fraction)
        return True

    try:
        placed = checked.placed.applied_to(config)
        model = Model.load(gguf.facts.path, placed, on_progress=progressed)
    except LlamaError as error:
        raise CannotLoadError(refused_model(gguf.facts, error), fault=error.fault) from None
    try:
        if not model.has_vocabulary:
            raise CannotLoadError(without_vocabulary(gguf.facts))
        load_adapters(model, config)
        yield model
    finally:
        model.close()


def refuse_broken_rules(config: EngineConfig, facts: ModelFacts) -> None:
    """Refuse a candidate that llama.cpp would refuse or abort at.

    Raises:
        CannotLoadError: With the rule's reason.
    """
    problem = rule_problem(config, facts)
    if problem is not None:
        raise CannotLoadError(problem)


def comparing_config(config: EngineConfig, ctx_tok: int) -> EngineConfig:
    """``config`` with what a comparison needs: one sequence of ``ctx_tok``, and no drafts.

    Args:
        config: As the user has it.
        ctx_tok: Tokens that are read at most.
    """
    values: dict[str, Value] = {
        "slots": 1,
        "kv_unified": False,
        "ctx_total_tok": "auto",
        "ctx_per_slot_tok": max(CONTEXT_PAD_TOK, ctx_tok),
        "batch_tok": BATCH_TOK,
        "ubatch_tok": min(BATCH_TOK, config.ubatch_tok),
        "spec_types": (),
        "draft_model_path": "",
        "context_shift": False,
        "mmproj_path": "",
    }
    return config.with_values(dict(values))


def _refuse_longer_than_trained(facts: ModelFacts, config: EngineConfig) -> None:
    if 0 < facts.ctx_train_tok < config.ctx_per_slot_tok:
        raise QualityError(
            f"The model was trained for {facts.ctx_train_tok:,} tokens; what it says behind them "
            f"tells nothing of a cache. Read at most {facts.ctx_train_tok:,} tokens at once."
        )


def _refuse_without_room(model: Model, rows: int) -> None:
    """Logits are what a comparison needs beyond a context for chatting; they lie in host memory."""
    needed = _COPIES * _VALUE_BYTES * rows * model.vocab
    free = host_memory().free
    if needed > free:
        raise QualityError(
            f"Comparing takes {needed / _GIB:.1f} GiB of memory for the logits of {rows} tokens "
            f"beside the model, and {free / _GIB:.1f} GiB are free. Close other programs."
        )


def _context(model: Model, config: EngineConfig, rows: int, name: str) -> Context:
    try:
        context = scoring_context(model, config, rows)
    except LlamaError as error:
        raise QualityError(
            f"llama.cpp could not make the context of the {name} "
            f"({config.cache_type_k}/{config.cache_type_v}): {error}"
        ) from None
    apply_adapters(context, config)
    return context
