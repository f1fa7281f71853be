"""A slot's cache as a file: a header that says for which model and cache, tokens, state, checksum.

Layout: 8 bytes of magic, the header's length (uint32, little endian), the header as JSON, tokens
(int32, little endian), the state as llama.cpp gave it, 16 bytes of BLAKE2b over all before them.
Knows files; must not know slots or the library.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.part_file import written_whole
from engine_bridge.model_facts import ModelFacts

VERSION = 1
_MAGIC = b"TuneDeck"
_LENGTH = struct.Struct("<I")
_MOST_HEADER_BYTES = 65_536
_CHECKSUM_BYTES = 16
_PIECE_BYTES = 1 << 24
# Enough places of a model's file to tell two trainings of the same shape apart.
_SAMPLES, _SAMPLE_BYTES = 64, 4096


class SlotFileError(Exception):
    """A file cannot be written or used; the message is a sentence for the user."""


class ModelMark(msgspec.Struct, frozen=True):
    """What tells a model from another one.

    Attributes:
        name: As the file calls itself.
        architecture: Its architecture.
        quantisation: Its mix of types.
        file_bytes: Size of all parts.
        layers: Layers.
        vocab: Tokens of the vocabulary.
        sample: Checksum of places all over its file.
    """

    name: str
    architecture: str
    quantisation: str
    file_bytes: int
    layers: int
    vocab: int
    sample: str


class CacheMark(msgspec.Struct, frozen=True):
    """What tells a cache from another one of the same model, in the user's words.

    Attributes:
        cache_type_k: Type of the K cache.
        cache_type_v: Type of the V cache.
        flash_attn: ``on`` or ``off``; the V cache lies otherwise without.
        swa_full: ``on`` or ``off``: whether the cache of windowed layers is a full one.
        changes: What else the numbers depend on, e.g. adapters; ``none`` without.
        state_version: llama.cpp's version of the state.
    """

    cache_type_k: str
    cache_type_v: str
    flash_attn: str
    swa_full: str
    changes: str
    state_version: int


_CACHE_WORDS = {
    "cache_type_k": "K cache",
    "cache_type_v": "V cache",
    "flash_attn": "flash attention",
    "swa_full": "full sliding-window cache",
    "changes": "adapters and overrides",
    "state_version": "llama.cpp's format",
}


class SlotHeader(msgspec.Struct, frozen=True):
    """All that is said in front of the data.

    Attributes:
        version: Of this format.
        model: The model.
        cache: Its cache.
        tokens: Tokens of the text.
        part_bytes: Parts of the state: head, caches, rest; see ``state_outline.StateParts``.
        streams: Streams of the pool that it comes from: one for all slots, or one a slot.
        slot: Index of its slot there.
    """

    version: int
    model: ModelMark
    cache: CacheMark
    tokens: int
    part_bytes: tuple[int, ...]
    streams: int
    slot: int

    @property
    def state_bytes(self) -> int:
        """Bytes of the state."""
        return sum(self.part_bytes)


def model_mark(facts: ModelFacts) -> ModelMark:
    """The mark of the model that ``facts`` tell of; reads about 256 KiB of its file.

    Raises:
        OSError: If its file cannot be read any more.
    """
    digest = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)
    with Path(facts.path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        for place in range(_SAMPLES):
            file.seek(max(0, size - _SAMPLE_BYTES) * place // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return ModelMark(
        facts.name,
        facts.architecture,
        facts.quantisation,
        facts.file_bytes,
        facts.layers,
        facts.vocab,
        digest.hexdigest(),
    )


@dataclass(frozen=True)
class SlotContent:
    """What a slot holds.

    Attributes:
        tokens: (tokens,) int32, the text.
        parts: (bytes,) uint8 each, contiguous: the state in its parts.
        streams: As in ``SlotHeader``.
        slot: As in ``SlotHeader``.
        file_bytes: Size of the file it was read from; 0 where it was not.
    """

    tokens: NDArray[np.int32]
    parts: Sequence[NDArray[np.uint8]]
    streams: int
    slot: int
    file_bytes: int = 0


def write_slot(path: str, model: ModelMark, cache: CacheMark, content: SlotContent) -> int:
    """Write a file, or leave what is there as it is.

    Args:
        path: The file.
        model: The model that runs.
        cache: The cache that it has.
        content: What it is to hold.

    Returns:
        Its bytes.

    Raises:
        SlotFileError: If it cannot be written.
    """
    count, sizes = len(content.tokens), tuple(part.size for part in content.parts)
    header = SlotHeader(VERSION, model, cache, count, sizes, content.streams, content.slot)
    target = Path(path)
    needed = 4 * count + header.state_bytes + _MOST_HEADER_BYTES
    try:
        _refuse_what_is_no_file(target)
        if (free := shutil.disk_usage(target.parent).free) < needed:
            raise SlotFileError(_no_space(target.name, needed, free))
        with written_whole(target) as file:  # for this user alone: it holds what was said
            written = _write(file, header, content)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SlotFileError(_no_space(target.name, needed, None)) from None
        raise SlotFileError(
            f"{target.name} could not be written: {error.strerror or error}. Nothing was changed; "
            "choose another folder."
        ) from None
    return written


def read_slot(
    path: str, model: ModelMark, cache: CacheMark, cap_tok: int, most_bytes: int
) -> SlotContent:
    """Read a file that was written for this model, this cache, and no larger slot.

    Args:
        path: The file.
        model: The model that runs.
        cache: The cache that it has.
        cap_tok: Tokens a slot may hold.
        most_bytes: What the state of a slot can take at most.

    Raises:
        SlotFileError: If it cannot be used here.
    """
    name = Path(path).name
    try:
        _refuse_what_is_no_file(Path(path))
        with Path(path).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            digest = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)
            header, at = _read_header(file, name, digest)
            _check_fits(name, header, model, cache, cap_tok)
            told = at + 4 * header.tokens + header.state_bytes + _CHECKSUM_BYTES
            if told != size or header.state_bytes > most_bytes:
                raise SlotFileError(_cut(name, size, told))
            tokens = np.empty(header.tokens, "<i4")
            parts = [np.empty(size, np.uint8) for size in header.part_bytes]
            for array in (tokens, *parts):
                _read_into(file, array, digest)
            if file.read() != digest.digest():
                raise SlotFileError(_damaged(name))
    except OSError as error:
        raise SlotFileError(f"{name} cannot be read: {error.strerror or error}.") from None
    if tokens.size and not (tokens.min() >= 0 and tokens.max() < model.vocab):
        raise SlotFileError(_damaged(name))
    tokens = tokens.astype(np.int32, copy=False)
    return SlotContent(tokens, parts, header.streams, header.slot, told)


def _write(file: BinaryIO, header: SlotHeader, content: SlotContent) -> int:
    digest = hashlib.blake2b(digest_size=_CHECKSUM_BYTES)
    said = msgspec.json.encode(header)
    front = _MAGIC + _LENGTH.pack(len(said)) + said + content.tokens.astype("<i4").tobytes()
    for view in (memoryview(front), *(part.data for part in content.parts)):
        for begin in range(0, len(view), _PIECE_BYTES):
            piece = view[begin : begin + _PIECE_BYTES]
            digest.update(piece)
            file.write(piece)
    file.write(digest.digest())
    return file.tell()


def _read_header(file: BinaryIO, name: str, digest: hashlib.blake2b) -> tuple[SlotHeader, int]:
    """The header and where it ends."""
    front = file.read(len(_MAGIC) + _LENGTH.size)
    if front[: len(_MAGIC)] != _MAGIC or len(front) < len(_MAGIC) + _LENGTH.size:
        raise SlotFileError(
            f"{name} holds no cache of a conversation. Choose a file that was saved here."
        )
    (length,) = _LENGTH.unpack(front[len(_MAGIC) :])
    said = file.read(min(length, _MOST_HEADER_BYTES))
    digest.update(front)
    digest.update(said)
    try:
        version = msgspec.json.decode(said, type=dict).get("version")
        if version != VERSION:
            raise SlotFileError(
                f"{name} was written by another version of TuneDeck (format {version}, this one "
                f"reads {VERSION}). Save it again with this one."
            )
        header = msgspec.json.decode(said, type=SlotHeader)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise SlotFileError(_damaged(name)) from None
    if length > _MOST_HEADER_BYTES or not _is_possible(header):
        raise SlotFileError(_damaged(name))
    return header, len(front) + length


def _is_possible(header: SlotHeader) -> bool:
    least = min(header.tokens - 1, header.slot, *header.part_bytes)
    return least >= 0 and len(header.part_bytes) >= 2 and header.slot < max(1, header.streams) * 256


def _check_fits(
    name: str, header: SlotHeader, model: ModelMark, cache: CacheMark, cap_tok: int
) -> None:
    if header.model != model:
        theirs, own = header.model, model
        what = f"for {theirs.name} ({theirs.quantisation}), and {own.name} ({own.quantisation})"
        if (theirs.name, theirs.quantisation) == (own.name, own.quantisation):
            what = f"for another file that calls itself {own.name}, and this one"
        raise SlotFileError(
            f"{name} was saved {what} is loaded: its numbers mean nothing here. Load that model."
        )
    differs = [
        f"{words} {getattr(header.cache, field)} (now {getattr(cache, field)})"
        for field, words in _CACHE_WORDS.items()
        if getattr(header.cache, field) != getattr(cache, field)
    ]
    if differs:
        raise SlotFileError(
            f"{name} was saved from another kind of cache: {', '.join(differs)}. Change the "
            "settings to what it was saved with, and load it then."
        )
    if header.tokens > cap_tok:
        raise SlotFileError(
            f"{name} holds {header.tokens:,} tokens and a slot holds {cap_tok:,}. Give each slot "
            "more context."
        )


def _read_into(
    file: BinaryIO, array: NDArray[np.int32] | NDArray[np.uint8], digest: hashlib.blake2b
) -> None:
    view = array.view(np.uint8).data
    for begin in range(0, len(view), _PIECE_BYTES):
        piece = view[begin : begin + _PIECE_BYTES]
        if file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
            raise OSError(errno.EIO, "it became shorter while it was read")
        digest.update(piece)


def _refuse_what_is_no_file(path: Path) -> None:
    """A pipe would block whoever opens it, and a device is no place for a cache."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "something that is no file has this name")


def _no_space(name: str, needed_bytes: int, free_bytes: int | None) -> str:
    there = "" if free_bytes is None else f" and {free_bytes / 2**20:,.0f} MiB are free"
    return (
        f"{name} was not written: it needs {needed_bytes / 2**20:,.0f} MiB{there}; the disk is "
        "full. Make room, or choose another disk."
    )


def _cut(name: str, size: int, told: int) -> str:
    if size < told:
        return (
            f"{name} is cut short: {size:,} of {told:,} bytes are there. Copy it again, or save "
            "the conversation's cache again."
        )
    return _damaged(name)


def _damaged(name: str) -> str:
    return f"{name} is damaged and was not loaded. Save the conversation's cache again."
