"""vLLM's server, ``vllm serve``, release 0.30.0."""

from __future__ import annotations

import json

from app.export import vllm_drafts
from app.export.board_shares import say_shares
from app.export.boards_named import COMPUTE_BACKENDS, boards_named, naming_keys
from app.export.carried import answers_for_all
from app.export.conversation_room import capped_note, conversation_tok, say_pool
from app.export.default_sampling import answer_limit, repetition, sampling_defaults
from app.export.dialect import Export, exported
from app.export.kv_numerics import fp8_in_place_of, kv_wish, wide_in_place_of
from app.export.llama_alone import why_not
from app.export.llama_flag import situation_of
from app.export.other_weights import MODEL_PLACE, model_reason, place_note
from app.export.sheet import Sheet
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "vllm"
ENGINE = "vLLM"
# A card to show by what the share of it means, MiB.
_EXAMPLE_CARD_MIB = 24 * 1024
_MIB_PER_GIB = 1024
_SAMPLING = "--override-generation-config"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``vllm serve`` command line."""
    sheet = Sheet(situation_of(config, effective, facts, ENGINE, shell))
    sheet.leave("model_path", model_reason(ENGINE))
    sheet.notes.append(place_note(ENGINE, sheet.situation))
    for part in (_room, _cache_type, _batches, _caches, _boards, _drafts, _sampling):
        part(sheet)
    return exported(
        TARGET,
        ("vllm", "serve", MODEL_PLACE, *sheet.words),
        tuple(sheet.notes),
        answers_for_all(why_not(ENGINE), sheet.answers),
        shell,
    )


def _room(sheet: Sheet) -> None:
    config = sheet.config
    sheet.flag("ctx_per_slot_tok", "--max-model-len", conversation_tok(sheet.situation))
    sheet.flag("slots", "--max-num-seqs", config.slots)
    say_pool(sheet, ENGINE)
    sheet.leave(
        "ctx_total_tok",
        f"{ENGINE} makes its pool as large as --gpu-memory-utilization allows and tells its size "
        f"in the log; {config.pool_tok:,} tokens would be the pool here.",
    )
    share = 1 - config.fit_margin_mib / _EXAMPLE_CARD_MIB
    example = f"{share:.3f}" if share > 0 else "nothing"
    sheet.leave(
        "fit_margin_mib",
        f"It is what is left free; --gpu-memory-utilization is the share of the whole card that "
        f"{ENGINE} may use for weights, cache and work, 0.92 unless said. For a margin of "
        f"{config.fit_margin_mib:,} MiB it is (size − margin) ÷ size: {example} on a card of "
        "24 GiB.",
    )
    sheet.notes.extend(capped_note(sheet.situation, "--max-model-len"))


def _cache_type(sheet: Sheet) -> None:
    config = sheet.config
    wish = kv_wish(config.cache_type_k, config.cache_type_v)
    flag = "--kv-cache-dtype"
    sheet.leave(wish.outvoted, wish.why_outvoted)
    if wish.is_quantised:
        sheet.bridging_flag(wish.keys, fp8_in_place_of(wish, f"{flag} fp8"), flag, "fp8")
    else:
        sheet.bridging_flag(wish.keys, wide_in_place_of(wish, f"{flag} auto"), flag, "auto")


def _batches(sheet: Sheet) -> None:
    config = sheet.config
    # It refuses fewer tokens a step than there may be conversations.
    batch = max(config.batch_tok, config.slots)
    if batch == config.batch_tok:
        sheet.flag("batch_tok", "--max-num-batched-tokens", batch)
    else:
        how = f"--max-num-batched-tokens: at least one for each of the {config.slots:,} slots."
        sheet.bridging_flag("batch_tok", how, "--max-num-batched-tokens", batch)
    chunk = config.prefill_chunk_tok
    if chunk != "auto":
        # A longer one is none, and beyond a conversation it is refused.
        said = min(int(chunk), conversation_tok(sheet.situation))
        how = (
            "--long-prefill-token-threshold: most prompt tokens of one conversation in a step, "
            "whether others generate or not."
        )
        sheet.bridging_flag("prefill_chunk_tok", how, "--long-prefill-token-threshold", said)


def _caches(sheet: Sheet) -> None:
    config = sheet.config
    is_kept = config.cache_prompt
    flag = "--enable-prefix-caching" if is_kept else "--no-enable-prefix-caching"
    sheet.flag("cache_prompt", flag)
    kept_gib = config.cache_ram_mib / _MIB_PER_GIB
    if config.cache_ram_mib == 0:
        sheet.say("cache_ram_mib", "no --kv-offloading-size")
    elif config.cache_ram_mib < 0:
        sheet.leave("cache_ram_mib", f"{ENGINE} wants a size: --kv-offloading-size GIB.")
    elif not sheet.is_moved("cache_ram_mib"):
        sheet.leave(
            "cache_ram_mib",
            f"{ENGINE} keeps nothing in RAM unless told, and TuneDeck's own value was not "
            f"changed: --kv-offloading-size {kept_gib:g} would keep as much.",
        )
    else:
        how = "--kv-offloading-size: GiB for pieces of any conversation, not for whole ones."
        sheet.bridging_flag("cache_ram_mib", how, "--kv-offloading-size", f"{kept_gib:g}")


def _boards(sheet: Sheet) -> None:
    config, boards = sheet.config, boards_named(sheet.config)
    if boards.is_none:
        sheet.leave("devices", f"{ENGINE} has a build of its own for the CPU.")
        return
    if boards.numbers and boards.backend in COMPUTE_BACKENDS:
        ids = ",".join(map(str, boards.numbers))
        sheet.flag(naming_keys(config), "--device-ids", ids)
    say_shares(sheet, ENGINE, "--pipeline-parallel-size", "--tensor-parallel-size")


def _drafts(sheet: Sheet) -> None:
    said = vllm_drafts.speculative_config(sheet)
    if said:
        sheet.words += [vllm_drafts.FLAG, json.dumps(said)]


def _sampling(sheet: Sheet) -> None:
    values = sampling_defaults(sheet, _SAMPLING, all_tokens=0)
    repetition(sheet, _SAMPLING, values)
    answer_limit(sheet, _SAMPLING, values)
    # Without this word the values of the model's own file would fill what is not said.
    sheet.words += ["--generation-config", "vllm", _SAMPLING, json.dumps(values)]
    sheet.leave(
        "seed",
        "--seed starts the random numbers of the process; TuneDeck's seed those of each answer, "
        f"which {ENGINE} takes with the request.",
    )
