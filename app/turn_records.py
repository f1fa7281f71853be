"""From the turns of a conversation to what its view builds messages of. Pure."""

from __future__ import annotations

from app.conversation import Conversation, Turn
from app.figures import dropped_text
from app.turn_words import details_of
from widgets.message_record import AnswerRecord, Branch, Record, UserRecord, user_name

# Ends of an answer that somebody should know of.
_WARNING_ENDS = frozenset({"token_limit", "context_full", "pool_full", "failed"})


def records_of(conversation: Conversation, *, is_completion: bool = False) -> list[Record]:
    """The branch that is shown, oldest first; without an answer that is only beginning."""
    places = _places(conversation)
    turns = conversation.turns
    if turns and turns[-1].end == "open" and not turns[-1].text:
        turns = turns[:-1]
    return [_record(turn, places[turn.id], is_completion=is_completion) for turn in turns]


def branch_of(conversation: Conversation, turn_id: int) -> Branch:
    """Where a turn stands among those said in the same place."""
    siblings = conversation.siblings(turn_id)
    return Branch(turn_id, siblings.index(turn_id) + 1, len(siblings))


def _places(conversation: Conversation) -> dict[int, Branch]:
    """The place of every turn, in one pass: a long conversation has thousands."""
    groups: dict[tuple[int, str], list[int]] = {}
    for turn in conversation.tree.values():
        groups.setdefault((turn.parent, turn.role), []).append(turn.id)
    return {
        number: Branch(number, place, len(group))
        for group in groups.values()
        for place, number in enumerate(group, start=1)
    }


def _record(turn: Turn, branch: Branch, *, is_completion: bool) -> Record:
    if turn.role == "user":
        return UserRecord(user_name(is_completion=is_completion), turn.text, branch)
    return AnswerRecord(
        turn.model or "Model",
        turn.text,
        is_streaming=turn.end == "open",
        figures_text=turn.figures,
        reason_text=turn.note or None,
        is_warning=turn.end in _WARNING_ENDS,
        branch=branch,
        think_tok=turn.think_tok,
        starts_in_thought=turn.starts_in_thought,
        dropped_text=dropped_text(turn.dropped_tok),
        details=details_of(turn.details) if turn.details else (),
        is_plain=turn.is_completion,
    )
