"""What a setting's value means here: the muted line under each fader.

Pure text from the configuration, the model, and the planner's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.cache_words import CACHE_WORDS
from app.figures import bytes_text
from app.placement_words import NEEDS_A_BOARD, OF_BOARDS, PLACEMENT_WORDS
from app.sampler_words import SAMPLER_WORDS
from engine_bridge.memory_plan import EffectiveConfig, MemoryPlan
from engine_bridge.memory_room import most_slots_asked
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY, NGRAM_KINDS, kinds_that_use
from engine_bridge.settings.table import BY_KEY, MAX_SLOTS

_NO_DRAFT_MODEL = "takes effect once a draft model drafts"
# Below this checking a draft rarely pays for making it.
_POOR_ACCEPTANCE = 0.2
# These say themselves where layers are while there is no board.
_TELL_WITHOUT_BOARD = ("n_gpu_layers", "draft_n_gpu_layers")


@dataclass(frozen=True)
class Situation:
    """Everything a hint may look at.

    Attributes:
        config: The candidate configuration.
        model: The loaded model, None without one.
        plan: The planner's answer for ``config``, None while there is none.
        effective: What the engine made of the applied configuration.
        has_gpu: Whether there is a GPU or a remote worker to put layers on.
        acceptance: Accepted share of the drafts so far, None without drafts.
    """

    config: EngineConfig
    model: ModelFacts | None = None
    plan: MemoryPlan | None = None
    effective: EffectiveConfig | None = None
    has_gpu: bool = False
    acceptance: float | None = None


Writer = Callable[[Situation], str]


def hint_for(key: str, situation: Situation) -> str:
    """The line under the setting ``key``; its help's first sentence where nothing is special."""
    if key in OF_BOARDS and key not in _TELL_WITHOUT_BOARD and not situation.has_gpu:
        return NEEDS_A_BOARD
    writer = _WRITERS.get(key)
    words = writer(situation) if writer else ""
    return words or BY_KEY[key].help.split(". ")[0].rstrip(".") + "."


def slot_arithmetic(config: EngineConfig) -> str:
    """The pool in words: ``16,384 = 4 slots × 4,096``."""
    if not config.kv_unified:
        per_slot = config.pool_tok // config.slots
        slots = "1 slot" if config.slots == 1 else f"{config.slots} slots"
        return f"{config.pool_tok:,} = {slots} × {per_slot:,}"
    return f"{config.slots} slots share {config.pool_tok:,}, each up to {config.slot_cap_tok:,}"


def _context(s: Situation) -> str:
    words = slot_arithmetic(s.config)
    if s.model and s.model.ctx_train_tok:
        words += f" · trained for {s.model.ctx_train_tok:,}"
    return words


def room_for_slots(plan: MemoryPlan, slots: int) -> int | None:
    """Conversations of this length that fit, the running ones included.

    Linear in what the KV cache and state of one slot take, on the device that is short first.
    """
    rooms = []
    for device in plan.devices:
        per_slot = device.kv / slots
        if per_slot <= 0 or device.free < 0:
            continue
        rest = device.free - device.weights - device.compute - device.draft
        rooms.append(int(max(0.0, rest) // per_slot))
    return min(rooms) if rooms else None


def _slots(s: Situation) -> str:
    if s.plan is None:
        return ""
    planned_slots = s.plan.effective.slots if s.plan.effective else s.config.slots
    room = room_for_slots(s.plan, planned_slots)
    if room is None or planned_slots != s.config.slots:
        return ""
    # The page Room asks the engine for no more: what is told here must not contradict it.
    top = most_slots_asked(s.config)
    at_least = "+" if room >= top < MAX_SLOTS else ""
    return f"room for {min(room, top)}{at_least} conversations of this length"


def _pool(s: Situation) -> str:
    if not s.config.kv_unified:
        return f"follows: {slot_arithmetic(s.config)}"
    full = s.config.slots * s.config.ctx_per_slot_tok
    if s.config.pool_tok < full:
        return f"overcommitted: all slots together could ask for {full:,}"
    return "every slot can be filled at once"


def _cache(key: str) -> Callable[[Situation], str]:
    def words(s: Situation) -> str:
        cache_type = CACHE_TYPES[getattr(s.config, key)]
        share = cache_type.bits_per_value / 16
        text = "16 bits a value" if share == 1 else ""
        text = text or f"{cache_type.bits_per_value:g} bits a value, {share:.0%} of f16"
        if key.endswith("cache_type_v") and cache_type.is_quantised:
            text += " · needs flash attention"
        return text

    return words


def _flash(s: Situation) -> str:
    if s.config.flash_attn == "auto" and s.effective is not None:
        return f"auto takes {s.effective.flash_attn} for this model and device"
    return ""


def _shift(s: Situation) -> str:
    planned = s.plan.effective if s.plan is not None else None
    effective = planned or s.effective
    if effective is not None and not effective.can_shift:
        return "this model's memory cannot shift: a full slot ends its answer"
    if not s.config.context_shift:
        return "off: a full slot ends its answer"
    keep_tok, cap_tok = s.config.keep_tok, s.config.slot_cap_tok
    if keep_tok < 0:
        return "a full slot drops half of what is behind the prompt"
    return f"a full slot drops {max(0, cap_tok - keep_tok) // 2:,} of its {cap_tok:,} tokens"


def _drafts(s: Situation) -> str:
    if not s.config.spec_types:
        return "off: one token a pass"
    if "draft-simple" in s.config.spec_types and s.config.draft is None:
        return "draft-simple needs a draft model: choose one beside the model"
    if s.acceptance is None:
        is_copying = set(s.config.spec_types) <= set(NGRAM_KINDS)
        return "nothing drafted yet" + ("; strong on code edits and quotes" if is_copying else "")
    words = f"{s.acceptance:.0%} of the drafted tokens were accepted so far"
    return words if s.acceptance >= _POOR_ACCEPTANCE else f"{words}: drafts slow this work down"


def _of_ngrams(key: str, words: Callable[[Situation], str]) -> Callable[[Situation], str]:
    """``words`` where a kind drafts that uses ``key``, else which kinds would."""

    def written(s: Situation) -> str:
        if kinds_that_use(key, s.config.spec_types):
            return words(s)
        return _waits_for_kinds(KINDS_OF_KEY[key])

    return written


def _waits_for_kinds(kinds: tuple[str, ...]) -> str:
    if len(kinds) == 1:
        return f"takes effect once {kinds[0]} drafts"
    # One of the long names says how the others begin.
    first, *others = kinds
    short = [kind.removeprefix("ngram") for kind in others]
    return f"takes effect with {', '.join([first, *short[:-1]])} or {short[-1]}"


def ngram_note(spec_types: tuple[str, ...]) -> str:
    """Which settings of copied drafts are in effect, where not all or none of them are."""
    used = [key for key in KINDS_OF_KEY if kinds_that_use(key, spec_types)]
    if not used or len(used) == len(KINDS_OF_KEY):
        return ""
    unused = [key for key in KINDS_OF_KEY if key not in used]
    if len(unused) < len(used):
        return f"{_labels(unused)} {'are' if unused[1:] else 'is'} for other kinds."
    kinds = [kind for kind in spec_types if any(kind in KINDS_OF_KEY[key] for key in used)]
    return f"{' and '.join(kinds)} drafts with {_labels(used)}. The others are for other kinds."


def _labels(keys: Sequence[str]) -> str:
    *others, last = [f"\u201c{BY_KEY[key].label}\u201d" for key in keys]
    return f"{', '.join(others)} and {last}" if others else last


def _at_most(key: str) -> Callable[[Situation], str]:
    return lambda s: f"up to {1 + getattr(s.config, key)} tokens from one pass"


def _shortest_of_table(s: Situation) -> str:
    least = s.config.ngram_mod_n_min
    return f"drafts of fewer than {least} tokens are dropped" if least > 1 else "every draft counts"


def _hits(s: Situation) -> str:
    least = s.config.ngram_min_hits
    return f"drafts once seen {least} times" if least > 1 else "drafts from the first time on"


def _drafted_tokens(s: Situation) -> str:
    if not s.config.drafts_by_model:
        return _NO_DRAFT_MODEL
    words = f"up to {1 + s.config.draft_n_max} tokens from one pass"
    if s.plan is not None and s.plan.bytes.draft:
        whose = "the cache for them" if s.config.loads_mtp else "the draft model"
        words += f" · {whose} takes {bytes_text(s.plan.bytes.draft)}"
    return words


def _of_the_draft(words: Callable[[Situation], str]) -> Callable[[Situation], str]:
    """``words`` where a draft model runs, else that none does."""
    return lambda s: words(s) if s.config.drafts_by_model else _NO_DRAFT_MODEL


def _shortest_draft(s: Situation) -> str:
    least = s.config.draft_n_min
    return f"drafts of fewer than {least} tokens are dropped" if least > 1 else "every draft counts"


def _confidence(s: Situation) -> str:
    least = s.config.draft_p_min
    return f"stops below {least:.0%} confidence" if least else "never stops early"


def _draft_layers(s: Situation) -> str:
    return "" if s.has_gpu else "no GPU in this build: every layer runs on the CPU"


def _layers(s: Situation) -> str:
    if not s.has_gpu:
        return "no GPU in this build: every layer runs on the CPU"
    if s.effective is not None and s.effective.placement:
        return s.effective.placement
    if s.effective is not None and s.model is not None:
        return f"{s.effective.n_gpu_layers} of {s.model.gpu_layers_max} are on the GPU now"
    return ""


def _threads(key: str) -> Callable[[Situation], str]:
    def words(s: Situation) -> str:
        if getattr(s.config, key) == "auto" and s.effective is not None:
            return f"auto takes {getattr(s.effective, key)} here"
        return ""

    return words


def _ubatch(s: Situation) -> str:
    if s.plan is None:
        return ""
    return f"compute buffers {bytes_text(s.plan.bytes.compute)}"


def _off_at(key: str, off: float, words: str) -> Callable[[Situation], str]:
    """Words for the one value of ``key`` that means something else than its size says."""
    return lambda s: words if getattr(s.config, key) == off else ""


def _of_model(words: Callable[[EngineConfig, ModelFacts | None], str]) -> Writer:
    return lambda s: words(s.config, s.model)


def _of_sampler(key: str) -> Callable[[Situation], str]:
    return lambda s: SAMPLER_WORDS[key](s.config)


_ANSWER_WORDS = {-1: "no limit but the context", 0: "reads the prompt and answers nothing"}


_WRITERS: dict[str, Callable[[Situation], str]] = {
    "ctx_per_slot_tok": _context,
    "slots": _slots,
    "ctx_total_tok": _pool,
    "cache_type_k": _cache("cache_type_k"),
    "cache_type_v": _cache("cache_type_v"),
    "flash_attn": _flash,
    "context_shift": _shift,
    **{key: _of_model(words) for key, words in CACHE_WORDS.items()},
    "spec_types": _drafts,
    "ngram_size_m": _of_ngrams("ngram_size_m", _at_most("ngram_size_m")),
    "ngram_size_n": _of_ngrams("ngram_size_n", lambda s: ""),
    "ngram_min_hits": _of_ngrams("ngram_min_hits", _hits),
    "ngram_mod_n_match": _of_ngrams("ngram_mod_n_match", lambda s: ""),
    "ngram_mod_n_min": _of_ngrams("ngram_mod_n_min", _shortest_of_table),
    "ngram_mod_n_max": _of_ngrams("ngram_mod_n_max", _at_most("ngram_mod_n_max")),
    "lookup_cache_static_path": _of_ngrams("lookup_cache_static_path", lambda s: ""),
    "lookup_cache_dynamic_path": _of_ngrams("lookup_cache_dynamic_path", lambda s: ""),
    "draft_n_max": _drafted_tokens,
    "draft_n_min": _of_the_draft(_shortest_draft),
    "draft_p_min": _of_the_draft(_confidence),
    "draft_n_gpu_layers": _of_the_draft(_draft_layers),
    "draft_cache_type_k": _of_the_draft(_cache("draft_cache_type_k")),
    "draft_cache_type_v": _of_the_draft(_cache("draft_cache_type_v")),
    **{key: _of_model(words) for key, words in PLACEMENT_WORDS.items()},
    "n_gpu_layers": _layers,
    "threads": _threads("threads"),
    "threads_batch": _threads("threads_batch"),
    "ubatch_tok": _ubatch,
    **{key: _of_sampler(key) for key in SAMPLER_WORDS},
    "seed": _off_at("seed", -1, "a new one for every answer"),
    "max_new_tok": lambda s: _ANSWER_WORDS.get(s.config.max_new_tok, ""),
}
