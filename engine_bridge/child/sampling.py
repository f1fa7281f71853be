"""Which token comes next: llama-server's sampler chain, or the likeliest token at once.

Knows the order and defaults of llama-server's samplers; must not know steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine_bridge.child.bias import Bias
from engine_bridge.child.candidates import Candidates
from engine_bridge.child.grammar import ConstrainedChain, Grammar, GrammarError
from engine_bridge.child.llama import Model
from engine_bridge.child.sampler_chain import SamplerChain
from engine_bridge.child.stream import Stream
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS

# A change of anything else leaves running answers their samplers, random numbers included.
_GROUPS = (Group.SAMPLING, Group.MORE_SAMPLING)
_KEYS = frozenset(s.key for s in SETTINGS if s.group in _GROUPS) - {"max_new_tok"}
# llama.cpp draws a random seed for this value (LLAMA_DEFAULT_SEED).
_RANDOM_SEED = 0xFFFF_FFFF
# Candidates that Mirostat 1 estimates from, as llama-server has it.
_MIROSTAT_TOK = 100


def has_penalties(config: EngineConfig) -> bool:
    """Whether earlier tokens change the scores."""
    return config.repeat_last_n_tok != 0 and (
        config.repeat_penalty != 1.0
        or config.presence_penalty != 0.0
        or config.frequency_penalty != 0.0
    )


def has_dry(config: EngineConfig) -> bool:
    """Whether repeated passages change the scores."""
    return config.dry_multiplier != 0.0 and config.dry_last_n_tok != 0


def is_greedy(config: EngineConfig) -> bool:
    """Whether the answer is simply the likeliest token, so that no chain is needed.

    At temperature 0 only what changes the scores or may drop the likeliest token matters. Of
    those Mirostat takes the place, and it draws the likeliest token then.
    """
    if config.temperature > 0.0 or config.grammar or config.json_schema:
        return False
    if config.mirostat:
        return True
    drops_likeliest = (
        (config.xtc_probability > 0.0 and config.xtc_threshold <= 0.5)
        or config.typical_p < 1.0
        or config.dynatemp_range > 0.0
    )
    return not (drops_likeliest or has_penalties(config) or has_dry(config))


def biases_of(config: EngineConfig) -> dict[int, float]:
    """What is added to the scores of tokens; several entries for one token add up.

    A token that is forbidden anywhere stays so.
    """
    biases: dict[int, float] = {}
    for text in config.logit_bias:
        sign = 1 if "+" in text else -1
        token, _, bias = text.partition("+" if sign > 0 else "-")
        biases[int(token)] = biases.get(int(token), 0.0) + sign * float(bias)
    return {token: -np.inf if np.isnan(bias) else bias for token, bias in biases.items()}


def add_samplers(
    chain: SamplerChain,
    config: EngineConfig,
    model: Model,
    biases: Mapping[int, float],
    history: Sequence[int],
) -> None:
    """Fill ``chain`` as llama-server does for ``config``.

    Its order is biases, penalties, DRY, top-n-sigma, top-k, typical, top-p, min-p, XTC,
    temperature, draw. Mirostat takes the place of all between the biases and the temperature.

    Args:
        chain: An empty chain.
        config: The sampling settings.
        model: For its vocabulary.
        biases: What is added to the scores of tokens.
        history: The text so far; penalties and DRY look at its end.
    """
    seed = config.seed if config.seed >= 0 else _RANDOM_SEED
    if biases:
        chain.add_bias(model.vocab, biases)
    if config.mirostat:
        _add_mirostat(chain, config, model, seed)
        return
    _add_penalties(chain, config, model)
    _add_filters(chain, config, seed)
    chain.add("temp_ext", config.temperature, config.dynatemp_range, config.dynatemp_exponent)
    if config.adaptive_target >= 0.0:
        chain.add("adaptive_p", config.adaptive_target, config.adaptive_decay, seed)
    else:
        chain.add("dist", seed)
    looks_back = max(
        config.repeat_last_n_tok if has_penalties(config) else 0,
        config.dry_last_n_tok if has_dry(config) else 0,
    )
    if looks_back:
        chain.accept(history[-looks_back:])


def _add_mirostat(chain: SamplerChain, config: EngineConfig, model: Model, seed: int) -> None:
    chain.add("temp", config.temperature)
    surprise, rate = config.mirostat_ent, config.mirostat_lr
    if config.mirostat == 1:
        chain.add("mirostat", model.vocab, seed, surprise, rate, _MIROSTAT_TOK)
    else:
        chain.add("mirostat_v2", seed, surprise, rate)


def _add_penalties(chain: SamplerChain, config: EngineConfig, model: Model) -> None:
    if has_penalties(config):
        chain.add(
            "penalties",
            model.vocab,
            config.repeat_last_n_tok,
            config.repeat_penalty,
            config.frequency_penalty,
            config.presence_penalty,
        )
    if has_dry(config):
        chain.add_dry(
            model,
            (config.dry_multiplier, config.dry_base),
            config.dry_allowed_tok,
            config.dry_last_n_tok,
            config.dry_sequence_breakers,
        )


def _add_filters(chain: SamplerChain, config: EngineConfig, seed: int) -> None:
    if config.top_n_sigma > 0.0:
        chain.add("top_n_sigma", config.top_n_sigma)
    chain.add("top_k", config.top_k)
    if config.typical_p < 1.0:
        chain.add("typical", config.typical_p, 0)
    chain.add("top_p", config.top_p, 0)
    chain.add("min_p", config.min_p, 0)
    if config.xtc_probability > 0.0:
        chain.add("xtc", config.xtc_probability, config.xtc_threshold, 0, seed)


def sampling_problem(config: EngineConfig, model: Model) -> Problem | None:
    """Why ``model`` cannot be sampled as ``config`` says; None where it can."""
    sampling = Sampling(config, model)
    sampling.close()
    return sampling.problem


class Sampling:
    """How streams draw under one configuration.

    Attributes:
        is_greedy: Whether they take the likeliest token and need no chain.
        problem: Why no answer can be drawn this way, None where it can.
    """

    def __init__(self, config: EngineConfig, model: Model) -> None:
        """Sample as ``config`` says."""
        self.is_greedy = is_greedy(config)
        self.problem: Problem | None = None
        self._config = config
        self._model = model
        self._biases = biases_of(config)
        self._grammar: Grammar | None = None
        beyond = [token for token in self._biases if token >= model.vocab]
        if beyond:
            self.problem = Problem(
                ("logit_bias",),
                f"There is a bias for token {beyond[0]:,}, and this model's tokens have numbers "
                f"from 0 to {model.vocab - 1:,}.",
            )
        elif config.grammar or config.json_schema:
            try:
                self._grammar = Grammar(config, model)
            except GrammarError as error:
                self.problem = error.problem

    def is_same_for(self, config: EngineConfig) -> bool:
        """Whether ``config`` samples just as this does."""
        return _KEYS.isdisjoint(config.changed_from(self._config))

    def equip(self, stream: Stream) -> None:
        """Give ``stream`` its samplers, and what is added to its scores.

        Where the end of generation is to be ignored its tokens are never drawn, as llama-server
        does it; going on behind a drawn one would leave it in the text. An answer that has begun
        keeps the grammar that it began with: no other could follow what is written.
        """
        biases = self._biases_for(stream)
        stream.bias = Bias.of(biases)
        begun, candidates = self._grammar_for(stream)
        stream.close()
        if begun is not None:
            assert candidates is not None
            forbidden = [token for token, bias in biases.items() if bias == -np.inf]
            stream.chain = ConstrainedChain(
                begun, candidates, self._model, np.array(forbidden, np.int64) if forbidden else None
            )
        elif not self.is_greedy:
            stream.chain = SamplerChain()
        if stream.chain is not None:
            history = stream.slot.tokens[: stream.slot.known].tolist()
            add_samplers(stream.chain, self._config, self._model, biases, history)

    def close(self) -> None:
        """Free the grammar; streams go on with theirs."""
        if self._grammar is not None:
            self._grammar.close()
            self._grammar = None

    def _biases_for(self, stream: Stream) -> dict[int, float]:
        never = set(self._model.suppressed)
        if self._config.ignore_eos or stream.prepared.command.ignore_eog:
            never |= self._model.eog
        return self._biases | dict.fromkeys(never, -np.inf)

    def _grammar_for(self, stream: Stream) -> tuple[object | None, Candidates | None]:
        """What follows the grammar for ``stream`` from here on, and its room for scores."""
        if stream.new_tok:
            old = stream.chain
            if isinstance(old, ConstrainedChain):
                return old.release_grammar(), old.candidates
        elif self._grammar is not None:
            return self._grammar.begun(), self._grammar.candidates
        return None, None
