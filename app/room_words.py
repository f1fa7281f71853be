"""What still fits, in words. Pure text."""

from __future__ import annotations

from dataclasses import replace

from app.figures import bytes_text
from engine_bridge.memory_room import CoarseRoom, Most, RoomFigures
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from widgets.fits_view import Fit

SLOTS, CONTEXT, COARSE = "slots", "context", "coarse"
_TITLES = {
    SLOTS: "Conversations that fit",
    CONTEXT: "Longest context that fits",
    COARSE: "What q8_0 KV would buy",
}
_MEANINGS = {
    SLOTS: (
        "The most slots, each with the context that is set now, with which every device keeps a "
        "margin free. The engine is asked by dry runs: nothing is allocated."
    ),
    CONTEXT: (
        "The longest context per slot, with the slots that are set now, with which every device "
        "keeps a margin free. The engine is asked by dry runs: nothing is allocated."
    ),
    COARSE: (
        "The same two questions with the K and V cache in q8_0, 8.5 bits a value, and how much "
        "less memory the settings of now would take with it."
    ),
}
_NONE_YET = "–"
_HOST = "CPU"

NO_MODEL = "Load a model: then the engine tells here how much still fits beside it."
ENGINE_GONE = "The engine is not running: restart it, then it tells what fits."
ASKING = "Asking the engine…"
RESTING = "The engine is asked once the faders rest."
WAITING = "Of the settings before: the engine is asked once the faders rest."


def waiting_fits() -> tuple[Fit, ...]:
    """The questions without an answer."""
    return tuple(
        Fit(key, title, _NONE_YET, "", meaning=_MEANINGS[key]) for key, title in _TITLES.items()
    )


def room_fits(room: RoomFigures, config: EngineConfig, model: ModelFacts | None) -> tuple[Fit, ...]:
    """The answers.

    Args:
        room: What was found.
        config: The configuration it was found for.
        model: The loaded model.
    """
    fits = (
        _slots_fit(room.slots, config),
        _context_fit(room.ctx, config, model),
        _coarse_fit(room.coarse, room.slots, config),
    )
    return tuple(replace(fit, meaning=_MEANINGS[fit.key]) for fit in fits)


def use_values(key: str, room: RoomFigures) -> dict[str, Value]:
    """The settings that the button of an answer sets; empty where there are none."""
    found = {SLOTS: room.slots.values, CONTEXT: room.ctx.values, COARSE: room.coarse.values}
    return dict(found.get(key, {}))


def _slots_fit(most: Most, config: EngineConfig) -> Fit:
    each = f"{config.ctx_per_slot_tok:,} tok"
    if not most.number:
        detail = f"Not even one with {each} of context: {_why(most)}"
        return Fit(SLOTS, _TITLES[SLOTS], "none", detail, is_short=True)
    noun = "conversation" if most.number == 1 else "conversations"
    detail = f"at once, each with {each}; {_set_now(config.slots, most.number)}. {_why(most)}"
    use = ""
    if most.values:
        slots = "1 slot" if most.number == 1 else f"{most.number} slots"
        use = f"Set {slots}{_with_pool(most)}"
    value = f"{_at_least(most)}{most.number} {noun}"
    is_short = most.number < config.slots
    return Fit(SLOTS, _TITLES[SLOTS], value, _capital(detail), use, is_short)


def _context_fit(most: Most, config: EngineConfig, model: ModelFacts | None) -> Fit:
    slots = "1 slot" if config.slots == 1 else f"{config.slots} slots"
    if not most.number:
        return Fit(
            CONTEXT,
            _TITLES[CONTEXT],
            "none",
            f"Not even the shortest with {slots}: {_why(most)}",
            is_short=True,
        )
    now = config.ctx_per_slot_tok
    detail = f"per slot, with {slots}; {_set_now(now, most.number)}. {_why(most, model)}"
    use = f"Set {most.number:,} tok of context per slot{_with_pool(most)}" if most.values else ""
    value = f"{_at_least(most)}{most.number:,} tok"
    # What a slot cannot use is not missing.
    is_short = most.number < now and most.limit != "training"
    return Fit(CONTEXT, _TITLES[CONTEXT], value, _capital(detail), use, is_short)


def _coarse_fit(coarse: CoarseRoom, before: Most, config: EngineConfig) -> Fit:
    title = _TITLES[COARSE]
    if coarse.problem:
        return Fit(COARSE, title, "not possible", coarse.problem)
    if coarse.slots is None or coarse.ctx is None:
        return Fit(COARSE, title, "nothing more", f"The cache is {_caches(config)} already.")
    saved_bytes = coarse.saved_bytes
    value = f"{bytes_text(saved_bytes)} less" if saved_bytes > 0 else "no memory"
    slots = f"{_at_least(coarse.slots)}{coarse.slots.number}"
    noun = "conversation fits" if slots == "1" else "conversations fit"
    context = f"{_at_least(coarse.ctx)}{coarse.ctx.number:,}"
    then = f"Then {slots} {noun}, or {context} tok per slot."
    if before.limit == coarse.slots.limit != "memory" and before.number == coarse.slots.number:
        # The same number again would read as if it were q8_0 that brings it.
        asked = f"as many conversations as were asked for, {before.number}, fit already"
        then = f"With {_caches(config)} {asked}. Then a slot gets {context} tok."
    detail = f"Instead of {_caches(config)}. {then}"
    use = "Set the K and V cache to q8_0"
    if "flash_attn" in coarse.values:
        use += " and flash attention to auto"
        detail += " Flash attention goes to auto, since a quantised V cache needs it."
    return Fit(COARSE, title, value, detail, use)


def _why(most: Most, model: ModelFacts | None = None) -> str:
    """What stops the next one, a sentence."""
    if most.limit == "memory":
        device = "system memory" if most.why == _HOST else f"{most.why} memory"
        return f"More would leave too little {device} free."
    if most.limit == "training":
        trained = "" if model is None else f", {model.ctx_train_tok:,} tok"
        return f"The training length is the limit{trained}: no slot uses more."
    if most.limit == "search":
        return "More may fit: the engine was not asked for more."
    return most.why


def _set_now(now: int, most: int) -> str:
    return "as set now" if now == most else f"{now:,} set now"


def _with_pool(most: Most) -> str:
    return ", the pool as large as all of them" if "ctx_total_tok" in most.values else ""


def _at_least(most: Most) -> str:
    return "≥ " if most.limit == "search" else ""


def _caches(config: EngineConfig) -> str:
    if config.cache_type_k == config.cache_type_v:
        return config.cache_type_k
    return f"{config.cache_type_k} keys and {config.cache_type_v} values"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
