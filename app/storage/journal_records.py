"""The lines of a journal: what may stand in a stored conversation, and in which form.

A file is one ``Header`` and then any number of ``Change`` lines, JSON, one a line. Pure.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

import msgspec

from engine_bridge.metrics.turn_details import TurnDetails

SCHEMA = 1
# Half of a character's UTF-16 pair: some programs put such on the clipboard. JSON cannot hold it.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# What Qt's signals carry; a file may say anything, and one past them would end in an exception.
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class Header(
    msgspec.Struct, frozen=True, tag_field="kind", tag="conversation", forbid_unknown_fields=True
):
    """The first line.

    Attributes:
        schema: Version of this format.
        id: The conversation's id when the file was begun; the name of the file is what counts.
        number: ``Conversation.number``.
        made_s: When the file was begun, seconds since 1970.
    """

    schema: int
    id: str
    number: _Count
    made_s: float


class TurnMade(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A new turn, as it was when it was first written; fields as in ``Turn``."""

    id: _Count
    parent: _Count
    role: Literal["user", "assistant"]
    made_s: float
    text: str = ""
    end: str = ""
    model: str = ""
    figures: str = ""
    note: str = ""
    think_tok: _Count = 0
    starts_in_thought: bool = False
    dropped_tok: _Count = 0
    details: TurnDetails | None = None
    is_completion: bool = False


class TextFrom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The text of a turn keeps its first ``at`` characters and goes on with ``text``."""

    turn: _Count
    at: _Count
    text: str


class TurnState(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is known of a turn besides its text; fields as in ``Turn``, all of them anew."""

    turn: _Count
    end: str = ""
    model: str = ""
    figures: str = ""
    note: str = ""
    think_tok: _Count = 0
    starts_in_thought: bool = False
    dropped_tok: _Count = 0
    details: TurnDetails | None = None
    is_completion: bool = False


class Change(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    tag_field="kind",
    tag="change",
    forbid_unknown_fields=True,
):
    """What happened since the line before. One line: it counts whole or, torn, not at all.

    Applied in the order of the fields.

    Attributes:
        at_s: When, seconds since 1970.
        turns: New turns, parents first.
        texts: Texts that grew or were replaced.
        states: Turns of which something else changed.
        dropped: Ids of turns taken back.
        tip: ``Conversation.tip`` where it moved.
        name: ``Conversation.name`` where it changed.
        system_prompt: ``Conversation.system_prompt`` where it changed.
    """

    at_s: float
    turns: tuple[TurnMade, ...] = ()
    texts: tuple[TextFrom, ...] = ()
    states: tuple[TurnState, ...] = ()
    dropped: tuple[_Count, ...] = ()
    tip: _Count | None = None
    name: str | None = None
    system_prompt: str | None = None


class _Version(msgspec.Struct, tag_field="kind", tag="conversation"):
    """What every version of the header has in common."""

    schema: int


class NewerSchemaError(Exception):
    """The file was written by a newer program."""


class DamagedError(Exception):
    """The file is not what it should be; the words say what is wrong with it."""


_encoder = msgspec.json.Encoder()
_version_decoder = msgspec.json.Decoder(_Version)
_header_decoder = msgspec.json.Decoder(Header)
_change_decoder = msgspec.json.Decoder(Change)


def encode_line(line: Header | Change) -> bytes:
    """One line with its end. What JSON cannot hold becomes U+FFFD, character for character."""
    try:
        return _encoder.encode(line) + b"\n"
    except UnicodeEncodeError:
        plain = _without_surrogates(msgspec.structs.asdict(line))
        return _encoder.encode(msgspec.convert(plain, type(line), from_attributes=True)) + b"\n"


def storable(text: str) -> str:
    """``text`` with U+FFFD for every half of a character, which no file can hold."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def decode_header(line: bytes) -> Header:
    """Read the first line.

    Raises:
        NewerSchemaError: If a newer program wrote it.
        DamagedError: If it is no such line.
    """
    try:
        version = _version_decoder.decode(line)
        if version.schema > SCHEMA:
            raise NewerSchemaError
        return _header_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedError("its first line is not that of a conversation") from error


def decode_change(line: bytes) -> Change:
    """Read a line after the first.

    Raises:
        DamagedError: If it is no such line.
    """
    try:
        return _change_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedError("a line in it cannot be read") from error


def _without_surrogates(value: object) -> object:
    """The same with U+FFFD for every lone surrogate; structs become dicts."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, msgspec.Struct):
        return _without_surrogates(msgspec.structs.asdict(value))
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_without_surrogates(item) for item in value]
    return value
