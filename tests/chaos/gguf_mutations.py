"""What can be wrong with a GGUF file: one mutation a function, all chance from outside."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from random import Random
from typing import TypeAlias

from tests.chaos.gguf_fields import Field, Kind, fields_of

_NEAR_2_63 = (2**63 - 1, 2**63, 2**63 - 32, 2**63 + 32, 2**64 - 1, 2**62, 2**61 + 1, 2**64 - 32)
_BILLION = 10**9
_I32 = 26  # in enum ggml_type; the bases are F32
_EXTREMES = (0, 1, 2, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, _BILLION)
_FLOATS = (0.0, -1.0, 1e-45, 1e38, float("inf"), float("-inf"), float("nan"))
_CONTROLS = (
    "\x00", "\x07", "\x08", "\r", "\n", "\x1b[31m", "\x1b]0;title\x07", "\x7f", "\x85", "\u2028",
    "\u202e", "\u2066", "\ufeff", "\u200b",
)  # fmt: skip
_NO_UTF8 = (b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf4\x90\x80\x80")
_INTEGER_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_FLOAT_TYPES = {6: "f", 12: "d"}

Mutation: TypeAlias = Callable[[bytes, Random], bytes]


def flip_header_bits(content: bytes, random: Random) -> bytes:
    """One to eight bits of the header."""
    return _flipped(content, 0, _data_at(content), random)


def flip_weight_bits(content: bytes, random: Random) -> bytes:
    """One to eight bits of the weights: a model that can be loaded, and may compute nonsense."""
    return _flipped(content, _data_at(content), len(content), random)


def cut_at_border(content: bytes, random: Random) -> bytes:
    """End the file where a field begins, or a byte before or behind that."""
    field = random.choice(fields_of(content))
    return content[: max(0, field.at + random.choice((-1, 0, 0, 1)))]


def cut_weights(content: bytes, random: Random) -> bytes:
    """End the file somewhere in its weights."""
    return content[: random.randrange(_data_at(content), len(content))]


def size_near_2_63(content: bytes, random: Random) -> bytes:
    """A length, count, dimension or offset that is almost, or just, too large for its number."""
    wide = [field for field in _sizes(content) if field.size == 8]
    return _with_number(content, random.choice(wide), random.choice(_NEAR_2_63))


def count_of_a_billion(content: bytes, random: Random) -> bytes:
    """A length, count, dimension or offset of 10^9."""
    return _with_number(content, random.choice(_sizes(content)), _BILLION)


def extreme_value(content: bytes, random: Random) -> bytes:
    """A number of the metadata that no model has."""
    return _with_extreme(content, random.choice(_single_values(content)), random)


def several_extreme_values(content: bytes, random: Random) -> bytes:
    """Three of them at once: one check must not rely on another."""
    for field in random.sample(_single_values(content), 3):
        content = _with_extreme(content, field, random)
    return content


def control_characters(content: bytes, random: Random) -> bytes:
    """A text with characters that steer terminals and lines, or with bytes that are no text."""
    texts = [field for field in fields_of(content) if field.kind is Kind.TEXT]
    short = [field for field in texts if not field.key.startswith("tokenizer.ggml.tokens")]
    field = random.choice(short if random.random() < 0.8 else texts)
    poison = random.choice([text.encode() for text in _CONTROLS] + list(_NO_UTF8))
    text = content[field.at : field.end]
    place = random.randrange(len(text) + 1)
    return _with_text(content, field, text[:place] + poison + text[place:])


def other_type(content: bytes, random: Random) -> bytes:
    """A value or a tensor of another type than it is, existing or not."""
    types = [f for f in fields_of(content) if f.kind in (Kind.TYPE, Kind.TENSOR_TYPE)]
    return _with_number(content, random.choice(types), random.choice((*range(45), 2**32 - 1)))


def other_type_of_one_size(content: bytes, random: Random) -> bytes:
    """Weights of another type whose values are as large: all sizes and places are right."""
    tensors = [field for field in fields_of(content) if field.kind is Kind.TENSOR_TYPE]
    return _with_number(content, random.choice(tensors), _I32)


def fields_exchanged(content: bytes, random: Random) -> bytes:
    """Two fields of one size in each other's place."""
    first = random.choice(fields_of(content)[:-1])
    alike = [field for field in fields_of(content)[:-1] if field.size == first.size]
    second = random.choice(alike)
    early, late = sorted((first, second), key=lambda field: field.at)
    if early == late:
        return flip_header_bits(content, random)
    return b"".join(
        (
            content[: early.at], content[late.at : late.end], content[early.end : late.at],
            content[early.at : early.end], content[late.end :],
        )
    )  # fmt: skip


def piece_doubled(content: bytes, random: Random) -> bytes:
    """A run of fields that stands there twice."""
    fields = fields_of(content)[:-1]
    begin = random.randrange(len(fields))
    end = min(len(fields), begin + random.randint(1, 12)) - 1
    return content[: fields[end].end] + content[fields[begin].at :]


def piece_missing(content: bytes, random: Random) -> bytes:
    """A run of fields that is not there."""
    fields = fields_of(content)[:-1]
    begin = random.randrange(len(fields))
    end = min(len(fields), begin + random.randint(1, 12)) - 1
    return content[: fields[begin].at] + content[fields[end].end :]


def noise(content: bytes, random: Random) -> bytes:
    """Some bytes of the header replaced by chance."""
    begin = random.randrange(4, _data_at(content))
    length = min(random.randint(1, 64), _data_at(content) - begin)
    return content[:begin] + random.randbytes(length) + content[begin + length :]


def token_repeated(content: bytes, random: Random) -> bytes:
    """A token that stands in the vocabulary twice, which llama.cpp does not survive."""
    tokens = [
        field
        for field in fields_of(content)
        if field.kind is Kind.TEXT and field.key == "tokenizer.ggml.tokens"
    ][1:]  # the first is the key itself
    one, other = random.sample(tokens, 2)
    return _with_text(content, one, content[other.at : other.end])


BY_NAME: Mapping[str, Mutation] = {
    each.__name__: each
    for each in (
        flip_header_bits, flip_weight_bits, cut_at_border, cut_weights, size_near_2_63,
        count_of_a_billion, extreme_value, several_extreme_values, control_characters, other_type,
        other_type_of_one_size, fields_exchanged, piece_doubled, piece_missing, noise,
        token_repeated,
    )
}  # fmt: skip


# --- How ----------------------------------------------------------------------------------


def _data_at(content: bytes) -> int:
    return fields_of(content)[-1].at


def _flipped(content: bytes, begin: int, end: int, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.randint(1, 8)):
        changed[random.randrange(begin, end)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _sizes(content: bytes) -> list[Field]:
    kinds = (Kind.COUNT, Kind.LENGTH, Kind.DIMENSION, Kind.OFFSET)
    return [field for field in fields_of(content) if field.kind in kinds]


def _single_values(content: bytes) -> list[Field]:
    """Values of the metadata; of long arrays only a few."""
    values = [field for field in fields_of(content) if field.kind is Kind.VALUE]
    counts: dict[str, int] = {}
    kept = []
    for field in values:
        counts[field.key] = counts.get(field.key, 0) + 1
        if counts[field.key] <= 4:
            kept.append(field)
    return kept


def _with_extreme(content: bytes, field: Field, random: Random) -> bytes:
    code = _FLOAT_TYPES.get(field.value_type)
    if code is not None:
        raw = struct.pack(f"<{code}", random.choice(_FLOATS))
        return content[: field.at] + raw + content[field.end :]
    return _with_number(content, field, random.choice((*_EXTREMES, *_NEAR_2_63)))


def _with_number(content: bytes, field: Field, number: int) -> bytes:
    number &= 2 ** (8 * field.size) - 1
    raw = struct.pack(f"<{_INTEGER_CODES[field.size]}", number)
    return content[: field.at] + raw + content[field.end :]


def _with_text(content: bytes, field: Field, text: bytes) -> bytes:
    """Another text in the place of one, its length made right; the data stays aligned."""
    header_end = _data_at(content)
    changed = content[: field.at - 8] + struct.pack("<Q", len(text)) + text + content[field.end :]
    # What follows the header begins at the next multiple of 32.
    longer = len(text) - field.size
    padding_before = -header_end % 32
    padding_after = -(header_end + longer) % 32
    begin = header_end + longer
    return changed[:begin] + bytes(padding_after) + changed[begin + padding_before :]
