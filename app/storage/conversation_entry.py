"""What a list shows of a stored conversation. Pure."""

from __future__ import annotations

import msgspec

from app.conversation import Conversation
from app.storage.journal_records import storable

_EXCERPT_CHARACTERS = 120
# A file may say anything: no list and no tab takes a book for a title.
_TITLE_CHARACTERS = 500
# A pasted book is not searched through for the sake of its first words.
_EXCERPT_SEARCH = 600


class ConversationEntry(msgspec.Struct, frozen=True):
    """One conversation in a list.

    Attributes:
        id: Of the conversation.
        title: Its name, else its first words.
        updated_s: When something was last said in it, seconds since 1970.
        turns: Number of turns of the branch that is shown.
        excerpt: First words of the first answer, else of the first question, on one line.
        size_bytes: Of its file; 0 while it has none.
    """

    id: str
    title: str
    updated_s: float
    turns: int
    excerpt: str
    size_bytes: int


def entry_of(conversation: Conversation, updated_s: float, size_bytes: int) -> ConversationEntry:
    """The entry of a conversation."""
    turns = conversation.turns
    said = next((turn.text for turn in turns if turn.role == "assistant" and turn.text), "")
    asked = next((turn.text for turn in turns if turn.text), "")
    words = " ".join((said or asked)[:_EXCERPT_SEARCH].split())
    if len(words) > _EXCERPT_CHARACTERS:
        words = words[: _EXCERPT_CHARACTERS - 1] + "…"
    return ConversationEntry(
        conversation.id,
        storable(" ".join(conversation.title[:_TITLE_CHARACTERS].split())),
        updated_s,
        len(turns),
        storable(words),
        size_bytes,
    )
