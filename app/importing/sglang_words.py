"""SGLang's words as settings.

``--context-length`` is what one request may use; all requests share one pool, whose size in tokens
is ``--max-total-tokens`` where somebody sets it. Nothing is multiplied.
"""

from __future__ import annotations

from app.export.engine_words import engine_words
from app.importing import serving_words, sglang_drafts
from app.importing.cache_words import cache_type
from app.importing.flag_handlers import (
    Handler,
    alias,
    fixed,
    named_file,
    secret,
    shown,
    shown_fixed,
    shown_whole,
    understand_flags,
    whole,
)
from app.importing.flag_reader import Said, read_flags
from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.program_words import command_and_rest
from app.importing.typed_numbers import whole as whole_number
from app.importing.value_words import flags_from_values
from app.importing.variable_words import look_at_variables

TARGET = "sglang"
ENGINE = "SGLang"
_MIB_PER_GIB = 1024
# Beginnings that stood for one flag when people wrote them.
_MEANT = {
    "--speculative-draft": "--speculative-draft-model-path",
    "--mem-fraction": "--mem-fraction-static",
}
# Names that everybody uses, and that the engine knows by their beginning alone.
_USUAL = {"--tp": "--tp-size", "--dp": "--dp-size", "--pp": "--pp-size"}
_SUFFIXES = {letter: 1000**n for n, letter in enumerate("kMGT", 1)} | {
    f"{letter}i": 1024**n for n, letter in enumerate("KMGT", 1)
}


def understand(invocation: Invocation) -> Found:
    """What the words and variables of SGLang mean to the desk."""
    gathering = Gathering(TARGET, invocation)
    engine = engine_words("sglang")
    command, words = command_and_rest(invocation.words, ("serve", "generate"))
    if command == "generate":
        gathering.problem("not_transferable", "sglang generate starts no server")
    words = (*words, *flags_from_values(invocation.values, engine))
    reading = read_flags([_usual(word) for word in words], engine, _MEANT)
    alone = understand_flags(gathering, reading, engine, _HANDLERS)
    sglang_drafts.take(gathering, reading.said)
    serving_words.take_models(gathering, alone)
    look_at_variables(gathering, engine, "SGLANG_")
    serving_words.note_shared_pool(gathering, ENGINE)
    return gathering.found()


def _usual(word: str) -> str:
    head, equals, tail = word.partition("=")
    return f"{_USUAL[head]}{equals}{tail}" if head in _USUAL else word


def _sized(key: str) -> Handler:
    return serving_words.sized(key, _SUFFIXES, with_decimals="kMGT")


def _chunk(gathering: Gathering, said: Said) -> None:
    gathering.understood_whole("chunked_prefill_tok", said.value, said.written)
    gathering.note(
        f"{said.written} {said.value} bounds the prompt tokens of one step; it is no micro-batch, "
        "and the chunk here follows the measured speed."
    )


def _kept_in_ram(gathering: Gathering, said: Said) -> None:
    gib = whole_number(said.value)
    if gib is None or gib < 0:
        gathering.open("cache_ram_mib", said.value, said.written)
    elif gib > 0:  # 0 leaves the size to --hicache-ratio
        gathering.setting("cache_ram_mib", gib * _MIB_PER_GIB)
        gathering.note(
            f"{said.written} keeps pieces of any conversation in RAM; llama.cpp keeps whole ones "
            "in as much."
        )


_HANDLERS: dict[str, Handler] = {
    "--model-path": serving_words.model,
    "--context-length": _sized("ctx_per_slot_tok"),
    "--max-running-requests": whole("slots"),
    "--max-total-tokens": _sized("ctx_total_tok"),
    "--max-prefill-tokens": _sized("batch_tok"),
    "--chunked-prefill-size": _chunk,
    "--kv-cache-dtype": cache_type,
    "--mem-fraction-static": serving_words.memory_share(
        "the share of a GPU's memory that SGLang takes for weights and pool together"
    ),
    "--disable-radix-cache": fixed("cache_prompt", False),
    "--disable-hybrid-swa-memory": fixed("swa_full", True),
    "--enable-hierarchical-cache": shown_fixed("hierarchical_cache", True),
    "--hicache-size": _kept_in_ram,
    "--base-gpu-id": shown_whole("base_gpu_id"),
    "--tp-size": serving_words.over_boards("tensor_parallel", "Tensor parallelism"),
    "--pp-size": serving_words.over_boards("pipeline_parallel", "Pipeline parallelism"),
    "--dp-size": serving_words.data_parallel,
    "--preferred-sampling-params": serving_words.samplers,
    **dict.fromkeys(sglang_drafts.FLAGS, sglang_drafts.told_together),
    "--served-model-name": alias,
    "--host": shown("host"),
    "--port": shown_whole("port"),
    "--api-key": secret("api_key"),
    "--admin-api-key": secret("admin_api_key"),
    "--chat-template": shown("chat_template_file"),
    "--tool-call-parser": serving_words.tool_parser,
    "--trust-remote-code": serving_words.remote_code,
    "--lora-paths": serving_words.lora_folders,
    "--enable-lora": serving_words.lora_folders,
    "--enable-dp-attention": shown_fixed("dp_attention", True),
    "--config": named_file,
}
