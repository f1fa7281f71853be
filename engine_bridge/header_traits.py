"""What a header says of positions and special tokens; words for a person.

Pure but for the texts of a few tokens, which are read from the file.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine_bridge.gguf_header import Header

_TOKENS = "tokenizer.ggml.tokens"
# In the order in which a person asks for them.
_SPECIAL: Mapping[str, str] = {
    "bos": "BOS", "eos": "EOS", "eot": "end of turn", "padding": "padding", "unknown": "unknown",
    "fim_pre": "FIM prefix", "fim_suf": "FIM suffix", "fim_mid": "FIM middle", "mask": "mask",
}  # fmt: skip
_LONGEST_TOKEN_BYTES = 64


def rope_words(header: Header, architecture: str) -> str:
    """How positions are told: ``base 1,000,000 · yarn × 4 from 32,768 tokens``; may be empty."""

    def value(key: str) -> object:
        return header.values.get(f"{architecture}.rope.{key}")

    parts = []
    base = value("freq_base")
    if isinstance(base, int | float) and base > 0:
        parts.append(f"base {base:,.0f}")
    kind, factor = value("scaling.type"), value("scaling.factor")
    original = value("scaling.original_context_length")
    is_scaled = isinstance(kind, str) and kind not in ("", "none")
    if is_scaled or isinstance(factor, int | float):
        words = str(kind)[:_LONGEST_TOKEN_BYTES] if is_scaled else "scaled"
        if isinstance(factor, int | float):
            words += f" × {factor:g}"
        if isinstance(original, int) and original > 0:
            words += f" from {original:,} tokens"
        parts.append(words)
    return " · ".join(parts)


def tokenizer_words(header: Header) -> str:
    """Its family, and how it splits a text before: ``gpt2, split as qwen2``; may be empty."""
    kind, split = header.line("tokenizer.ggml.model"), header.line("tokenizer.ggml.pre")
    return f"{kind}, split as {split}" if kind and split else kind


def special_tokens(header: Header) -> tuple[tuple[str, str], ...]:
    """What special tokens are for, and their texts; those that the header does not name are none.

    Raises:
        OSError: If the file cannot be read.
    """
    ids = {
        word: header.number(f"tokenizer.ggml.{key}_token_id", -1) for key, word in _SPECIAL.items()
    }
    texts = _texts_of(header, [number for number in ids.values() if number >= 0])
    return tuple((word, texts[number]) for word, number in ids.items() if number in texts)


def _texts_of(header: Header, numbers: Sequence[int]) -> dict[int, str]:
    """The texts of these tokens, for people."""
    begin, end = header.texts_at(_TOKENS)
    last = max(numbers, default=-1)
    if end <= begin or last < 0:
        return {}
    with Path(header.path).open("rb") as file:
        file.seek(begin)
        content = file.read(end - begin)
    wanted, found = set(numbers), {}
    read_length, position = struct.Struct("<Q").unpack_from, 0
    for number in range(last + 1):
        if position + 8 > len(content):
            break
        length = read_length(content, position)[0]
        if number in wanted:
            found[number] = _shown(content[position + 8 : position + 8 + length])
        position += 8 + length
    return found


def _shown(text: bytes) -> str:
    decoded = text[:_LONGEST_TOKEN_BYTES].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "�" for letter in decoded)
