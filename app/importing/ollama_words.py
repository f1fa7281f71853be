"""Ollama's words as settings: variables of its server, Modelfiles, requests and commands.

Its context is what one slot has, and it starts its engine with that times the number of slots. One
variable sets both cache types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from app.export.engine_words import EngineWords, engine_words
from app.importing import llama_words, ollama_modelfile
from app.importing.contradictions import tell_contradictions
from app.importing.flag_handlers import Handler, shown, understand_flags
from app.importing.flag_reader import read_flags
from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.program_words import command_and_rest
from app.importing.typed_numbers import truth, whole
from app.importing.variable_words import look_at_variables

TARGET = "ollama"
# What its engine was called while it was a program of its own.
_RUNNER = "ollama_llama_server"
_BOTH_TYPES = "--kv-cache-type"
_COMMANDS = ("serve", "start", "run", "create", "show", "pull", "push", "list", "ls", "ps", "cp",
             "rm", "stop", "launch")  # fmt: skip
_BYTES_PER_TIB = 1 << 40
_MOST_OVERHEAD_BYTES = _BYTES_PER_TIB
"""No GPU has this much memory; a larger reserve is a slip."""


def understand(invocation: Invocation) -> Found:
    """What the words, variables and files of Ollama mean to the desk."""
    if _is_runner(invocation):
        return _of_runner(invocation)
    gathering = Gathering(TARGET, invocation)
    engine = engine_words("ollama")
    _variables(gathering)
    look_at_variables(gathering, engine, "OLLAMA_")
    ollama_modelfile.take(gathering, engine)
    _command(gathering, engine)
    _ports(gathering)
    _settle_room(gathering)
    tell_contradictions(gathering)
    return gathering.found()


def _is_runner(invocation: Invocation) -> bool:
    """Whether this is the engine that Ollama starts by itself, which has llama.cpp's own words."""
    return invocation.words[:1] == ("runner",)


def _of_runner(invocation: Invocation) -> Found:
    """Its words are llama.cpp's, but for one that says both cache types."""
    words: list[str] = []
    for word in invocation.words:
        if words and words[-1] == _BOTH_TYPES:
            words[-1:] = ["--cache-type-k", word, "--cache-type-v", word]
        else:
            words.append(word)
    return llama_words.understand(replace(invocation, program=_RUNNER, words=tuple(words)))


# --- Variables ----------------------------------------------------------------------------------


def _variables(gathering: Gathering) -> None:
    for name, text in gathering.invocation.env.items():
        take = _VARIABLES.get(name)
        value = text.strip().strip("\"'")  # as Ollama reads them
        if take is not None and value:
            take(gathering, name, value)
        elif name.strip() == "OLLAMA_GPU_OVERHEAD":
            _overhead_size(gathering, value)


def _flash(gathering: Gathering, name: str, value: str) -> None:
    on = truth(value)
    if on is None:
        gathering.open("flash_attn", value, name)
    else:
        gathering.setting("flash_attn", "on" if on else "off")


def _cache_type(gathering: Gathering, name: str, value: str) -> None:
    gathering.setting("cache_type_k", value.lower())
    gathering.setting("cache_type_v", value.lower())


def _slots(gathering: Gathering, name: str, value: str) -> None:
    if whole(value) == 0:
        gathering.note(f"{name}=0 leaves the number of slots to Ollama.")
        return
    gathering.whole("slots", value, name)
    gathering.setting("kv_unified", False, derived=True)


def _context(gathering: Gathering, name: str, value: str) -> None:
    if whole(value) == 0:
        gathering.note(f"{name}=0 leaves the context to Ollama, which chooses by memory.")
    else:
        gathering.whole("ctx_per_slot_tok", value, name)


def _overhead(gathering: Gathering, name: str, value: str) -> None:
    gathering.understood_whole("gpu_overhead_bytes", value, name)
    _overhead_size(gathering, value)
    if whole(value) == 0:
        return
    gathering.note(
        f"{name} is what Ollama leaves to other programs on each GPU, in bytes; the margin here is "
        "llama.cpp's own, so it is shown and not taken over."
    )


def _overhead_size(gathering: Gathering, value: str) -> None:
    number = whole(value)
    if number is not None and number > _MOST_OVERHEAD_BYTES:
        gathering.problem(
            "odd_value", f"{number} bytes is about {number / _BYTES_PER_TIB:.0f} TiB on every GPU"
        )


def _host(gathering: Gathering, name: str, value: str) -> None:
    """``SCHEME://HOST:PORT``, each part but the host optional."""
    address = value.split("://", 1)[-1].split("/", 1)[0]
    host, colon, port = address.rpartition(":")
    if address.endswith("]") or not colon:
        host, port = address, ""
    if host:
        gathering.understood("host", host.strip("[]"))
    if port:
        gathering.understood_whole("port", port, name)


def _margin(gathering: Gathering, name: str, value: str) -> None:
    gathering.whole("fit_margin_mib", value, name)


def _host_cache(gathering: Gathering, name: str, value: str) -> None:
    gathering.whole("cache_ram_mib", value, name)


def _shown(key: str) -> Callable[[Gathering, str, str], None]:
    def take(gathering: Gathering, name: str, value: str) -> None:
        gathering.understood(key, value)

    return take


_VARIABLES: dict[str, Callable[[Gathering, str, str], None]] = {
    "OLLAMA_FLASH_ATTENTION": _flash,
    "OLLAMA_KV_CACHE_TYPE": _cache_type,
    "OLLAMA_NUM_PARALLEL": _slots,
    "OLLAMA_CONTEXT_LENGTH": _context,
    "OLLAMA_GPU_OVERHEAD": _overhead,
    "OLLAMA_HOST": _host,
    "OLLAMA_KEEP_ALIVE": _shown("keep_alive"),
    "OLLAMA_MODELS": _shown("models_dir"),
    "OLLAMA_SCHED_SPREAD": _shown("sched_spread"),
    # Its engine inherits these.
    "LLAMA_ARG_FIT_TARGET": _margin,
    "LLAMA_ARG_CACHE_RAM": _host_cache,
}


# --- Commands -----------------------------------------------------------------------------------

_FLAGS: dict[str, Handler] = {
    "--keepalive": shown("keep_alive"),
    "--file": shown("modelfile"),
}


def _command(gathering: Gathering, engine: EngineWords) -> None:
    command, words = command_and_rest(gathering.invocation.words, _COMMANDS)
    if not command and not words:
        return
    own = msgspec.structs.replace(engine, flags=engine.commands.get(command, ()))
    alone = understand_flags(gathering, read_flags(words, own), own, _FLAGS)
    if command in ("run", "pull", "show", "stop") and alone:
        ollama_modelfile.take_name(gathering, alone[0])
        if command == "run" and alone[1:]:
            gathering.understood("prompt", " ".join(alone[1:]))
    elif command == "create" and alone:
        gathering.understood("alias", alone[0])
        gathering.note("ollama create reads its settings from a Modelfile; open that one.")
    elif alone:
        gathering.keep_words(alone)
        gathering.problem("unknown_word", f"“{' '.join(alone[:3])}” belongs to no flag")


def _ports(gathering: Gathering) -> None:
    for host_port, _ in gathering.invocation.ports[:1]:
        if "port" not in gathering.other:
            gathering.understood_whole("port", host_port.rpartition(":")[2], "the published port")


# --- Together -----------------------------------------------------------------------------------


def _settle_room(gathering: Gathering) -> None:
    slots = gathering.settings.get("slots")
    context = gathering.settings.get("ctx_per_slot_tok")
    if not isinstance(slots, int) or slots < 2:
        return
    if "ctx_per_slot_tok" not in gathering.settings:
        gathering.problem(
            "unknown_context",
            f"the context of one slot is not in the text, and Ollama takes it {slots} times",
        )
    elif isinstance(context, int):
        gathering.note(
            f"Ollama gives each of {slots} slots a context of its own: {slots * context:,} tok in "
            "all."
        )
