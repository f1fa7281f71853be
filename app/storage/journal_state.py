"""What a journal says of its conversation so far, and what is new since. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter

from app.conversation import Conversation, Turn
from app.storage.journal_records import (
    SCHEMA,
    Change,
    Header,
    TextFrom,
    TurnMade,
    TurnState,
)

# Of a turn, what may change after it was made, besides its text; the rest never does.
STATE_FIELDS = tuple(name for name in TurnState.__struct_fields__ if name != "turn")
_state_of = attrgetter(*STATE_FIELDS)


class JournalState:
    """A conversation as its file has it.

    Attributes:
        header: The file's first line.
        kept: The conversation; its turns are copies of those on the screen.
        updated_s: When something was last said, seconds since 1970.
    """

    def __init__(self, header: Header) -> None:
        """Begin with an empty conversation."""
        self.header = header
        self.kept = Conversation(header.id, header.number)
        self.updated_s = header.made_s

    @classmethod
    def of(cls, conversation: Conversation) -> JournalState:
        """All of a conversation, as a file that has no past would have it."""
        state = cls(Header(SCHEMA, conversation.id, conversation.number, 0.0))
        state.diff(conversation, 0.0)
        return state

    def diff(self, conversation: Conversation, now_s: float) -> Change | None:
        """What to write so that the file says what ``conversation`` says; None if it does.

        From then on this counts as written. Costs a comparison per turn, and for a text that
        grew, one look at its old part.
        """
        change = self._compare(conversation, now_s)
        if change == Change(now_s):
            return None
        for turn in conversation.tree.values():
            # The very same texts, so that the next comparison is one of addresses.
            known = self.kept.tree.get(turn.id)
            if known is None or known.text is not turn.text or _state_of(known) != _state_of(turn):
                self.kept.tree[turn.id] = replace(turn)
        for gone in change.dropped:
            del self.kept.tree[gone]
        self.note(change)
        return change

    def whole(self) -> Change:
        """All of it as one change, for a file that begins anew."""
        kept = self.kept
        return Change(
            self.updated_s,
            turns=tuple(_made(turn) for turn in kept.tree.values()),
            tip=kept.tip or None,
            name=kept.name or None,
            system_prompt=kept.system_prompt or None,
        )

    def copy(self) -> Conversation:
        """The conversation, with turns of its own."""
        kept = self.kept
        return replace(kept, tree={turn.id: replace(turn) for turn in kept.tree.values()})

    def note(self, change: Change) -> None:
        """Take over of a change what no turn holds."""
        kept = self.kept
        if change.turns:
            kept.next_id = max(kept.next_id, max(turn.id for turn in change.turns) + 1)
        if change.tip is not None:
            kept.tip = change.tip
        if change.name is not None:
            kept.name = change.name
        if change.system_prompt is not None:
            kept.system_prompt = change.system_prompt
        if change.turns or change.texts:
            self.updated_s = change.at_s

    # --- Inside -------------------------------------------------------------------------

    def _compare(self, conversation: Conversation, now_s: float) -> Change:
        kept, known = self.kept, self.kept.tree
        turns, texts, states = [], [], []
        for turn in conversation.tree.values():
            old = known.get(turn.id)
            if old is None:
                turns.append(_made(turn))
                continue
            if turn.text is not old.text and turn.text != old.text:
                at = len(old.text) if turn.text.startswith(old.text) else 0
                texts.append(TextFrom(turn.id, at, turn.text[at:]))
            if _state_of(turn) != _state_of(old):
                states.append(TurnState(turn.id, *_state_of(turn)))
        gone: Iterable[int] = ()
        if len(known) + len(turns) != len(conversation.tree):
            gone = sorted(known.keys() - conversation.tree.keys(), reverse=True)
        return Change(
            now_s,
            tuple(turns),
            tuple(texts),
            tuple(states),
            tuple(gone),
            conversation.tip if conversation.tip != kept.tip else None,
            conversation.name if conversation.name != kept.name else None,
            conversation.system_prompt
            if conversation.system_prompt != kept.system_prompt
            else None,
        )


def _made(turn: Turn) -> TurnMade:
    return TurnMade(turn.id, turn.parent, turn.role, turn.made_s, turn.text, *_state_of(turn))
