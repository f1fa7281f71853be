"""Reading a journal: its lines one after another become the conversation they tell of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.conversation import Turn
from app.storage.journal_records import (
    Change,
    DamagedError,
    Header,
    TextFrom,
    TurnMade,
    TurnState,
    decode_change,
    decode_header,
)
from app.storage.journal_state import STATE_FIELDS, JournalState


@dataclass(frozen=True)
class Journal:
    """What was read of a file.

    Attributes:
        state: The conversation of all lines up to the first bad one.
        good_bytes: Length of those lines; where the next one belongs.
        lost_bytes: Length of what follows them.
        has_lost_lines: More than one torn line follows: the file was damaged, not cut short.
    """

    state: JournalState
    good_bytes: int
    lost_bytes: int
    has_lost_lines: bool


def read_journal(content: bytes) -> Journal:
    """Read a whole file, up to its first bad line.

    Raises:
        NewerSchemaError: If a newer program wrote it.
        DamagedError: If not even the first line can be read.
    """
    end = content.find(b"\n") + 1
    if not end:
        raise DamagedError("its first line is missing or cut short")
    header = decode_header(content[:end])
    replay = _Replay(header)
    good = end
    for start, stop in _lines(content, end):
        try:
            replay.apply(decode_change(content[start:stop]))
        except DamagedError:
            # The bad line may have been half applied: once more, and only up to it.
            replay = _Replay(header)
            for from_, to in _lines(content[:good], end):
                replay.apply(decode_change(content[from_:to]))
            break
        good = stop
    rest = len(content) - good
    return Journal(replay.state(), good, rest, content.find(b"\n", good) >= 0)


def _lines(content: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Where each complete line lies; one without its end was torn and does not count."""
    while (stop := content.find(b"\n", start) + 1) > 0:
        yield start, stop
        start = stop


class _Replay:
    """Changes applied to turns whose texts are still in pieces: an answer has one a second."""

    def __init__(self, header: Header) -> None:
        self._state = JournalState(header)
        self._tree = self._state.kept.tree
        self._pieces: dict[int, list[str]] = {}
        self._lengths: dict[int, int] = {}

    def apply(self, change: Change) -> None:
        """Take a line over.

        Raises:
            DamagedError: If it does not fit what came before; the replay is of no use then.
        """
        for made in change.turns:
            self._make(made)
        for text in change.texts:
            self._extend(text)
        for state in change.states:
            _set_state(self._find(state.turn), state)
        for gone in change.dropped:
            self._find(gone)
            del self._tree[gone], self._pieces[gone], self._lengths[gone]
        if change.dropped:
            self._check_parents(change.dropped)
        self._state.note(change)
        if self._state.kept.tip:
            self._find(self._state.kept.tip)

    def state(self) -> JournalState:
        """What all changes together tell; ends the replay."""
        for turn_id, pieces in self._pieces.items():
            self._tree[turn_id].text = "".join(pieces)
        return self._state

    def _make(self, made: TurnMade) -> None:
        has_parent = made.parent == 0 or made.parent in self._tree
        if made.id in self._tree or made.parent >= made.id or not has_parent:
            raise DamagedError("a line in it names a turn that cannot be")
        turn = Turn(made.role, "", id=made.id, parent=made.parent, made_s=made.made_s)
        _set_state(turn, made)
        self._tree[made.id] = turn
        self._pieces[made.id] = [made.text]
        self._lengths[made.id] = len(made.text)

    def _extend(self, text: TextFrom) -> None:
        turn = self._find(text.turn)
        length = self._lengths[turn.id]
        if not 0 <= text.at <= length:
            raise DamagedError("a part of an answer is missing in it")
        if text.at < length:
            self._pieces[turn.id] = ["".join(self._pieces[turn.id])[: text.at]]
        self._pieces[turn.id].append(text.text)
        self._lengths[turn.id] = text.at + len(text.text)

    def _find(self, turn_id: int) -> Turn:
        turn = self._tree.get(turn_id)
        if turn is None:
            raise DamagedError("a line in it speaks of a turn that is missing")
        return turn

    def _check_parents(self, dropped: Iterable[int]) -> None:
        gone = set(dropped)
        if any(turn.parent in gone for turn in self._tree.values()):
            raise DamagedError("a turn in it lost the one before it")


def _set_state(turn: Turn, source: TurnMade | TurnState) -> None:
    for name in STATE_FIELDS:
        setattr(turn, name, getattr(source, name))
