"""Engines that nothing is imported from, named where a text is for one of them."""

from __future__ import annotations

import re

KNOWN = (
    "llama.cpp and its Python binding, Ollama, vLLM, SGLang, TensorRT-LLM, LM Studio, KoboldCpp, "
    "text-generation-webui and Jan"
)
"""Those that are imported from, in a sentence."""
_B, _E = r"(?:^|[\s/\\\"'`(=:])", r"(?:[\s\"'`).:]|$)"
_OTHERS = (
    ("Aphrodite", rf"{_B}aphrodite(?:\.\w+)*{_E}|aphrodite-engine"),
    ("TabbyAPI", r"tabbyapi|--cache-mode\s+[QF]|^[ \t]*cache_mode:\s*[QF]"),
    ("ExLlama", r"exllama(?:v[23])?\b"),
    ("MLX", rf"{_B}mlx[_-](?:lm|vlm|omni)\b"),
    ("Text Generation Inference", r"text-generation-(?:inference|launcher)"),
    ("LMDeploy", rf"{_B}lmdeploy{_E}"),
    ("MLC LLM", rf"{_B}mlc[_-](?:llm|chat)\b"),
    ("mistral.rs", r"mistral\.?rs(?:-server)?\b"),
    ("KTransformers", r"ktransformers"),
    ("Infinity", rf"{_B}infinity_emb{_E}"),
    ("GPT4All", r"^\[model-[^\]\n]+\][^\[]*^(?:gpuLayers|contextLength)="),
    ("the window of text-generation-webui", r"^[ \t]*(?:truncation_length|chat_style):"),
    ("Triton Inference Server", r"tritonserver\b"),
    ("whisper.cpp", r"whisper-(?:server|cli)\b"),
    ("stable-diffusion.cpp", rf"{_B}sd(?:-server|-cli)(?:\.exe)?{_E}"),
)
_PATTERNS = tuple((name, re.compile(text, re.IGNORECASE | re.MULTILINE)) for name, text in _OTHERS)
_LOOKED_AT_CHARACTERS = 20_000


_LOOKS_LIKE_OTHERS = ("GPT4All",)


def other_engine(text: str, *, is_sure: bool = False) -> str:
    """A sentence that names the engine which ``text`` is for; empty where none is recognised.

    Args:
        text: In which nothing else was found.
        is_sure: Whether only those are looked for whose files look like others' and are none.
    """
    text = text[:_LOOKED_AT_CHARACTERS]
    names = (name for name, pattern in _PATTERNS if pattern.search(text))
    name = next((name for name in names if not is_sure or name in _LOOKS_LIKE_OTHERS), "")
    if not name:
        return ""
    return (
        f"This is for {name}, whose settings are not read here. Imported from are {KNOWN}: paste a "
        "command or a file of one of these, or set what you need by hand."
    )
