"""Which engine an invocation is for.

By its program; where it names none, by its image, the kind of text, its variables, or by whose
words it has most of. Must not know what any word means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from app.export.engine_words import EngineWords, engine_words
from app.importing.invocation import Invocation
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
_OF_KIND = {"preset": LLAMA, "modelfile": OLLAMA, "kcpps": KOBOLD}
_OF_VARIABLE = (
    # Its engine is llama.cpp's server and inherits that one's variables.
    (re.compile(r"\s*OLLAMA_", re.IGNORECASE), OLLAMA),
    (re.compile(r"\s*LLAMA_", re.IGNORECASE), LLAMA),
    (re.compile(r"\s*VLLM_", re.IGNORECASE), VLLM),
    (re.compile(r"\s*(?:SGLANG|SGL)_", re.IGNORECASE), SGLANG),
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
    keys = {part for key in invocation.values for part in (key, key.split(".")[-1])}
    known = {engine: _known(engine_words(data), flags, keys) for engine, data in _DATA.items()}
    best = max(known, key=lambda engine: known[engine])
    return best if known[best] else ""


def _known(engine: EngineWords, flags: Iterable[str], keys: set[str]) -> int:
    """How many of the words an engine knows."""
    said = 0
    for flag in flags:
        name = flag.partition("=")[0]
        is_meant = engine.abbreviates and len(name) > 4 and engine.beginning_with(name)
        said += engine.flag(name) is not None or bool(is_meant)
    of_files = {name for words in engine.keys.values() for word in words for name in word.names}
    return said + len(keys & of_files)
