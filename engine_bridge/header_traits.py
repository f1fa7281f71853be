"""What a header says of positions and special tokens, and what in it is odd; words for a person.

Pure but for the texts of a few tokens, which are read from the file.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine_bridge.gguf_header import Header, TensorFacts
from engine_bridge.model_facts import ModelFacts

_TOKENS = "tokenizer.ggml.tokens"
# In the order in which a person asks for them.
_SPECIAL: Mapping[str, str] = {
    "bos": "BOS", "eos": "EOS", "eot": "end of turn", "padding": "padding", "unknown": "unknown",
    "fim_pre": "FIM prefix", "fim_suf": "FIM suffix", "fim_mid": "FIM middle", "mask": "mask",
}  # fmt: skip
_LONGEST_TOKEN_BYTES = 64
_FOR_CHATS = re.compile(r"(?:^|[-_ .])(?:instruct|chat|it)(?:[-_ .]|$)", re.IGNORECASE)
# Embeddings that take more than this of a file whose other tensors are quantised were left out.
_MUCH = 0.3
_UNQUANTISED = frozenset({"F32", "F16", "BF16"})


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


def oddities(header: Header, facts: ModelFacts, tensors: Sequence[TensorFacts]) -> tuple[str, ...]:
    """What a person should know before trusting the file, a sentence each."""
    found = []
    if not facts.ctx_train_tok:
        found.append("It does not say what context it was trained for.")
    if not facts.chat_template and _FOR_CHATS.search(facts.name):
        found.append(
            "Its name says that it is for chats, but it brings no chat template: llama.cpp takes "
            "ChatML, which it may not know."
        )
    size = header.count(_TOKENS)
    for key, word in (("bos", "BOS"), ("eos", "EOS")):
        number = header.number(f"tokenizer.ggml.{key}_token_id", -1)
        if size and number >= size:
            found.append(
                f"Its {word} token is number {number:,}, and it has {size:,} tokens: answers may "
                "not end."
            )
    found += _of_embeddings(tensors, size)
    return tuple(found)


def _of_embeddings(tensors: Sequence[TensorFacts], size: int) -> list[str]:
    found = []
    total = sum(tensor.bytes for tensor in tensors)
    table = next((tensor for tensor in tensors if tensor.name == "token_embd.weight"), None)
    if table is None:
        return []
    rows = table.shape[1] if len(table.shape) > 1 else 0
    if size and rows and rows != size:
        found.append(f"Its table of embeddings has {rows:,} rows for {size:,} tokens.")
    others = {tensor.type_name for tensor in tensors if len(tensor.shape) > 1} - {table.type_name}
    is_left_out = table.type_name in _UNQUANTISED and bool(others - _UNQUANTISED)
    if is_left_out and table.bytes > _MUCH * total:
        share = f"{table.bytes / total:.0%}".replace("%", " %")
        found.append(
            f"Its embeddings were left as {table.type_name} and take {share} of the file; a file "
            "with quantised ones would be smaller."
        )
    return found


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
