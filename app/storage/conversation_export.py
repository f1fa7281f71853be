"""A conversation for other programs: Markdown to read, JSON with every branch. Pure.

JSON: ``{"format": "tunedeck-conversation", "schema": 1, "id", "title", "name", "system_prompt",
"shown": [ids of the branch that is shown], "turns": [{"id", "parent", "role", "made_s", "text",
"end", "model", "figures", "note", "think_tok", "starts_in_thought", "dropped_tok", "details":
{fields of ``TurnDetails``}, "is_completion"}]}``. Turns of all branches, oldest first; ``parent`` 0
for a first one; times in seconds since 1970. A turn's fields from ``text`` on are left out where
they are empty, zero or false.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from app.conversation import Conversation, Turn
from app.storage.journal_records import (
    SCHEMA,
    Change,
    Header,
    TurnMade,
    decode_change,
    encode_line,
    storable,
)
from app.storage.journal_replay import read_journal
from app.storage.journal_state import JournalState
from app.storage.storage_error import StorageError

FORMAT: Final = "tunedeck-conversation"
EXPORT_SCHEMA = 1
_NAME_CHARACTERS = 500
Kind = Literal["markdown", "json"]
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ROLES = {"user": "You", "assistant": "Assistant"}


class ConversationFile(msgspec.Struct, frozen=True):
    """The shape of the JSON."""

    format: Literal["tunedeck-conversation"]
    schema: int
    id: str
    title: str
    name: str
    system_prompt: str
    shown: tuple[int, ...]
    turns: tuple[TurnMade, ...]


def exported(conversation: Conversation, kind: Kind) -> bytes:
    """The content of a file of that kind."""
    return to_json(conversation) if kind == "json" else to_markdown(conversation).encode()


def to_markdown(conversation: Conversation) -> str:
    """The branch that is shown, as Markdown.

    An answer is Markdown already; code fences it left open are closed, so that the rest stays what
    it is. Line ends are those of Unix.
    """
    parts = [f"# {_line(conversation.title)}"]
    if conversation.system_prompt.strip():
        fence = _fence_around(conversation.system_prompt)
        parts.append(f"## System prompt\n\n{fence}\n{conversation.system_prompt.strip()}\n{fence}")
    parts += [_turn_markdown(turn) for turn in conversation.turns]
    return storable("\n\n".join(parts).replace("\r\n", "\n").replace("\r", "\n")) + "\n"


def to_json(conversation: Conversation) -> bytes:
    """All branches, as one JSON object, indented, with a line end."""
    whole = JournalState.of(conversation).whole()
    # Once through a journal's line, which knows what JSON cannot hold.
    turns = decode_change(encode_line(whole)).turns
    content = ConversationFile(
        FORMAT,
        EXPORT_SCHEMA,
        conversation.id,
        storable(conversation.title),
        storable(conversation.name),
        storable(conversation.system_prompt),
        tuple(turn.id for turn in conversation.turns),
        turns,
    )
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"


def from_json(content: bytes, number: int, now_s: float) -> Conversation:
    """The conversation of an exported JSON, as a new one.

    Args:
        content: Of the file.
        number: ``Conversation.number``.
        now_s: Wall clock.

    Raises:
        StorageError: If it is no such file, or one of a newer program.
    """
    what = "The file is no conversation exported by TuneDeck"
    try:
        file = msgspec.json.decode(content, type=ConversationFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StorageError(f"{what}: {error}.") from error
    if file.schema > EXPORT_SCHEMA:
        raise StorageError("The file was written by a newer TuneDeck. Update to open it.")
    header = Header(SCHEMA, uuid.uuid4().hex, number, now_s)
    change = Change(
        now_s,
        turns=file.turns,
        tip=file.shown[-1] if file.shown else 0,
        name=" ".join(file.name[:_NAME_CHARACTERS].split()),
        system_prompt=file.system_prompt,
    )
    journal = read_journal(encode_line(header) + encode_line(change))
    if journal.lost_bytes:
        raise StorageError(f"{what}: its turns do not follow one another.")
    return journal.state.kept


# --- Inside -----------------------------------------------------------------------------


def _turn_markdown(turn: Turn) -> str:
    about = [_line(part) for part in (turn.model, turn.figures, turn.note) if part]
    parts = [f"## {_ROLES[turn.role]}{_when(turn.made_s)}", _closed(turn.text.strip("\r\n"))]
    if about:
        parts.append(f"*{' · '.join(about)}*")
    return "\n\n".join(part for part in parts if part)


def _when(made_s: float) -> str:
    """The time as part of a heading; nothing where a file gives none that can be."""
    try:
        when = datetime.fromtimestamp(made_s, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return when.strftime(" · %Y-%m-%d %H:%M UTC") if made_s else ""


def _line(text: str) -> str:
    """On one line, and without what would be read as emphasis or a link."""
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", " ".join(text.split()))


def _closed(text: str) -> str:
    """The same, with an end to the code fence it left open."""
    is_open = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if match is None:
            continue
        fence, rest = match.group(1), line[match.end() :].strip()
        if not is_open:
            if fence[0] == "~" or "`" not in rest:
                is_open = fence
        elif fence.startswith(is_open) and not rest:
            is_open = ""
    return f"{text}\n{is_open}" if is_open else text


def _fence_around(text: str) -> str:
    """A fence longer than every one within."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)
