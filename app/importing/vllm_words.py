"""vLLM's words as settings.

``--max-model-len`` is what one sequence may use, and all sequences share one pool of blocks that
is as large as the memory allows: nothing is multiplied.
"""

from __future__ import annotations

from app.export.engine_words import engine_words
from app.importing import serving_words, vllm_drafts
from app.importing.cache_words import cache_type
from app.importing.draft_words import settle_lengths
from app.importing.flag_handlers import (
    Handler,
    alias,
    named_file,
    secret,
    shown,
    shown_fixed,
    shown_whole,
    switched,
    understand_flags,
    whole,
)
from app.importing.flag_reader import Said, read_flags
from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.model_words import place_model
from app.importing.program_words import command_and_rest
from app.importing.typed_numbers import decimal
from app.importing.value_words import flags_from_values
from app.importing.variable_words import look_at_variables

TARGET = "vllm"
ENGINE = "vLLM"
_COMMANDS = ("serve", "bench serve", "bench latency", "bench throughput", "bench", "chat",
             "complete", "run-batch", "collect-env")  # fmt: skip
_SUFFIXES = {letter: 1000**n for n, letter in enumerate("kmgt", 1)} | {
    letter: 1024**n for n, letter in enumerate("KMGT", 1)
}
_MIB_PER_GIB = 1024


def understand(invocation: Invocation) -> Found:
    """What the words and variables of vLLM mean to the desk."""
    gathering = Gathering(TARGET, invocation)
    engine = engine_words("vllm")
    command, words = command_and_rest(invocation.words, _COMMANDS)
    if command and command != "serve":
        gathering.problem("not_transferable", f"vllm {command} starts no server")
    words = (*words, *flags_from_values(invocation.values, engine))
    alone = understand_flags(gathering, read_flags(words, engine), engine, _HANDLERS)
    for name in invocation.values.get("model_tag", ()):
        place_model(gathering, name)
    settle_lengths(gathering)
    serving_words.take_models(gathering, alone)
    look_at_variables(gathering, engine, "VLLM_")
    serving_words.note_shared_pool(gathering, ENGINE)
    return gathering.found()


def _sized(key: str) -> Handler:
    return serving_words.sized(key, _SUFFIXES, with_decimals="kmgt")


def _context(gathering: Gathering, said: Said) -> None:
    if said.value in ("auto", "-1"):
        gathering.note(
            f"{said.written} {said.value} is the longest context that fits; the context here stays "
            "as it is."
        )
        return
    _sized("ctx_per_slot_tok")(gathering, said)


def _kept_in_ram(gathering: Gathering, said: Said) -> None:
    gib = decimal(said.value)
    if gib is None or gib < 0:
        gathering.open("cache_ram_mib", said.value, said.written)
        return
    gathering.setting("cache_ram_mib", round(gib * _MIB_PER_GIB))
    gathering.note(
        f"{said.written} keeps pieces of any conversation in RAM; llama.cpp keeps whole ones in as "
        "much."
    )


def _offload(gathering: Gathering, said: Said) -> None:
    if decimal(said.value) == 0:
        return
    gathering.problem(
        "not_transferable",
        f"{said.written} {said.value}: vLLM moves that many GiB of weights to host memory, "
        "llama.cpp moves layers; set the layers on the GPU instead",
    )


_HANDLERS: dict[str, Handler] = {
    "--model": serving_words.model,
    "--max-model-len": _context,
    "--max-num-seqs": whole("slots"),
    "--max-num-batched-tokens": _sized("batch_tok"),
    "--long-prefill-token-threshold": shown_whole("long_prefill_tok"),
    "--kv-cache-dtype": cache_type,
    "--gpu-memory-utilization": serving_words.memory_share(
        "the share of a GPU's memory that vLLM takes for weights, pool and work together"
    ),
    "--kv-cache-memory-bytes": shown("kv_cache_memory"),
    "--kv-offloading-size": _kept_in_ram,
    "--cpu-offload-gb": _offload,
    "--enable-prefix-caching": switched("cache_prompt"),
    "--tensor-parallel-size": serving_words.over_boards("tensor_parallel", "Tensor parallelism"),
    "--pipeline-parallel-size": serving_words.over_boards(
        "pipeline_parallel", "Pipeline parallelism"
    ),
    "--data-parallel-size": serving_words.data_parallel,
    "--device-ids": shown("device_ids"),
    "--speculative-config": vllm_drafts.config,
    "--spec-method": vllm_drafts.method,
    "--spec-model": vllm_drafts.model,
    "--spec-tokens": vllm_drafts.tokens,
    "--speculative-model": vllm_drafts.model,
    "--num-speculative-tokens": vllm_drafts.tokens,
    "--ngram-prompt-lookup-max": vllm_drafts.lookup_most,
    "--override-generation-config": serving_words.samplers,
    "--served-model-name": alias,
    "--host": shown("host"),
    "--port": shown_whole("port"),
    "--api-key": secret("api_key"),
    "--hf-token": secret("hf_token"),
    "--chat-template": shown("chat_template_file"),
    "--enable-auto-tool-choice": shown_fixed("jinja", True),
    "--tool-call-parser": serving_words.tool_parser,
    "--trust-remote-code": serving_words.remote_code,
    "--lora-modules": serving_words.lora_folders,
    "--enable-lora": serving_words.lora_folders,
    "--config": named_file,
}
