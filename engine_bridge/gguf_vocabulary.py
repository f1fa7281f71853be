"""Whether one model can draft for another: their vocabularies, compared from the headers.

Knows llama.cpp's rule (``common_speculative_are_compatible`` in common/speculative.cpp) and what
llama.cpp takes for keys that a header lacks (src/llama-vocab.cpp). The texts of a vocabulary are
compared as the bytes they are in the file: decoding 150,000 of them would take longer than all
the rest. Must not know the engine.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine_bridge.gguf_header import Header, read_header
from engine_bridge.gguf_window import GgufError, shown_name

# SPEC_VOCAB_MAX_SIZE_DIFFERENCE and SPEC_VOCAB_CHECK_START_TOKEN_ID of llama.cpp.
MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED_TOKEN = 5
_NO_TOKEN = -1
_LONGEST_SHOWN = 24
_TOKENS, _BOS, _EOS = (
    f"tokenizer.ggml.{name}" for name in ("tokens", "bos_token_id", "eos_token_id")
)
_ADDS_BOS, _ADDS_EOS = "tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token"
# Tokenisers whose files begin a text with BOS unless they say otherwise.
_PRE_WITH_BOS = frozenset(
    {
        "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
        "jina-v5-nano", "tekken", "chameleon",
    }
)  # fmt: skip
# Those that begin with it whatever they say (LLAMA_VOCAB_PRE_TYPE_GEMMA4).
_PRE_ALWAYS_WITH_BOS = frozenset({"gemma4", "granite-embed-multi-311m"})
_PRE_WITHOUT_BOS_TOKEN = frozenset({"chatglm-bpe", "glm4", "glm5"})


@dataclass(frozen=True)
class _Kind:
    """What llama.cpp takes for granted of one ``tokenizer.ggml.model``."""

    name: str
    bos: int = _NO_TOKEN
    eos: int = _NO_TOKEN
    adds_bos: bool = False
    adds_eos: bool = False


_BPE = _Kind("byte-level BPE", bos=11, eos=11)
_KINDS = {
    "llama": _Kind("SentencePiece", bos=1, eos=2, adds_bos=True),
    "bert": _Kind("WordPiece", bos=101, adds_bos=True),
    "gpt2": _BPE,
    "hybriddna": _BPE,
    "whitespace": _BPE,
    "gemma4": _Kind(_BPE.name),
    "t5": _Kind("Unigram", eos=1, adds_eos=True),
    "rwkv": _Kind("RWKV"),
    "plamo2": _Kind("PLaMo 2", bos=1, eos=2),
    "test": _Kind("test"),
}


@dataclass(frozen=True)
class Vocabulary:
    """What two models must share for one to draft for the other. Holds megabytes: do not hoard.

    Attributes:
        name: The model's name, for sentences.
        kind: Family of its tokeniser in words, e.g. ``byte-level BPE``.
        size: Tokens.
        adds_bos: Whether a text begins with ``bos``.
        bos: That token, -1 without one.
        adds_eos: Whether a text ends with ``eos``.
        eos: That token, -1 without one.
        texts: Every token as in the file: its length (uint64, little-endian) and its bytes.
    """

    name: str
    kind: str
    size: int
    adds_bos: bool
    bos: int
    adds_eos: bool
    eos: int
    texts: bytes


def read_vocabulary(path: str | os.PathLike[str]) -> Vocabulary:
    """Read the vocabulary of a model (of a split one: of part 1).

    Raises:
        GgufError: If the file is no GGUF, or has no vocabulary; in a sentence.
    """
    return vocabulary_in(read_header(path))


def vocabulary_in(header: Header) -> Vocabulary:
    """Read the vocabulary of a file whose header is known.

    Raises:
        GgufError: As ``read_vocabulary``.
    """
    path = header.path
    model = header.text("tokenizer.ggml.model")
    kind = _KINDS.get(model)
    begin, end = header.texts_at(_TOKENS)
    if kind is None or end <= begin:
        which = f"one of the unknown kind {model!r}" if model and kind is None else "none"
        raise GgufError(
            f"{shown_name(path)} has no vocabulary that could be compared, but {which}. "
            "Choose another file (of a model in parts, the first)."
        )
    try:
        with Path(path).open("rb") as file:
            file.seek(begin)
            texts = file.read(end - begin)
    except OSError as error:
        raise GgufError(f"{shown_name(path)} cannot be read: {error}.") from None
    if len(texts) < end - begin:
        raise GgufError(f"{shown_name(path)} shrank while it was read. Wait for its download.")
    return _vocabulary(header, kind, texts)


def why_incompatible(target: Vocabulary, draft: Vocabulary) -> str:
    """Why llama.cpp would not let ``draft`` draft for ``target``; empty if it would.

    Returns:
        A sentence with the first token that differs, if one does.
    """
    difference = _difference(target, draft)
    token = _first_different(target, draft)
    if not difference and token is None:
        return ""
    reasons = [difference] if difference else []
    if token is not None:
        number, here, there = token
        reasons.append(f"token {number:,} is {here} here and {there} in the draft")
    return (
        f"{draft.name} cannot draft for {target.name}: it has another vocabulary "
        f"({'; '.join(reasons)}). A draft model must "
        "have the vocabulary of its target: choose a smaller model of the same family."
    )


def _vocabulary(header: Header, kind: _Kind, texts: bytes) -> Vocabulary:
    size, pre = header.count(_TOKENS), header.text("tokenizer.ggml.pre")
    is_bpe = kind.name == _BPE.name
    if header.text("tokenizer.ggml.model") == "gemma4":
        pre = "gemma4"
    bos = _NO_TOKEN if is_bpe and pre in _PRE_WITHOUT_BOS_TOKEN else kind.bos
    adds_bos = bool(header.number(_ADDS_BOS, kind.adds_bos or (is_bpe and pre in _PRE_WITH_BOS)))
    return Vocabulary(
        name=header.name,
        kind=kind.name,
        size=size,
        adds_bos=adds_bos or (is_bpe and pre in _PRE_ALWAYS_WITH_BOS),
        bos=_special(header, _BOS, bos, size),
        adds_eos=bool(header.number(_ADDS_EOS, kind.adds_eos)),
        eos=_special(header, _EOS, kind.eos, size),
        texts=texts,
    )


def _special(header: Header, key: str, default: int, size: int) -> int:
    """The token under ``key``; one that the vocabulary does not have is none."""
    fallback = default if default < size else _NO_TOKEN
    token = header.number(key, fallback)
    return token if 0 <= token < size else fallback


def _difference(target: Vocabulary, draft: Vocabulary) -> str:
    """What differs beside the texts, the first of it; empty for nothing."""
    if target.kind != draft.kind:
        return f"its vocabulary is {draft.kind}, the target's {target.kind}"
    for what, ours, theirs in (
        ("begins", (target.adds_bos, target.bos), (draft.adds_bos, draft.bos)),
        ("ends", (target.adds_eos, target.eos), (draft.adds_eos, draft.eos)),
    ):
        if ours[0] != theirs[0] or (ours[0] and ours[1] != theirs[1]):
            return f"it {what} a text with {_special_words(theirs)}, the target with " + (
                _special_words(ours)
            )
    if abs(target.size - draft.size) > MAX_SIZE_DIFFERENCE:
        return (
            f"it has {draft.size:,} tokens and the target {target.size:,}, which may differ by "
            f"{MAX_SIZE_DIFFERENCE} at most"
        )
    return ""


def _special_words(added: tuple[bool, int]) -> str:
    return f"token {added[1]:,}" if added[0] else "no special token"


def _first_different(target: Vocabulary, draft: Vocabulary) -> tuple[int, str, str] | None:
    """The first token that differs and how both write it, None if all that both have agree."""
    common = min(target.size, draft.size)
    ours, theirs = _texts_from(target), _texts_from(draft)
    shorter, longer = sorted((ours, theirs), key=len)
    if longer.startswith(shorter):
        return None
    agree = _agreeing_bytes(shorter, longer)
    for number, (here, there) in enumerate(
        zip(_texts(ours), _texts(theirs), strict=False), start=FIRST_COMPARED_TOKEN
    ):
        if number >= common:
            break
        agree -= 8 + len(here)
        # What agrees is passed by counting alone.
        if agree < 0 and _as_loaded(here, number) != _as_loaded(there, number):
            return number, _shown(here), _shown(there)
    return None


def _texts_from(vocabulary: Vocabulary) -> bytes:
    """The texts from the first compared token on."""
    position = 0
    for _ in range(min(FIRST_COMPARED_TOKEN, vocabulary.size)):
        position += 8 + struct.unpack_from("<Q", vocabulary.texts, position)[0]
    return vocabulary.texts[position:]


def _texts(stream: bytes) -> Iterator[bytes]:
    read_length, position = struct.Struct("<Q").unpack_from, 0
    while position < len(stream):
        length = read_length(stream, position)[0]
        position += 8 + length
        yield stream[position - length : position]


def _agreeing_bytes(shorter: bytes, longer: bytes) -> int:
    one = np.frombuffer(shorter, np.uint8)
    other = np.frombuffer(longer, np.uint8, len(shorter))
    return int(np.argmax(one != other)) if not np.array_equal(one, other) else len(shorter)


def _as_loaded(text: bytes, number: int) -> bytes:
    """A text as llama.cpp keeps it: up to a NUL, and never empty."""
    return text.partition(b"\0")[0] or f"[EMPTY_{number}]".encode()


def _shown(text: bytes) -> str:
    """A token's text for people, control characters escaped."""
    words = text.decode("utf-8", "replace")
    words = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in words)
    return f"“{words if len(words) <= _LONGEST_SHOWN else words[: _LONGEST_SHOWN - 1] + '…'}”"
