"""Rules between settings: what llama.cpp would refuse, waste or quietly change.

Each rule looks at one configuration and, where known, at the model; it names the keys, says what
is wrong in a sentence and offers the change that repairs it. Sources: ``llama_init_from_model`` and
``llama_context`` in the llama.cpp tree, as collected in docs/adr.
"""

from __future__ import annotations

from itertools import product

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_rules import CACHE_RULES
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import DomainError, ListDomain, Value
from engine_bridge.settings.draft_rules import DRAFT_RULES
from engine_bridge.settings.ngram_rules import NGRAM_RULES
from engine_bridge.settings.placement_rules import PLACEMENT_RULES
from engine_bridge.settings.problem import Problem, Rule, Severity
from engine_bridge.settings.sampling_rules import SAMPLING_RULES
from engine_bridge.settings.shift_rules import SHIFT_RULES
from engine_bridge.settings.table import BY_KEY, SETTINGS

__all__ = [
    "MAX_POOL_CELLS",
    "RULES",
    "Problem",
    "Rule",
    "Severity",
    "errors_of",
    "problems_of",
    "repair_words",
    "repaired",
]

# A dry run costs about 50 bytes of host memory and 25 ns a cell; 16 × 1M cells are 0.5 s and
# 0.9 GB, and more than any machine of one user holds.
MAX_POOL_CELLS = 16_777_216
# Below this a chat template and one question already fill the slot.
USEFUL_SLOT_TOK = 512
# Least value of ctx_per_slot_tok: one padded row of cells.
_CONTEXT_MINIMUM_TOK = 256


def problems_of(config: EngineConfig, model: ModelFacts | None = None) -> tuple[Problem, ...]:
    """Every problem of ``config`` on ``model``, errors first, in the order of the rules.

    A value outside its domain (a configuration read from the wire is not checked there) is named
    alone, since the rules reckon with values that are possible.
    """
    if outside := _outside_domain(config):
        return outside
    found = [problem for rule in RULES if (problem := rule(config, model)) is not None]
    return tuple(sorted(found, key=lambda problem: problem.severity is Severity.WARNING))


def errors_of(config: EngineConfig, model: ModelFacts | None = None) -> tuple[Problem, ...]:
    """The problems that would make the engine refuse or abort."""
    return tuple(p for p in problems_of(config, model) if p.severity is Severity.ERROR)


def repaired(config: EngineConfig, problem: Problem) -> EngineConfig:
    """``config`` with the repair of ``problem`` applied."""
    fix: dict[str, object] = dict(problem.fix)
    return config.with_values(fix)


def repair_words(problem: Problem) -> str:
    """What the repair of ``problem`` does, for a button: ``Set Flash attention to auto``."""
    cleared = [BY_KEY[key].label for key, value in problem.fix.items() if value == ""]
    parts = [
        f"{BY_KEY[key].label} to {_value_words(key, value)}"
        for key, value in problem.fix.items()
        if value != ""
    ]
    words = [f"Set {' and '.join(parts)}"] if parts else []
    words += [f"Clear {' and '.join(cleared)}"] if cleared else []
    return ", ".join(words)


def _value_words(key: str, value: Value) -> str:
    domain = BY_KEY[key].domain
    if value == () and isinstance(domain, ListDomain):
        return "off"  # as the control calls an empty list
    return f"{value:,}" if type(value) is int else domain.format(value)


def _outside_domain(config: EngineConfig) -> tuple[Problem, ...]:
    found: list[Problem] = []
    for setting in SETTINGS:
        try:
            setting.domain.check(getattr(config, setting.key))
        except DomainError as error:
            fix = {setting.key: setting.default}
            found.append(Problem((setting.key,), f"{setting.label}: {error}", fix))
    return tuple(found)


def _quantised_v_needs_flash_attention(
    config: EngineConfig, _: ModelFacts | None
) -> Problem | None:
    if not CACHE_TYPES[config.cache_type_v].is_quantised or config.flash_attn != "off":
        return None
    return Problem(
        ("cache_type_v", "flash_attn"),
        f"A {config.cache_type_v} V cache needs flash attention, which is off; llama.cpp refuses "
        "to make this context. Set flash attention to auto, or the V cache to f16.",
        {"flash_attn": "auto"},
    )


def _grok_has_no_flash_attention(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or model.architecture != "grok":
        return None
    if not CACHE_TYPES[config.cache_type_v].is_quantised:
        return None
    return Problem(
        ("cache_type_v",),
        "llama.cpp runs Grok without flash attention, and a quantised V cache needs it. "
        "Set the V cache to f16.",
        {"cache_type_v": "f16"},
    )


def _mla_needs_equal_types(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or not model.is_mla or config.cache_type_k == config.cache_type_v:
        return None
    return Problem(
        ("cache_type_v", "cache_type_k"),
        f"{model.name} compresses keys and values together (MLA), so both caches must have the "
        f"same type; they are {config.cache_type_k} and {config.cache_type_v}.",
        {"cache_type_v": config.cache_type_k},
    )


def _block_must_divide_head(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None:
        return None
    # Without flash attention llama.cpp does not look, and computes NaN or aborts (measured).
    end = "cannot compute with it" if config.flash_attn == "off" else "refuses to make this context"
    # Layers of the model's own that guess ahead have its heads, and a cache of their own.
    for prefix, part in product(("", "draft_") if config.loads_mtp else ("",), "kv"):
        key, dims = f"{prefix}cache_type_{part}", getattr(model, f"head_dims_{part}")
        cache_type = CACHE_TYPES[getattr(config, key)]
        odd = [dim for dim in dims if dim % cache_type.block_values]
        if odd:
            return Problem(
                (key,),
                f"{cache_type.name} stores {cache_type.block_values} values a block, and the head "
                f"dimension {odd[0]} of {model.name} is no multiple of that; llama.cpp {end}.",
                {key: "f16"},
            )
    return None


def _ubatch_within_batch(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if config.ubatch_tok <= config.batch_tok:
        return None
    return Problem(
        ("ubatch_tok", "batch_tok"),
        f"The micro-batch ({config.ubatch_tok}) is larger than the batch ({config.batch_tok}); "
        "llama.cpp would quietly cut it.",
        {"ubatch_tok": config.batch_tok},
    )


def _batch_holds_a_token_per_slot(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if config.batch_tok >= config.slots:
        return None
    return Problem(
        ("batch_tok", "slots"),
        f"A batch of {config.batch_tok} cannot hold a token for each of {config.slots} slots; "
        "llama.cpp aborts when it has fewer output rows than sequences.",
        {"batch_tok": max(32, 1 << (config.slots - 1).bit_length())},
    )


def _minimax_divides_its_micro_batch(
    config: EngineConfig, model: ModelFacts | None
) -> Problem | None:
    # sched_reserve rounds the tokens of a graph up, and this architecture's graph does not (seen).
    if model is None or model.architecture != "minimax-01":
        return None
    tokens = min(config.ubatch_tok, config.pool_tok)
    if tokens % config.slots == 0:
        return None
    return Problem(
        ("ubatch_tok", "slots"),
        f"llama.cpp aborts on a model of the kind minimax-01 where a micro-batch ({tokens}) is no "
        f"multiple of the slots ({config.slots}).",
        {"ubatch_tok": max(1, tokens // config.slots) * config.slots},
    )


def _pool_is_bounded(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if config.pool_tok <= MAX_POOL_CELLS:
        return None
    # What the model was not trained for is no repair: the next rule would take it back.
    trained = model.ctx_train_tok if model is not None else 0
    most = max(trained, _CONTEXT_MINIMUM_TOK) if trained else MAX_POOL_CELLS
    fix: dict[str, Value]
    if config.kv_unified:
        fix = {"ctx_total_tok": min(MAX_POOL_CELLS, config.slots * most)}
    else:
        fix = {"ctx_per_slot_tok": min(MAX_POOL_CELLS // config.slots // 256 * 256, most)}
    return Problem(
        ("ctx_per_slot_tok", "slots", "ctx_total_tok"),
        f"A pool of {config.pool_tok:,} tokens is beyond what TuneDeck asks the engine for "
        f"({MAX_POOL_CELLS:,}): even the dry run would take seconds and gigabytes.",
        fix,
    )


def _cap_above_pool(config: EngineConfig, _: ModelFacts | None) -> Problem | None:
    if not config.kv_unified or config.ctx_per_slot_tok <= config.pool_tok:
        return None
    return Problem(
        ("ctx_per_slot_tok", "ctx_total_tok"),
        f"A slot may use {config.ctx_per_slot_tok:,} tokens, but the shared pool holds only "
        f"{config.pool_tok:,}; the pool is the limit.",
        {"ctx_per_slot_tok": config.pool_tok},
        Severity.WARNING,
    )


def _beyond_training(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if model is None or not model.ctx_train_tok:
        return None
    trained = model.ctx_train_tok
    if config.ctx_per_slot_tok <= pad_context_tok(trained):
        return None
    return Problem(
        ("ctx_per_slot_tok",),
        f"{model.name} was trained for {trained:,} tokens; llama-server never lets a slot use "
        f"more, so memory for {config.ctx_per_slot_tok - trained:,} tokens would be wasted.",
        {"ctx_per_slot_tok": max(trained, _CONTEXT_MINIMUM_TOK)},
        Severity.WARNING,
    )


def _slot_too_small(config: EngineConfig, model: ModelFacts | None) -> Problem | None:
    if config.slot_cap_tok >= USEFUL_SLOT_TOK:
        return None
    if model is not None and 0 < model.ctx_train_tok < USEFUL_SLOT_TOK:
        return None  # it was made for short texts; _beyond_training speaks for it
    fix: dict[str, Value] = {}
    if config.ctx_per_slot_tok < USEFUL_SLOT_TOK:
        fix["ctx_per_slot_tok"] = USEFUL_SLOT_TOK
    if config.pool_tok < USEFUL_SLOT_TOK and config.kv_unified:
        fix["ctx_total_tok"] = USEFUL_SLOT_TOK
    return Problem(
        ("ctx_per_slot_tok", "slots"),
        f"A slot of {config.slot_cap_tok} tokens is full after a question or two.",
        fix,
        Severity.WARNING,
    )


RULES: tuple[Rule, ...] = (
    _quantised_v_needs_flash_attention,
    _grok_has_no_flash_attention,
    _mla_needs_equal_types,
    _block_must_divide_head,
    _batch_holds_a_token_per_slot,
    _ubatch_within_batch,
    _minimax_divides_its_micro_batch,
    *NGRAM_RULES,
    *DRAFT_RULES,
    _pool_is_bounded,
    _cap_above_pool,
    _beyond_training,
    _slot_too_small,
    *SHIFT_RULES,
    *CACHE_RULES,
    *PLACEMENT_RULES,
    *SAMPLING_RULES,
)
