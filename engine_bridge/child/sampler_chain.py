"""llama.cpp samplers in a row; part of the facade."""

from __future__ import annotations

from collections.abc import Sequence

from engine_bridge.child.llama import LIB, Context


class SamplerChain:
    """llama.cpp samplers in a row."""

    def __init__(self) -> None:
        """Start empty."""
        params = LIB.llama_sampler_chain_default_params()
        params.no_perf = True
        self._chain = LIB.llama_sampler_chain_init(params)

    def add(self, kind: str, *arguments: float) -> None:
        """Append ``llama_sampler_init_<kind>(*arguments)``."""
        make = getattr(LIB, f"llama_sampler_init_{kind}")
        LIB.llama_sampler_chain_add(self._chain, make(*arguments))

    def add_ban(self, vocab: int, tokens: Sequence[int]) -> None:
        """Append a sampler that never lets ``tokens`` be drawn."""
        biases = (LIB.llama_logit_bias * len(tokens))()
        for bias, token in zip(biases, tokens, strict=True):
            bias.token, bias.bias = token, -float("inf")
        sampler = LIB.llama_sampler_init_logit_bias(vocab, len(tokens), biases)
        LIB.llama_sampler_chain_add(self._chain, sampler)

    def accept(self, tokens: Sequence[int]) -> None:
        """Tell the samplers that ``tokens`` are part of the text."""
        for token in tokens:
            LIB.llama_sampler_accept(self._chain, token)

    def sample(self, context: Context, index: int) -> int:
        """Draw from the logits of batch token ``index`` and accept what was drawn."""
        return int(LIB.llama_sampler_sample(self._chain, context.handle, index))

    def close(self) -> None:
        """Free the samplers."""
        if self._chain is not None:
            LIB.llama_sampler_free(self._chain)
            self._chain = None
