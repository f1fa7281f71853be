"""Templates in the language of Go, as Modelfiles have them: which marks of a chat they write.

Only the marks are looked at; nothing is rendered.
"""

from __future__ import annotations

import re

_ACTION = re.compile(r"\{\{[^{}]{0,2000}\}\}")
_MARK = re.compile(r"<[|/]?[\w| ]{1,40}[|/]?>|\[/?[A-Z_]{2,20}\]")
# The built-in templates of llama.cpp that a set of marks tells apart: what must be there, and what
# may be there besides.
_BUILTIN: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    ("chatml", frozenset({"<|im_start|>", "<|im_end|>"}), frozenset({"<|endoftext|>"})),
    (
        "llama3",
        frozenset({"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}),
        frozenset({"<|begin_of_text|>"}),
    ),
    ("gemma", frozenset({"<start_of_turn>", "<end_of_turn>"}), frozenset({"<bos>"})),
    ("phi3", frozenset({"<|user|>", "<|assistant|>", "<|end|>"}), frozenset({"<|system|>"})),
)


def builtin_like(text: str) -> str:
    """The built-in template of llama.cpp that writes the same marks; empty where none does."""
    marks = set(_MARK.findall(_ACTION.sub(" ", text)))
    for name, needed, allowed in _BUILTIN:
        if needed <= marks <= needed | allowed:
            return name
    return ""
