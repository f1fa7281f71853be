"""SGLang's server, ``sglang serve``, release 0.5.23."""

from __future__ import annotations

import json
import math

from app.export.board_shares import say_shares
from app.export.boards_named import COMPUTE_BACKENDS, Boards, boards_named, naming_keys
from app.export.carried import answers_for_all
from app.export.conversation_room import capped_note, conversation_tok, say_pool
from app.export.default_sampling import answer_limit, repetition, sampling_defaults
from app.export.dialect import Export, exported
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
from app.export.unused_drafts import DRAFT_CACHE_KEYS, leave_unused_drafts, others_left_out
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_CACHE_TOK

TARGET = "sglang"
ENGINE = "SGLang"
_MIB_PER_GIB = 1024
_MOST_REPETITION = 2.0
_SAMPLING = "--preferred-sampling-params"
_BY_LAYERS = "--pp-size"
_ALGORITHMS = {
    "draft-simple": "STANDALONE",
    "draft-eagle3": "EAGLE3",
    "draft-mtp": "NEXTN",
    "draft-dflash": "DFLASH",
    "draft-dspark": "DSPARK",
}
_BLOCK_SIZES = {
    "draft-dflash": "--speculative-dflash-block-size",
    "draft-dspark": "--speculative-dspark-block-size",
}


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``sglang serve`` command line."""
    sheet = Sheet(situation_of(config, effective, facts, ENGINE, shell))
    sheet.leave("model_path", model_reason(ENGINE))
    sheet.notes.append(place_note(ENGINE, sheet.situation))
    sheet.notes.append(
        f"{ENGINE} has a reader of GGUF files, --load-format gguf with --quantization gguf, for "
        "some architectures; its kernels for them are not what it is fast with."
    )
    for part in (_room, _cache_type, _batches, _caches, _boards, _drafts, _sampling):
        part(sheet)
    return exported(
        TARGET,
        ("sglang", "serve", "--model-path", MODEL_PLACE, *sheet.words),
        tuple(sheet.notes),
        answers_for_all(why_not(ENGINE), sheet.answers),
        shell,
    )


def _room(sheet: Sheet) -> None:
    config = sheet.config
    sheet.flag("ctx_per_slot_tok", "--context-length", conversation_tok(sheet.situation))
    sheet.flag("slots", "--max-running-requests", config.slots)
    say_pool(sheet, ENGINE)
    sheet.flag("ctx_total_tok", "--max-total-tokens", config.pool_tok)
    sheet.leave(
        "fit_margin_mib",
        f"It is what is left free; --mem-fraction-static is the share of the card that {ENGINE} "
        "gives to weights and cache, and what it works with comes on top: leave it unsaid, or set "
        f"it lower until {config.fit_margin_mib:,} MiB stay free under load.",
    )
    sheet.notes.extend(capped_note(sheet.situation, "--context-length"))


def _cache_type(sheet: Sheet) -> None:
    config = sheet.config
    wish = kv_wish(config.cache_type_k, config.cache_type_v)
    flag = "--kv-cache-dtype"
    sheet.leave(wish.outvoted, wish.why_outvoted)
    if wish.is_quantised:
        how = fp8_in_place_of(wish, f"{flag} fp8_e4m3")
        sheet.bridging_flag(wish.keys, how, flag, "fp8_e4m3")
    elif wish.finer.name == "bf16":
        sheet.flag(wish.keys, flag, "bf16")
    else:
        sheet.bridging_flag(wish.keys, wide_in_place_of(wish, f"{flag} auto"), flag, "auto")


def _batches(sheet: Sheet) -> None:
    config = sheet.config
    sheet.flag("batch_tok", "--max-prefill-tokens", config.batch_tok)
    chunk = config.prefill_chunk_tok
    if chunk != "auto":
        how = (
            "--chunked-prefill-size: most prompt tokens of a step, whether others generate or not."
        )
        said = min(int(chunk), config.batch_tok)
        sheet.bridging_flag("prefill_chunk_tok", how, "--chunked-prefill-size", said)


def _caches(sheet: Sheet) -> None:
    config = sheet.config
    if config.cache_prompt:
        sheet.say("cache_prompt", "its radix cache, unless told otherwise")
    else:
        sheet.flag("cache_prompt", "--disable-radix-cache")
    if config.swa_full:
        sheet.flag("swa_full", "--disable-hybrid-swa-memory")
    else:
        sheet.say("swa_full", "no --disable-hybrid-swa-memory")
    _host_cache(sheet)


def _host_cache(sheet: Sheet) -> None:
    kept_mib = sheet.config.cache_ram_mib
    flags = "--enable-hierarchical-cache --hicache-size"
    kept_gb = math.ceil(kept_mib / _MIB_PER_GIB)
    if kept_mib == 0:
        sheet.say("cache_ram_mib", "no --enable-hierarchical-cache")
    elif kept_mib < 0:
        sheet.leave("cache_ram_mib", f"{ENGINE} wants a size: {flags} GB.")
    elif not sheet.config.cache_prompt:
        sheet.leave("cache_ram_mib", "Without the radix cache there is nothing to keep.")
    elif not sheet.is_moved("cache_ram_mib"):
        sheet.leave(
            "cache_ram_mib",
            f"{ENGINE} keeps nothing in RAM unless told, and TuneDeck's own value was not "
            f"changed: {flags} {kept_gb} would keep as much.",
        )
    else:
        sheet.words.append("--enable-hierarchical-cache")
        how = f"{flags}: whole GB for pieces of any conversation, {kept_gb} here."
        sheet.bridging_flag("cache_ram_mib", how, "--hicache-size", kept_gb)


def _boards(sheet: Sheet) -> None:
    boards = boards_named(sheet.config)
    if boards.is_none:
        sheet.leave("devices", f"{ENGINE} has a build of its own for the CPU.")
        return
    if boards.numbers and boards.backend in COMPUTE_BACKENDS:
        _numbers(sheet, boards)
    say_shares(sheet, ENGINE, _BY_LAYERS, "--tp-size")


def _numbers(sheet: Sheet, boards: Boards) -> None:
    """The first board and the distance of the next: SGLang counts on from there."""
    keys = naming_keys(sheet.config)
    first, *rest = boards.numbers
    steps = {after - before for before, after in zip(boards.numbers, rest, strict=False)}
    if any(step < 1 for step in steps) or len(steps) > 1:
        sheet.leave(
            keys,
            f"{ENGINE} counts on from a first board in equal steps; other choices are made by the "
            "variable CUDA_VISIBLE_DEVICES.",
        )
        return
    sheet.flag(keys, "--base-gpu-id", first)
    for step in steps - {1}:
        sheet.flag(keys, "--gpu-id-step", step)


# --- Drafts ----------------------------------------------------------------------------------


def _drafts(sheet: Sheet) -> None:
    kinds = sheet.config.spec_types
    kind = kinds[0] if kinds else ""
    is_refused = kind in _BLOCK_SIZES and _BY_LAYERS in sheet.words
    leave_unused_drafts(sheet, ENGINE, "" if is_refused else kind)
    if not kinds:
        sheet.say("spec_types", "no drafts unless told")
        return
    if is_refused:
        sheet.leave(
            "spec_types",
            f"{ENGINE} refuses to start with {_ALGORITHMS[kind]} and {_BY_LAYERS}: it drafts so "
            "where every board has a cut of each weight, as split mode row and tensor have it.",
        )
        return
    others = others_left_out(ENGINE, kinds)
    if kind in _ALGORITHMS:
        _by_model(sheet, kind, others)
    else:
        _by_ngrams(sheet, kind, others)


def _by_ngrams(sheet: Sheet, kind: str, others: str) -> None:
    config, flag = sheet.config, "--speculative-algorithm"
    how = f"{flag} NGRAM in place of {kind}: a tree of what was said before, of all texts.{others}"
    sheet.bridging_flag("spec_types", how, flag, "NGRAM")
    amount = "--speculative-num-draft-tokens"
    match kind:
        case "ngram-mod":
            sheet.flag("ngram_mod_n_max", amount, config.ngram_mod_n_max)
        case "ngram-cache":
            sheet.words += [amount, str(NGRAM_CACHE_TOK)]
        case _:
            sheet.flag("ngram_size_m", amount, config.ngram_size_m)
    for key in ("ngram_size_n", "ngram_mod_n_match"):
        if key not in sheet.answers:
            sheet.leave(key, f"{ENGINE} matches words of any number, up to the depth of its tree.")


def _by_model(sheet: Sheet, kind: str, others: str) -> None:
    config, flag, algorithm = sheet.config, "--speculative-algorithm", _ALGORITHMS[kind]
    if others:
        sheet.bridging_flag("spec_types", f"{flag} {algorithm}.{others}", flag, algorithm)
    else:
        sheet.flag("spec_types", flag, algorithm)
    if kind == "draft-mtp":
        sheet.leave("draft_model_path", f"{ENGINE} finds such layers in the model's own weights.")
    else:
        sheet.words += ["--speculative-draft-model-path", DRAFT_PLACE]
        sheet.leave("draft_model_path", draft_reason(ENGINE))
        sheet.notes.append(
            f"{DRAFT_PLACE} is the place of the draft model: its name on the hub or its folder."
        )
    if kind in _BLOCK_SIZES:
        sheet.flag("draft_n_max", _BLOCK_SIZES[kind], config.draft_n_max)
    else:
        # One guess a step; the token that is checked with them counts as one more.
        sheet.flag("draft_n_max", "--speculative-num-steps", config.draft_n_max)
        sheet.words += ["--speculative-eagle-topk", "1"]
        sheet.words += ["--speculative-num-draft-tokens", str(config.draft_n_max + 1)]
    wish = kv_wish(config.draft_cache_type_k, config.draft_cache_type_v, DRAFT_CACHE_KEYS)
    sheet.leave(wish.outvoted, wish.why_outvoted)
    dtype = "fp8_e4m3" if wish.is_quantised else "auto"
    word = f"--speculative-draft-kv-cache-dtype {dtype}"
    how = fp8_in_place_of(wish, word) if wish.is_quantised else wide_in_place_of(wish, word)
    sheet.bridging_flag(wish.keys, how, "--speculative-draft-kv-cache-dtype", dtype)


# --- Sampling --------------------------------------------------------------------------------


def _sampling(sheet: Sheet) -> None:
    config = sheet.config
    values = sampling_defaults(sheet, _SAMPLING, all_tokens=-1)
    repetition(sheet, _SAMPLING, values, most=_MOST_REPETITION)
    answer_limit(sheet, _SAMPLING, values)
    for key in ("presence_penalty", "frequency_penalty"):
        values[key] = getattr(config, key)
        sheet.say(key, _SAMPLING)
    said: dict[str, object] = dict(values)
    if config.ignore_eos:
        said["ignore_eos"] = True
        sheet.say("ignore_eos", _SAMPLING)
    sheet.words += [_SAMPLING, json.dumps(said)]
    sheet.leave(
        "seed",
        "--random-seed starts the random numbers of the process; TuneDeck's seed those of each "
        f"answer, which {ENGINE} takes with the request.",
    )
    sheet.notes.append(
        f"{_SAMPLING} fills what a request to /generate leaves out; chats at /v1 bring the values "
        "of the model's generation_config.json unless the request has its own."
    )
