"""vLLM's speculation, as the JSON that ``--speculative-config`` takes.

Must not know the rest of the command line.
"""

from __future__ import annotations

from app.export.kv_numerics import fp8_in_place_of, kv_wish, wide_in_place_of
from app.export.other_weights import DRAFT_PLACE, draft_reason
from app.export.sheet import Sheet
from app.export.unused_drafts import DRAFT_CACHE_KEYS, leave_unused_drafts, others_left_out
from engine_bridge.settings.spec_kinds import NGRAM_CACHE_TOK

ENGINE = "vLLM"
FLAG = "--speculative-config"

_METHODS = {
    "draft-simple": "draft_model",
    "draft-eagle3": "eagle3",
    "draft-mtp": "mtp",
    "draft-dflash": "dflash",
    "draft-dspark": "dspark",
}
# What ngram-cache looks at (LLAMA_NGRAM_MIN and LLAMA_NGRAM_MAX of llama.cpp).
_CACHE_LEAST, _CACHE_MOST = 1, 4
_OWN_TEXT = "from the text of the same conversation"


def speculative_config(sheet: Sheet) -> dict[str, object]:
    """The first kind of draft, as vLLM has it; empty without drafts."""
    kinds = sheet.config.spec_types
    leave_unused_drafts(sheet, ENGINE, kinds[0] if kinds else "")
    if not kinds:
        sheet.say("spec_types", "no drafts unless told")
        return {}
    kind = kinds[0]
    others = others_left_out(ENGINE, kinds)
    if kind in _METHODS:
        return _by_model(sheet, kind, others)
    return _by_ngrams(sheet, kind, others)


def _by_ngrams(sheet: Sheet, kind: str, others: str) -> dict[str, object]:
    config = sheet.config
    if kind == "ngram-mod":
        least = most = config.ngram_mod_n_match
        drafted = config.ngram_mod_n_max
        sheet.say("ngram_mod_n_match", f"{FLAG} prompt_lookup_max")
        sheet.say("ngram_mod_n_max", f"{FLAG} num_speculative_tokens")
    elif kind == "ngram-cache":
        least, most, drafted = _CACHE_LEAST, _CACHE_MOST, NGRAM_CACHE_TOK
    else:
        least = most = config.ngram_size_n
        drafted = config.ngram_size_m
        sheet.say("ngram_size_n", f"{FLAG} prompt_lookup_max")
        sheet.say("ngram_size_m", f"{FLAG} num_speculative_tokens")
    sheet.bridge(
        "spec_types",
        f"{FLAG}: its method ngram in place of {kind} copies what followed the same words, "
        f"{_OWN_TEXT}.{others}",
    )
    return {
        "method": "ngram",
        "num_speculative_tokens": drafted,
        "prompt_lookup_max": most,
        "prompt_lookup_min": least,
    }


def _by_model(sheet: Sheet, kind: str, others: str) -> dict[str, object]:
    config, method = sheet.config, _METHODS[kind]
    if others:
        sheet.bridge("spec_types", f"{FLAG}: its method {method}.{others}")
    else:
        sheet.say("spec_types", f"{FLAG} method {method}")
    sheet.say("draft_n_max", f"{FLAG} num_speculative_tokens")
    said: dict[str, object] = {"method": method, "num_speculative_tokens": config.draft_n_max}
    if kind == "draft-mtp":
        sheet.leave("draft_model_path", f"{ENGINE} finds such layers in the model's own weights.")
    else:
        said["model"] = DRAFT_PLACE
        sheet.leave("draft_model_path", draft_reason(ENGINE))
        sheet.notes.append(
            f"{DRAFT_PLACE} is the place of the draft model: its name on the hub or its folder."
        )
    wish = kv_wish(config.draft_cache_type_k, config.draft_cache_type_v, DRAFT_CACHE_KEYS)
    sheet.leave(wish.outvoted, wish.why_outvoted)
    if wish.is_quantised:
        said["kv_cache_dtype"] = "fp8"
        sheet.bridge(wish.keys, fp8_in_place_of(wish, f"{FLAG} kv_cache_dtype fp8"))
    else:
        sheet.bridge(wish.keys, wide_in_place_of(wish, f"{FLAG} without kv_cache_dtype"))
    return said
