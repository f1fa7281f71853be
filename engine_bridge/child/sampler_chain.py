"""llama.cpp samplers in a row; part of the facade."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

from engine_bridge.child.llama import LIB, Context, Model

# What ``sample`` brings where no token can follow.
NOTHING_FITS = -1


class SamplerChain:
    """llama.cpp samplers in a row.

    Attributes:
        dead_end: Sentence why nothing fits, where the text cannot simply be complete.
    """

    dead_end = ""

    def __init__(self) -> None:
        """Start empty."""
        params = LIB.llama_sampler_chain_default_params()
        params.no_perf = True
        self._chain = LIB.llama_sampler_chain_init(params)

    def add(self, kind: str, *arguments: float) -> None:
        """Append ``llama_sampler_init_<kind>(*arguments)``."""
        make = getattr(LIB, f"llama_sampler_init_{kind}")
        LIB.llama_sampler_chain_add(self._chain, make(*arguments))

    def add_bias(self, vocab: int, biases: Mapping[int, float]) -> None:
        """Append a sampler that adds ``biases`` to the scores of tokens; -inf forbids one."""
        array = (LIB.llama_logit_bias * len(biases))()
        for entry, (token, bias) in zip(array, biases.items(), strict=True):
            entry.token, entry.bias = token, bias
        sampler = LIB.llama_sampler_init_logit_bias(vocab, len(biases), array)
        LIB.llama_sampler_chain_add(self._chain, sampler)

    def add_dry(
        self,
        model: Model,
        strength: tuple[float, float],
        allowed_tok: int,
        last_n_tok: int,
        breakers: Sequence[str],
    ) -> None:
        """Append DRY.

        Args:
            model: For the tokens of ``breakers``.
            strength: Multiplier and base.
            allowed_tok: Tokens that may be repeated.
            last_n_tok: Tokens looked at.
            breakers: Texts at which a repetition ends.
        """
        raw = [breaker.encode() for breaker in breakers]
        texts = (ctypes.c_char_p * len(raw))(*raw)
        sampler = LIB.llama_sampler_init_dry(
            LIB.llama_model_get_vocab(model.handle),
            *strength,
            allowed_tok,
            last_n_tok,
            texts,
            len(raw),
        )
        LIB.llama_sampler_chain_add(self._chain, sampler)

    def accept(self, tokens: Sequence[int]) -> None:
        """Tell the samplers that ``tokens`` are part of the text."""
        for token in tokens:
            LIB.llama_sampler_accept(self._chain, token)

    def sample(self, context: Context, index: int) -> int:
        """Draw from the logits of batch token ``index`` and accept what was drawn.

        Returns:
            The token, ``NOTHING_FITS`` where none can follow.
        """
        return int(LIB.llama_sampler_sample(self._chain, context.handle, index))

    def close(self) -> None:
        """Free the samplers."""
        if self._chain is not None:
            LIB.llama_sampler_free(self._chain)
            self._chain = None
