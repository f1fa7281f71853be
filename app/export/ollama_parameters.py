"""Ollama's parameters of a model and variables of its server: caches, batch, threads, sampling."""

from __future__ import annotations

from app.export.kv_numerics import kv_wish
from app.export.ollama_sheet import ENGINE, OllamaSheet
from app.export.resolved import flash_attention, thread_counts
from engine_bridge.settings.cache_type import CACHE_TYPES

_KV, _FLASH = "OLLAMA_KV_CACHE_TYPE", "OLLAMA_FLASH_ATTENTION"
_KV_TYPES = ("f16", "q8_0", "q4_0")  # from the finest to the coarsest
_WHERE_MOVED = (
    ("presence_penalty", "presence_penalty"),
    ("frequency_penalty", "frequency_penalty"),
    ("typical_p", "typical_p"),
    ("seed", "seed"),
    ("max_new_tok", "num_predict"),
)
_ALWAYS = (
    ("temperature", "temperature"),
    ("top_k", "top_k"),
    ("top_p", "top_p"),
    ("min_p", "min_p"),
    ("repeat_penalty", "repeat_penalty"),
    ("repeat_last_n_tok", "repeat_last_n"),
)


def say_loading(sheet: OllamaSheet) -> None:
    """Writes the cache's format, batches, threads, and how the file is read."""
    _cache_type(sheet)
    _batch(sheet)
    _threads(sheet)
    _file(sheet)
    _caches(sheet)


def say_sampling(sheet: OllamaSheet) -> None:
    """Writes the samplers that Ollama has: all whose value it would choose otherwise."""
    config = sheet.config
    for key, name in _ALWAYS:
        sheet.parameter(key, name, getattr(config, key))
    for key, name in _WHERE_MOVED:
        if sheet.is_moved(key):
            sheet.parameter(key, name, getattr(config, key))
        else:
            sheet.say(key, f"PARAMETER {name}, the same unless told")
    sheet.leave(
        "context_shift",
        f"{ENGINE} makes room in a full context unless a request says shift: false.",
    )
    sheet.parameter("keep_tok", "num_keep", config.keep_tok)
    removed = f"{ENGINE} takes no such parameter any more."
    sheet.leave(("mirostat", "mirostat_lr", "mirostat_ent"), removed)
    sheet.leave("json_schema", f"{ENGINE} takes a schema with each request, as format.")
    sheet.leave("grammar", f"{ENGINE} takes no grammar; a request may bring a schema as format.")
    sheet.leave(("logit_bias", "ignore_eos"), f"{ENGINE} has no word for it.")


def _cache_type(sheet: OllamaSheet) -> None:
    """One type for keys and values, and none but f16 without flash attention."""
    config = sheet.config
    wish = kv_wish(config.cache_type_k, config.cache_type_v)
    is_tiled = flash_attention(sheet.situation, keeps_values=False)
    sheet.leave(wish.outvoted, wish.why_outvoted)
    name = _nearest(wish.finer.name)
    if config.flash_attn == "auto" and name != _KV_TYPES[0]:
        is_tiled = True  # it has no such cache without
    if is_tiled is False and name != _KV_TYPES[0]:
        sheet.variables[_KV] = _KV_TYPES[0]
        reason = f"{_KV} f16: {ENGINE} has no other cache without flash attention."
        sheet.leave(("cache_type_k", "cache_type_v"), reason)
    elif name == wish.finer.name:
        sheet.variable(wish.keys, _KV, name)
    else:
        how = (
            f"{_KV} {name}: of f16, q8_0 and q4_0 the coarsest that is no coarser than "
            f"{wish.finer.name}."
        )
        sheet.bridging_variable(wish.keys, how, _KV, name)
    if is_tiled is None:
        sheet.say("flash_attn", "on where it is supported, unless told")
    else:
        sheet.variable("flash_attn", _FLASH, int(is_tiled))


def _nearest(name: str) -> str:
    """The coarsest type that Ollama names and that is no coarser than ``name``, else its finest."""
    bits = CACHE_TYPES[name].bits_per_value
    fine = [one for one in _KV_TYPES if CACHE_TYPES[one].bits_per_value >= bits]
    return fine[-1] if fine else _KV_TYPES[0]


def _batch(sheet: OllamaSheet) -> None:
    config = sheet.config
    computed = min(config.batch_tok, config.ubatch_tok)
    sheet.parameter("ubatch_tok", "num_batch", computed)
    if config.batch_tok == computed:
        sheet.say("batch_tok", "PARAMETER num_batch")
    else:
        sheet.bridge(
            "batch_tok",
            f"PARAMETER num_batch is the batch and the micro-batch in one: {computed:,}, the "
            "micro-batch, which decides about memory.",
        )


def _threads(sheet: OllamaSheet) -> None:
    decode, prefill = thread_counts(sheet.situation)
    if decode is None:
        sheet.say("threads", "its own choice, unless told")
    else:
        sheet.parameter("threads", "num_thread", decode)
    if prefill == decode:
        sheet.say("threads_batch", "its own choice" if prefill is None else "PARAMETER num_thread")
    else:
        sheet.leave("threads_batch", "PARAMETER num_thread is for generating and for prompts.")


def _file(sheet: OllamaSheet) -> None:
    mode = sheet.config.load_mode
    if mode in ("mmap", "none"):
        sheet.parameter("load_mode", "use_mmap", "true" if mode == "mmap" else "false")
    elif mode == "auto":
        sheet.say("load_mode", "its own choice, unless told")
    else:
        sheet.leave("load_mode", f"{ENGINE} maps the file or copies it; it has no {mode}.")


def _caches(sheet: OllamaSheet) -> None:
    config = sheet.config
    if config.cache_prompt:
        sheet.say("cache_prompt", "what it always does")
    if not sheet.is_moved("cache_ram_mib"):
        sheet.say("cache_ram_mib", "the same unless told")
        return
    how = "LLAMA_ARG_CACHE_RAM: its llama-server inherits the variable."
    sheet.bridging_variable("cache_ram_mib", how, "LLAMA_ARG_CACHE_RAM", config.cache_ram_mib)
