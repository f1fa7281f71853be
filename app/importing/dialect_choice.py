"""Which engine an invocation is for.

By its program; where it names none, by its image, the kind of text, its variables, or by whose
words it has most of. Must not know what any word means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.export.engine_words import EngineWords, engine_words
from app.importing import launcher_words
from app.importing.invocation import Invocation
from app.importing.launcher_words import WEBUI
from app.importing.llama_scan import begins_flag
from app.importing.programs import base_name, family

LLAMA, PYTHON = "llama.cpp", "llama-cpp-python"
OLLAMA, VLLM, SGLANG = "ollama", "vllm", "sglang"
KOBOLD, TENSORRT, LM_STUDIO = "koboldcpp", "tensorrt-llm", "lmstudio"

# The first wins where two have as many of the words.
_DATA = {
    LLAMA: "llama_cpp",
    VLLM: "vllm",
    SGLANG: "sglang",
    KOBOLD: "koboldcpp",
    TENSORRT: "tensorrt_llm",
    OLLAMA: "ollama",
    LM_STUDIO: "lmstudio",
}
# Their files have keys inside keys.
_NESTING = (OLLAMA, LM_STUDIO, TENSORRT)
_OF_KIND = {"preset": LLAMA, "modelfile": OLLAMA, "kcpps": KOBOLD}
_OF_VARIABLE = (
    # Its engine is llama.cpp's server and inherits that one's variables.
    (re.compile(r"\s*OLLAMA_", re.IGNORECASE), OLLAMA),
    (re.compile(r"\s*LLAMA_", re.IGNORECASE), LLAMA),
    (re.compile(r"\s*VLLM_", re.IGNORECASE), VLLM),
    (re.compile(r"\s*(?:SGLANG|SGL)_", re.IGNORECASE), SGLANG),
    (re.compile(r"\s*KCPP_", re.IGNORECASE), KOBOLD),
    (re.compile(r"\s*(?:TRTLLM|TLLM)_", re.IGNORECASE), TENSORRT),
)
_OF_IMAGE = (
    (re.compile(r"llama[._-]?cpp|llamacpp"), LLAMA),
    (re.compile(r"vllm"), VLLM),
    (re.compile(r"sglang"), SGLANG),
    (re.compile(r"ollama"), OLLAMA),
    (re.compile(r"kobold"), KOBOLD),
    (re.compile(r"tensorrt|trtllm"), TENSORRT),
)
_LEAST_SHARE = 0.4
"""Of a text that names no program, as much has to be words of the engine that it is for."""
_OF_WEBUI = re.compile(r"(?:server|one_click)\.py$|start_(?:linux|windows|macos|wsl)\.(?:sh|bat)$")
# Programs that were called so general once that only what they get tells them.
_GENERAL = re.compile(r"(?:server|main)(?:\.exe)?$")


def engine_of(invocation: Invocation) -> str:
    """The engine; empty where nothing tells."""
    if invocation.program:
        return _of_program(invocation)
    if invocation.kind in _OF_KIND:
        return _OF_KIND[invocation.kind]
    for pattern, engine in _OF_IMAGE:
        if invocation.image and pattern.search(invocation.image):
            return engine
    return _of_words(invocation) or _of_variables(invocation)


def _of_program(invocation: Invocation) -> str:
    found = family(invocation.program)
    if _OF_WEBUI.match(base_name(invocation.program).lower()):
        return WEBUI if launcher_words.webui_knows(invocation.words) else ""
    if found:
        return LLAMA if found == "llamafile" else found
    if _GENERAL.match(base_name(invocation.program)) and _of_words(invocation) == LLAMA:
        return LLAMA
    return ""


def _of_variables(invocation: Invocation) -> str:
    for pattern, engine in _OF_VARIABLE:
        if any(pattern.match(name) for name in invocation.env):
            return engine
    return ""


def _of_words(invocation: Invocation) -> str:
    flags = [word for word in invocation.words if begins_flag(word)]
    of_room = _of_room(invocation)
    if of_room:
        return of_room
    known = {engine: _known(engine, flags, invocation.values) for engine in _DATA}
    best = max(known, key=lambda engine: known[engine])
    said = len(flags) + len(invocation.values)
    return best if known[best] > said * _LEAST_SHARE else ""


def _of_room(invocation: Invocation) -> str:
    """Whose file it is, by the rooms that its keys stand in, or by keys that nobody else has."""
    rooms = ("load_params.", "inference_params.", "llm.load.", "llm.prediction.")
    if any(key.startswith(rooms) for key in invocation.values):
        return LM_STUDIO
    if any(key.startswith(("kv_cache_config.", "moe_config.")) for key in invocation.values):
        return TENSORRT
    if not invocation.program and launcher_words.webui_alone(invocation.words):
        return WEBUI
    return launcher_words.kind_of_values(invocation.values)


def _known(name: str, flags: Iterable[str], keys: Iterable[str]) -> int:
    """How many of the words an engine knows."""
    engine = engine_words(_DATA[name])
    said = 0
    for flag in flags:
        head = flag.partition("=")[0]
        is_meant = engine.abbreviates and len(head) > 4 and engine.beginning_with(head)
        said += engine.flag(head) is not None or bool(is_meant)
    of_files = {
        spelling
        for section, words in engine.keys.items()
        if not section.startswith("--")  # of a value that is JSON
        for word in words
        for spelling in word.names
    }
    return said + sum(_is_key(engine, key, of_files, nests=name in _NESTING) for key in keys)


def _is_key(engine: EngineWords, key: str, of_files: set[str], *, nests: bool) -> bool:
    """Whether a file of an engine has a key, with dashes or underscores."""
    last = key.rpartition(".")[2]
    if key in of_files or (nests and last in of_files):
        return True
    spelt = (key, key.replace("_", "-"), key.replace("-", "_"))
    return "." not in key and any(engine.flag(f"--{each}") is not None for each in spelt)
