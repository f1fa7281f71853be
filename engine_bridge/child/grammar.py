"""A grammar that answers must follow: made once a configuration, followed by each stream.

llama.cpp ends its process where a grammar is told of a token that it does not allow, so it is
always asked first. Part of the facade.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.candidates import Candidates
from engine_bridge.child.llama import LIB, Context, Model
from engine_bridge.child.sampler_chain import NOTHING_FITS, SamplerChain
from engine_bridge.settings import gbnf, json_schema
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem

_DEAD_END = (
    "The grammar allows no token that could follow here, so the answer stops. It may ask for "
    "characters that this model cannot write."
)

# A call into llama.cpp cannot be interrupted, so a grammar that takes so much processor time for
# one token is followed no further: the next one would take twice as long, or a thousand times.
_LONGEST_NS = 3_000_000_000
_TOO_SLOW = (
    "The text so far can be read in so many ways by the grammar that llama.cpp took seconds for "
    "one token, so the answer stops before it holds up the others. Write the grammar so that what "
    "is alike at the beginning of alternatives stands once."
)


class GrammarError(Exception):
    """A grammar or JSON schema that cannot be used.

    Attributes:
        problem: What is wrong with it.
    """

    def __init__(self, key: str, sentence: str) -> None:
        """The text of setting ``key`` is wrong in the way that ``sentence`` says."""
        super().__init__(sentence)
        self.problem = Problem((key,), sentence)


def source_of(config: EngineConfig) -> tuple[str, str]:
    """The grammar that answers must follow in GBNF, and the setting that it comes from.

    Returns:
        Two empty texts where answers are free.

    Raises:
        GrammarError: If it cannot be read; with the place.
    """
    if config.grammar:
        fault = gbnf.fault_in(config.grammar)
        if fault is not None:
            raise GrammarError("grammar", f"The grammar cannot be read. {fault}")
        return config.grammar, "grammar"
    if config.json_schema:
        fault = json_schema.fault_in(config.json_schema)
        if fault is not None:
            raise GrammarError("json_schema", f"The JSON schema cannot be followed. {fault}")
        return json_schema.grammar_of(config.json_schema), "json_schema"
    return "", ""


class Grammar:
    """What llama.cpp made of a grammar, at its beginning."""

    def __init__(self, config: EngineConfig, model: Model) -> None:
        """Read the grammar of ``config``, which has one.

        Raises:
            GrammarError: If it cannot be read.
        """
        text, key = source_of(config)
        vocabulary = LIB.llama_model_get_vocab(model.handle)
        self._sampler = LIB.llama_sampler_init_grammar(vocabulary, text.encode(), b"root")
        if not self._sampler:
            raise GrammarError(
                key,
                "llama.cpp cannot read the grammar. A token in '<' and '>' may be none of this "
                "model's.",
            )
        self.candidates = Candidates(model.vocab)

    def begun(self) -> Any:  # noqa: ANN401
        """A sampler that follows it from its beginning; it belongs to the caller."""
        return LIB.llama_sampler_clone(self._sampler)

    def close(self) -> None:
        """Free it; samplers that were begun go on."""
        if self._sampler:
            LIB.llama_sampler_free(self._sampler)
            self._sampler = None


class ConstrainedChain(SamplerChain):
    """Samplers whose choice a grammar confirms or overrules, as llama-server does it.

    The choice is first made freely: asking the grammar about one token costs nothing, about the
    whole vocabulary milliseconds.

    Attributes:
        candidates: Room for the scores.

    Args:
        sampler: Follows the grammar, up to the end of the text so far; freed with the chain.
        candidates: Chains that are used one after another may share them.
        model: For the tokens that end an answer.
        forbidden: Tokens that must not be drawn.
    """

    def __init__(
        self,
        sampler: Any,  # noqa: ANN401
        candidates: Candidates,
        model: Model,
        forbidden: NDArray[np.int64] | None,
    ) -> None:
        """Start without other samplers."""
        super().__init__()
        self._grammar = sampler
        self.candidates = candidates
        self._ends = np.array(sorted(model.eog), np.int64)
        self._forbidden = forbidden
        self._spent_ns = 0  # for the last token

    def sample(self, context: Context, index: int) -> int:
        """Draw from the logits of batch token ``index`` and accept what was drawn.

        Returns:
            The token, ``NOTHING_FITS`` where the grammar allows none or takes too long.
        """
        begin_ns = time.thread_time_ns()
        if self._spent_ns <= _LONGEST_NS:
            token = self._drawn(context, index)
            self._spent_ns = time.thread_time_ns() - begin_ns
            if token == NOTHING_FITS:
                return NOTHING_FITS
        if self._spent_ns > _LONGEST_NS:
            self.dead_end = _TOO_SLOW
            return NOTHING_FITS
        LIB.llama_sampler_accept(self._grammar, token)
        LIB.llama_sampler_accept(self._chain, token)
        self._spent_ns = time.thread_time_ns() - begin_ns
        return token

    def _drawn(self, context: Context, index: int) -> int:
        candidates = self.candidates
        candidates.fill(context, index)
        candidates.apply(self._chain)
        token = candidates.selected
        return token if self._allows(token) else self._drawn_from_allowed(context, index)

    def release_grammar(self) -> Any:  # noqa: ANN401
        """What follows the grammar, for another chain that goes on with the text."""
        sampler, self._grammar = self._grammar, None
        return sampler

    def close(self) -> None:
        """Free the samplers."""
        super().close()
        if self._grammar is not None:
            LIB.llama_sampler_free(self._grammar)
            self._grammar = None

    def _allows(self, token: int) -> bool:
        if token < 0:
            return False
        self.candidates.fill_one(token)
        self.candidates.apply(self._grammar, 1)
        return bool(self.candidates.tokens["logit"][0] > -np.inf)

    def _drawn_from_allowed(self, context: Context, index: int) -> int:
        candidates = self.candidates
        candidates.fill(context, index)
        candidates.apply(self._grammar)
        is_complete = not self._ends.size or bool(
            (candidates.tokens["logit"][self._ends] > -np.inf).any()
        )
        best = candidates.likeliest(self._forbidden)
        if best == NOTHING_FITS:
            self.dead_end = "" if is_complete else _DEAD_END
            return NOTHING_FITS
        candidates.apply(self._chain)
        token = candidates.selected
        # Samplers may be left with nothing but scores of minus infinity, and pick one of those.
        return token if self._allows(token) else best
