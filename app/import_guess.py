"""Whether a text in the clipboard looks like a command: nothing else is put into the window. Pure.

Errs on the side of no: what was copied may be a letter or a password, and pasting takes one key.
"""

from __future__ import annotations

import re

MOST_CHARACTERS = 65_536
"""A longer text in the clipboard is left where it is."""

_PROGRAM = re.compile(
    r"\b(?:llama-(?:server|cli|bench|run)|llama serve|llama_cpp\.server|koboldcpp|vllm serve"
    r"|vllm\.entrypoints|sglang(?:\.launch_server| serve)|trtllm-serve|ollama (?:run|serve|create)"
    r"|lms load|server\.py|Llama\(|llama\.cpp:(?:server|full))",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(?:^|[\s\"'\[])--?[a-zA-Z][\w-]*(?=[\s=,\"'\]]|$)", re.MULTILINE)
_KNOWN_FLAG = re.compile(
    r"(?:^|[\s\"'\[])(?:-ngl|-ctk|-ctv|-fa|-np|-md|-ot|-hf|--ctx-size|--n-gpu-layers|--gpu-layers"
    r"|--cache-type-[kv]|--flash-attn|--parallel|--model-draft|--contextsize|--gpulayers"
    r"|--max-model-len|--gpu-memory-utilization|--tensor-parallel-size|--mem-fraction-static"
    r"|--context-length|--kv-cache-dtype|--max-num-seqs|--hf-repo|--n-cpu-moe"
    r"|--rope-scaling|--rope-scale|--yarn-orig-ctx|--override-kv|--chunked-prefill-size"
    r"|--max-running-requests|--model-path|--tp)(?=[\s=,\"'\]]|$)",
    re.MULTILINE,
)
_VARIABLE = re.compile(r"\b(?:LLAMA_ARG|OLLAMA)_[A-Z_]+[\"']?\s*[=:]")
_PRESET = re.compile(
    r"^[ \t]*(?:ctx-size|n-gpu-layers|cache-type-[kv]|flash-attn|model|hf-repo|parallel|c|ngl|np)"
    r"[ \t]*=",
    re.MULTILINE,
)
_SECTION = re.compile(r"^[ \t]*\[[^\]\n]{1,200}\][ \t]*$", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*FROM[ \t]+\S", re.MULTILINE)
_PARAMETER = re.compile(r"^[ \t]*PARAMETER[ \t]+\w+[ \t]+\S", re.MULTILINE)
_KCPPS = re.compile(r"\"(?:model_param|contextsize|gpulayers|quantkv)\"\s*:")
_FEW = 2


def looks_like_command(text: str) -> bool:
    """Whether ``text`` is, by evidence, something that can be imported."""
    if not text.strip() or len(text) > MOST_CHARACTERS or "\0" in text:
        return False
    if _PROGRAM.search(text) and (_FLAG.search(text) or _VARIABLE.search(text)):
        return True
    if _FROM.search(text) and _PARAMETER.search(text):
        return True
    if _VARIABLE.search(text) or _KCPPS.search(text):
        return True
    if len(_at_most(_KNOWN_FLAG, text)) >= _FEW:
        return True
    return bool(_SECTION.search(text)) and bool(_PRESET.search(text))


def _at_most(pattern: re.Pattern[str], text: str) -> list[str]:
    """The first few hits."""
    hits: list[str] = []
    for found in pattern.finditer(text):
        hits.append(found[0])
        if len(hits) >= _FEW:
            break
    return hits
