"""The conversations of the last time: which are here again, and what became of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.conversation import Conversation
from app.storage.conversation_store import ConversationStore
from app.storage.storage_error import StorageError

_ELSEWHERE = (
    "Another window of TuneDeck has {} of the last time; {} there. Open one from the list to go on "
    "with a copy of it here."
)


@dataclass
class Reopened:
    """What became of the conversations of the last time.

    Attributes:
        opened: Those that are here again.
        elsewhere: Ids of those that another window has.
        unread: Ids of those that are there and could not be read.
        why: Why the first of these could not be read.
        gone: How many are not there any more.
    """

    opened: list[Conversation] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    why: str = ""
    gone: int = 0


def reopened(store: ConversationStore, conversation_ids: Sequence[str]) -> Reopened:
    """Open them in ``store``; waits for the disk."""
    result = Reopened()
    for conversation_id in conversation_ids:
        try:
            opened = store.open(conversation_id)
        except StorageError as error:
            if store.is_gone(conversation_id):
                result.gone += 1
            else:
                result.unread.append(conversation_id)
                result.why = result.why or str(error)
        else:
            if opened.is_copy:
                result.elsewhere.append(conversation_id)
            else:
                result.opened.append(opened.conversation)
    return result


def elsewhere_sentence(count: int) -> str:
    """Why ``count`` conversations of the last time have no tab here."""
    if count == 1:
        return _ELSEWHERE.format("the conversation", "it stays")
    return _ELSEWHERE.format(f"the {count:,} conversations", "they stay")
