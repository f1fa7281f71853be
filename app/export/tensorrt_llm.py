"""TensorRT-LLM's server, ``trtllm-serve``, with the YAML that its ``--config`` reads."""

from __future__ import annotations

from app.export.board_shares import say_shares
from app.export.boards_named import boards_named, naming_keys
from app.export.carried import answers_for_all
from app.export.conversation_room import capped_note, conversation_tok, say_pool
from app.export.dialect import Export, ExportedFile, exported
from app.export.kv_numerics import fp8_in_place_of, kv_wish, wide_in_place_of
from app.export.llama_alone import why_not
from app.export.llama_flag import situation_of
from app.export.other_weights import (
    DRAFT_PLACE,
    MODEL_PLACE,
    draft_reason,
    model_reason,
    place_note,
)
from app.export.sheet import Sheet
from app.export.unused_drafts import leave_unused_drafts, others_left_out
from app.export.yaml_text import yaml_text
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_CACHE_TOK

TARGET = "tensorrt-llm"
ENGINE = "TensorRT-LLM"
FILE_NAME = "trtllm-options.yaml"
_BYTES_PER_MIB = 1 << 20
_TYPES = {
    "draft-simple": "Draft_Target",
    "draft-eagle3": "Eagle3",
    "draft-mtp": "MTP",
    "draft-dflash": "DFlash",
    "draft-dspark": "DSpark",
}
_SPECULATION = "speculative_config"
_CACHE = "kv_cache_config"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``trtllm-serve`` command line with its file of options."""
    sheet = Sheet(situation_of(config, effective, facts, ENGINE, shell))
    sheet.leave("model_path", model_reason(ENGINE))
    sheet.notes.append(place_note(ENGINE, sheet.situation))
    _room(sheet)
    options: dict[str, object] = {_CACHE: _cache(sheet)}
    drafts = _drafts(sheet)
    if drafts:
        options[_SPECULATION] = drafts
    _boards(sheet)
    sheet.words += ["--config", FILE_NAME]
    sheet.notes.append(f"{FILE_NAME} has to lie in the folder where the line runs.")
    file = ExportedFile(
        FILE_NAME,
        yaml_text(options),
        "What trtllm-serve reads through --config. Words of the line win over it.",
    )
    return exported(
        TARGET,
        ("trtllm-serve", "serve", MODEL_PLACE, *sheet.words),
        tuple(sheet.notes),
        answers_for_all(why_not(ENGINE), sheet.answers),
        shell,
        (file,),
    )


def _room(sheet: Sheet) -> None:
    config = sheet.config
    sheet.flag("ctx_per_slot_tok", "--max_seq_len", conversation_tok(sheet.situation))
    sheet.flag("slots", "--max_batch_size", config.slots)
    sheet.flag("batch_tok", "--max_num_tokens", config.batch_tok)
    # Without it a prompt longer than a step is refused.
    sheet.words.append("--enable_chunked_prefill")
    say_pool(sheet, ENGINE)
    sheet.leave(
        "fit_margin_mib",
        "It is what is left free; --free_gpu_memory_fraction is the share for the KV cache of what "
        "is free once the weights are loaded, 0.9 unless said. Set it to (free − margin) ÷ free, "
        f"with {config.fit_margin_mib:,} MiB for the margin and what is free then.",
    )
    sheet.notes.extend(capped_note(sheet.situation, "--max_seq_len"))


def _cache(sheet: Sheet) -> dict[str, object]:
    config = sheet.config
    said: dict[str, object] = {"enable_block_reuse": config.cache_prompt}
    sheet.say("cache_prompt", f"{_CACHE}.enable_block_reuse")
    said["max_tokens"] = config.pool_tok
    sheet.say("ctx_total_tok", f"{_CACHE}.max_tokens")
    said["dtype"] = _cache_type(sheet)
    kept_mib = config.cache_ram_mib
    word = f"{_CACHE}.host_cache_size"
    if kept_mib == 0:
        sheet.say("cache_ram_mib", f"no {word}")
    elif kept_mib < 0:
        sheet.leave("cache_ram_mib", f"{ENGINE} wants a size in bytes: {word}.")
    elif not sheet.is_moved("cache_ram_mib"):
        sheet.leave(
            "cache_ram_mib",
            f"{ENGINE} keeps nothing in RAM unless told, and TuneDeck's own value was not "
            f"changed: {word}: {kept_mib * _BYTES_PER_MIB} would keep as much.",
        )
    else:
        said["host_cache_size"] = kept_mib * _BYTES_PER_MIB
        sheet.bridge("cache_ram_mib", f"{word}: bytes, for pieces of any conversation.")
    return said


def _cache_type(sheet: Sheet) -> str:
    config = sheet.config
    wish = kv_wish(config.cache_type_k, config.cache_type_v)
    word = f"{_CACHE}.dtype"
    sheet.leave(wish.outvoted, wish.why_outvoted)
    if wish.is_quantised:
        sheet.bridge(wish.keys, fp8_in_place_of(wish, f"{word} fp8"))
        return "fp8"
    named = {"f32": "float32", "bf16": "bfloat16"}.get(wish.finer.name)
    if named is None:
        sheet.bridge(wish.keys, wide_in_place_of(wish, f"{word} auto"))
        return "auto"
    sheet.say(wish.keys, word)
    return named


def _boards(sheet: Sheet) -> None:
    config, boards = sheet.config, boards_named(sheet.config)
    if boards.is_none:
        sheet.leave("devices", f"{ENGINE} computes on GPUs of NVIDIA alone.")
        return
    if boards.numbers and boards.backend in ("", "CUDA"):
        ids = ",".join(map(str, boards.numbers))
        sheet.leave(
            naming_keys(config),
            f"{ENGINE} takes the boards that it sees: start it with the variable "
            f"CUDA_VISIBLE_DEVICES={ids}.",
        )
    say_shares(sheet, ENGINE, "--pipeline_parallel_size", "--tensor_parallel_size")


# --- Drafts ----------------------------------------------------------------------------------


def _drafts(sheet: Sheet) -> dict[str, object]:
    kinds = sheet.config.spec_types
    leave_unused_drafts(sheet, ENGINE, kinds[0] if kinds else "")
    if not kinds:
        sheet.say("spec_types", "no drafts unless told")
        return {}
    kind = kinds[0]
    others = others_left_out(ENGINE, kinds)
    if kind in _TYPES:
        return _by_model(sheet, kind, others)
    return _by_ngrams(sheet, kind, others)


def _by_ngrams(sheet: Sheet, kind: str, others: str) -> dict[str, object]:
    config, word = sheet.config, f"{_SPECULATION}.max_draft_len"
    said: dict[str, object] = {"decoding_type": "NGram", "max_draft_len": NGRAM_CACHE_TOK}
    how = f"{_SPECULATION} NGram in place of {kind}: copies what followed the same words.{others}"
    sheet.bridge("spec_types", how)
    match kind:
        case "ngram-cache":
            return said
        case "ngram-mod":
            keys = ("ngram_mod_n_max", "ngram_mod_n_match")
            said["max_draft_len"] = config.ngram_mod_n_max
            said["max_matching_ngram_size"] = config.ngram_mod_n_match
        case _:
            keys = ("ngram_size_m", "ngram_size_n")
            said["max_draft_len"] = config.ngram_size_m
            said["max_matching_ngram_size"] = config.ngram_size_n
    sheet.say(keys[0], word)
    sheet.bridge(
        keys[1],
        f"{_SPECULATION}.max_matching_ngram_size: the longest match; shorter ones draft as well.",
    )
    return said


def _by_model(sheet: Sheet, kind: str, others: str) -> dict[str, object]:
    config, name = sheet.config, _TYPES[kind]
    if others:
        sheet.bridge("spec_types", f"{_SPECULATION} {name}.{others}")
    else:
        sheet.say("spec_types", f"{_SPECULATION} {name}")
    sheet.say("draft_n_max", f"{_SPECULATION}.max_draft_len")
    said: dict[str, object] = {"decoding_type": name, "max_draft_len": config.draft_n_max}
    if kind == "draft-mtp":
        sheet.leave("draft_model_path", f"{ENGINE} finds such layers in the model's own weights.")
        return said
    sheet.leave("draft_model_path", draft_reason(ENGINE))
    sheet.notes.append(
        f"In {FILE_NAME}, {DRAFT_PLACE} is the place of the draft model: its name on the hub or "
        "its folder."
    )
    return said | {"speculative_model": DRAFT_PLACE}
