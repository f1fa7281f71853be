"""Which token comes next: llama-server's sampler chain, or the likeliest token at once.

Knows the order and defaults of llama-server's samplers; must not know requests or slots.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine_bridge.child.llama import Model, SamplerChain
from engine_bridge.settings.config import EngineConfig

# llama.cpp draws a random seed for this value (LLAMA_DEFAULT_SEED).
_RANDOM_SEED = 0xFFFF_FFFF


def has_penalties(config: EngineConfig) -> bool:
    """Whether earlier tokens change the scores."""
    return config.repeat_last_n_tok != 0 and (
        config.repeat_penalty != 1.0
        or config.presence_penalty != 0.0
        or config.frequency_penalty != 0.0
    )


def is_greedy(config: EngineConfig) -> bool:
    """Whether the answer is simply the likeliest token, so that no chain is needed."""
    return config.temperature <= 0.0 and not has_penalties(config)


def make_chain(
    config: EngineConfig, model: Model, banned: Sequence[int], history: Sequence[int]
) -> SamplerChain:
    """The chain that llama-server builds for ``config``.

    Its order is penalties, DRY, top-n-sigma, top-k, typical, top-p, min-p, XTC, temperature,
    draw; those without a setting here are off by default and change nothing.

    Args:
        config: The sampling settings.
        model: For the vocabulary's size.
        banned: Tokens that must not be drawn.
        history: The text so far; the penalties look at its end.
    """
    chain = SamplerChain()
    if banned:
        chain.add_ban(model.vocab, banned)
    if has_penalties(config):
        chain.add(
            "penalties",
            model.vocab,
            config.repeat_last_n_tok,
            config.repeat_penalty,
            config.frequency_penalty,
            config.presence_penalty,
        )
    chain.add("top_k", config.top_k)
    chain.add("top_p", config.top_p, 0)
    chain.add("min_p", config.min_p, 0)
    chain.add("temp_ext", config.temperature, 0.0, 1.0)
    chain.add("dist", config.seed if config.seed >= 0 else _RANDOM_SEED)
    if has_penalties(config):
        chain.accept(history[-config.repeat_last_n_tok :])
    return chain
