"""TensorRT-LLM's words as settings: ``trtllm-serve`` and the YAML that its ``--config`` reads.

``max_seq_len`` is what one request may use; all requests share one pool, whose size in tokens is
``kv_cache_config.max_tokens`` where somebody sets it. Nothing is multiplied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from app.export.engine_words import EngineWords, engine_words
from app.importing import serving_words
from app.importing.cache_words import cache_type, take_cache_type
from app.importing.draft_words import settle_lengths, without_heir
from app.importing.flag_handlers import (
    Handler,
    named_file,
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
from app.importing.model_words import DRAFT, place_model
from app.importing.program_words import command_and_rest
from app.importing.typed_numbers import truth
from app.importing.typed_numbers import whole as whole_number

TARGET = "tensorrt-llm"
ENGINE = "TensorRT-LLM"
_COMMANDS = ("serve", "disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve",
             "embeddings")  # fmt: skip
_BYTES_PER_MIB = 1 << 20
_WHOLE_SECTIONS = ("kv_cache_config",)
_KINDS = {
    "eagle": "draft-eagle3",  # read as the third
    "eagle3": "draft-eagle3",
    "mtp": "draft-mtp",
    "ngram": "ngram-simple",
    "draft_target": "draft-simple",
    "drafttarget": "draft-simple",
    "dflash": "draft-dflash",
    "dspark": "draft-dspark",
}


def understand(invocation: Invocation) -> Found:
    """What the words and the YAML of TensorRT-LLM mean to the desk."""
    gathering = Gathering(TARGET, invocation)
    engine = engine_words("tensorrt_llm")
    command, words = command_and_rest(invocation.words, _COMMANDS)
    if command and command != "serve":
        gathering.problem("not_transferable", f"trtllm-serve {command} starts no model server")
    if re.match(r"trtllm-(?:bench|build|eval|refit|prune)", invocation.program):
        gathering.problem("not_transferable", f"{invocation.program} starts no model server")
    alone = understand_flags(gathering, read_flags(words, engine), engine, _HANDLERS)
    # Words of the line win over the file, and are read before it.
    _file(gathering, invocation.values, engine)
    serving_words.take_models(gathering, alone)
    serving_words.note_shared_pool(gathering, ENGINE)
    return gathering.found()


# --- The line -----------------------------------------------------------------------------------


def _set_path(gathering: Gathering, said: Said) -> None:
    """``--set PATH=VALUE`` says what a key of the file would."""
    path, equals, value = said.value.partition("=")
    if not equals or not _take_key(gathering, path.strip(), (value.strip(),)):
        gathering.leave(ENGINE, [" ".join(said.words)])


_HANDLERS: dict[str, Handler] = {
    "--max_seq_len": whole("ctx_per_slot_tok"),
    "--max_batch_size": whole("slots"),
    "--max_num_tokens": whole("batch_tok"),
    "--kv_cache_dtype": cache_type,
    "--free_gpu_memory_fraction": serving_words.memory_share(
        "the share for the KV cache of what is free once the weights are loaded"
    ),
    "--tensor_parallel_size": serving_words.over_boards("tensor_parallel", "Tensor parallelism"),
    "--pipeline_parallel_size": serving_words.over_boards(
        "pipeline_parallel", "Pipeline parallelism"
    ),
    "--enable_chunked_prefill": shown_fixed("chunked_prefill", True),
    "--served_model_name": shown("alias"),
    "--host": shown("host"),
    "--port": shown_whole("port"),
    "--chat_template": shown("chat_template_file"),
    "--tool_parser": serving_words.tool_parser,
    "--trust_remote_code": serving_words.remote_code,
    "--config": named_file,
    "--set": _set_path,
}


# --- The file -----------------------------------------------------------------------------------

_Taker = Callable[[Gathering, str, str], object]


def _whole_once(key: str) -> _Taker:
    def take(gathering: Gathering, name: str, text: str) -> None:
        if key not in gathering.settings:
            gathering.whole(key, text, name)

    return take


def _reuse(gathering: Gathering, name: str, text: str) -> None:
    on = truth(text)
    if on is None:
        gathering.open("cache_prompt", text, name)
    else:
        gathering.setting("cache_prompt", on)


def _host_cache(gathering: Gathering, name: str, text: str) -> None:
    size_bytes = whole_number(text)
    if size_bytes is None or size_bytes < 0:
        gathering.open("cache_ram_mib", text, name)
        return
    gathering.setting("cache_ram_mib", size_bytes // _BYTES_PER_MIB)
    gathering.note(
        f"{name} keeps pieces of any conversation in RAM; llama.cpp keeps whole ones in as much."
    )


def _dtype(gathering: Gathering, name: str, text: str) -> None:
    if "cache_type_k" not in gathering.settings:
        take_cache_type(gathering, text, name)


def _share(gathering: Gathering, name: str, text: str) -> None:
    if "gpu_mem_fraction" not in gathering.other:
        gathering.understood_decimal("gpu_mem_fraction", text, name)


def _kind(gathering: Gathering, name: str, text: str) -> None:
    kind = _KINDS.get(text.lower())
    if kind is None:
        without_heir(gathering, f"{name} {text}")
    else:
        gathering.setting("spec_types", (kind,))


def _draft(gathering: Gathering, name: str, text: str) -> None:
    place_model(gathering, text, DRAFT)


def _shown_whole(key: str) -> _Taker:
    def take(gathering: Gathering, name: str, text: str) -> None:
        if key not in gathering.other:
            gathering.understood_whole(key, text, name)

    return take


_KEYS: dict[str, _Taker] = {
    "max_seq_len": _whole_once("ctx_per_slot_tok"),
    "max_batch_size": _whole_once("slots"),
    "max_num_tokens": _whole_once("batch_tok"),
    "kv_cache_config.max_tokens": _whole_once("ctx_total_tok"),
    "kv_cache_config.enable_block_reuse": _reuse,
    "kv_cache_config.host_cache_size": _host_cache,
    "kv_cache_config.dtype": _dtype,
    "kv_cache_dtype": _dtype,
    "kv_cache_config.free_gpu_memory_fraction": _share,
    "speculative_config.decoding_type": _kind,
    "speculative_config.max_draft_len": _whole_once("draft_n_max"),
    "speculative_config.max_matching_ngram_size": _whole_once("ngram_size_n"),
    "speculative_config.speculative_model": _draft,
    "speculative_config.speculative_model_dir": _draft,
    "tensor_parallel_size": _shown_whole("tensor_parallel"),
    "pipeline_parallel_size": _shown_whole("pipeline_parallel"),
}


def _take_key(gathering: Gathering, key: str, items: tuple[str, ...]) -> bool:
    take = _KEYS.get(key)
    if take is None or not items:
        return take is not None
    take(gathering, key, items[-1])
    return True


def _file(gathering: Gathering, values: Mapping[str, tuple[str, ...]], engine: EngineWords) -> None:
    left = []
    for key, items in values.items():
        line = f"{key}: {', '.join(items)}"
        if key == "model":
            place_model(gathering, items[-1])
        elif _take_key(gathering, key, items):
            continue
        elif _is_known(key, engine):
            left.append(line)
        else:
            gathering.keep_words((line,))
            gathering.problem("unknown_key", f"{key} is no key of {ENGINE}; it is kept as it was")
    gathering.leave(ENGINE, left)
    settle_lengths(gathering)


def _is_known(key: str, engine: EngineWords) -> bool:
    """Whether there is such a key; of sections that are not known whole every one may be."""
    section, dot, name = key.rpartition(".")
    return not (dot and section in _WHOLE_SECTIONS) or engine.key(section, name) is not None
