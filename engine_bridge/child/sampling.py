"""Which token comes next: llama-server's sampler chain, or the likeliest token at once.

Knows the order and defaults of llama-server's samplers; must not know steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine_bridge.child.llama import Model
from engine_bridge.child.sampler_chain import SamplerChain
from engine_bridge.child.stream import Stream
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS

# A change of anything else leaves running answers their samplers, random numbers included.
_KEYS = frozenset(s.key for s in SETTINGS if s.group is Group.SAMPLING) - {"max_new_tok"}
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


class Sampling:
    """How streams draw under one configuration.

    Attributes:
        is_greedy: Whether they take the likeliest token and need no chain.
    """

    def __init__(self, config: EngineConfig, model: Model) -> None:
        """Sample as ``config`` says."""
        self.is_greedy = is_greedy(config)
        self._config = config
        self._model = model

    def is_same_for(self, config: EngineConfig) -> bool:
        """Whether ``config`` samples just as this does."""
        return _KEYS.isdisjoint(config.changed_from(self._config))

    def equip(self, stream: Stream) -> None:
        """Give ``stream`` its samplers, and what it must not draw.

        Where the end of generation is to be ignored its tokens are never drawn, as llama-server
        does it; going on behind a drawn one would leave it in the text.
        """
        stream.close()
        model = self._model
        banned = [*model.suppressed, *(model.eog if stream.prepared.command.ignore_eog else ())]
        stream.banned = np.asarray(banned, np.int64) if banned else None
        if not self.is_greedy:
            history = stream.slot.tokens[: stream.slot.known].tolist()
            stream.chain = make_chain(self._config, model, banned, history)
