"""What the slots hold, as numbers and text. Pure: no Qt.

Knows the arithmetic of a pool and its slots; must not know painting or events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

LaneState = Literal["empty", "idle", "reading", "writing"]

KEPT_WORDS = "kept from earlier turns"
_STATE_WORDS: dict[LaneState, str] = {
    "empty": "empty",
    "idle": "idle",
    "reading": "reading",
    "writing": "writing",
}


class Stretch(NamedTuple):
    """A piece of a bar, as shares of its length.

    Attributes:
        begin: Where it begins, 0 to 1.
        end: Where it ends, 0 to 1.
        kind: ``kept``, ``new``, ``others`` (cells of a shared pool that other slots hold) or
            ``beyond`` (cells that no slot uses, since the model was not trained for so many).
    """

    begin: float
    end: float
    kind: Literal["kept", "new", "others", "beyond"]


@dataclass(frozen=True)
class Lane:
    """One slot.

    Attributes:
        slot: Index, from 0.
        used_tok: Tokens in its cache.
        kept_tok: The part of them that stood there before the present turn.
        own_tok: The part of them whose cells no slot before this one holds as well.
        cap_tok: Tokens it may use.
        part_tok: Cells that its bar stands for: its part of a split pool, its cap in a shared one.
        others_tok: Of a shared pool, tokens below its cap that other slots hold.
        state: What it does.
        progress: Share of the prompt that is read, 0 to 1, while it reads.
        title: The conversation it holds; empty where unknown or none.
    """

    slot: int
    used_tok: int
    kept_tok: int
    own_tok: int
    cap_tok: int
    part_tok: int
    others_tok: int = 0
    state: LaneState = "empty"
    progress: float = 0.0
    title: str = ""

    def name(self) -> str:
        """``1 · Greeting``; slots are counted from 1 for people, as the chat does."""
        number = f"{self.slot + 1}"
        return f"{number} · {self.title}" if self.title else number

    def figures(self) -> str:
        """``writing · 1,234 of 4,096 tok``."""
        return f"{self.state_words()} · {self.used_tok:,} of {self.cap_tok:,} tok"

    def state_words(self) -> str:
        """What it does: ``reading 45 %``."""
        words = _STATE_WORDS[self.state]
        return f"{words} {self.progress:.0%}".replace("%", " %") if self._is_reading else words

    @property
    def _is_reading(self) -> bool:
        return self.state == "reading" and self.progress > 0

    def sentence(self) -> str:
        """Everything about it, for a tip and for whoever cannot see the bar."""
        parts = [f"{self.used_tok:,} of {self.cap_tok:,} tokens used"]
        if self.kept_tok:
            parts.append(f"{self.kept_tok:,} of them {KEPT_WORDS}")
        if self.own_tok < self.used_tok:
            parts.append(f"{self.used_tok - self.own_tok:,} in cells that another slot holds too")
        if self.others_tok:
            parts.append(f"{self.others_tok:,} tokens of the shared pool are held by other slots")
        if self.part_tok > self.cap_tok:
            beyond = self.part_tok - self.cap_tok
            parts.append(f"{beyond:,} more are reserved and never used")
        title = f", {self.title}" if self.title else ""
        return f"Slot {self.slot + 1}{title}: {self.state_words()}, {', '.join(parts)}."

    def stretches(self) -> tuple[Stretch, ...]:
        """What its bar is made of, from the left; what is left out is free."""
        whole = max(1, self.part_tok)
        used, kept = min(self.used_tok, whole), min(self.kept_tok, self.used_tok, whole)
        found = [
            Stretch(0, kept / whole, "kept"),
            Stretch(kept / whole, used / whole, "new"),
        ]
        cap = min(self.cap_tok, whole)
        others = max(used, cap - self.others_tok)
        found.append(Stretch(others / whole, max(cap, others) / whole, "others"))
        found.append(Stretch(max(cap, used) / whole, 1.0, "beyond"))
        return tuple(stretch for stretch in found if stretch.end > stretch.begin)

    @property
    def cap_share(self) -> float | None:
        """Where on its bar the cap stands, 0 to 1; None at the very end."""
        return None if self.cap_tok >= self.part_tok else self.cap_tok / self.part_tok


@dataclass(frozen=True)
class Pool:
    """All slots.

    Attributes:
        total_tok: Cells of the pool; 0 without a model.
        is_shared: Whether the slots share it.
        trained_tok: Tokens the model was trained for; 0 if unknown.
        lanes: The slots, by index.
    """

    total_tok: int = 0
    is_shared: bool = False
    trained_tok: int = 0
    lanes: tuple[Lane, ...] = ()

    @property
    def used_tok(self) -> int:
        """Cells that are filled, those that several slots hold counted once."""
        return min(self.total_tok, sum(lane.own_tok for lane in self.lanes))

    def figures(self) -> str:
        """``1,234 of 16,384 tok``."""
        return f"{self.used_tok:,} of {self.total_tok:,} tok"

    def arithmetic(self) -> str:
        """How the pool is divided: ``4 slots × 4,096 tok``, and what the model was trained for."""
        if not self.lanes:
            return ""
        count, first = len(self.lanes), self.lanes[0]
        slots = "1 slot" if count == 1 else f"{count} slots"
        if self.is_shared:
            verb = "has" if count == 1 else "share"
            words = f"{slots} {verb} {self.total_tok:,} tok, each up to {first.cap_tok:,}"
        else:
            words = f"{slots} × {first.part_tok:,} tok"
        if self.trained_tok:
            words += f" · trained for {self.trained_tok:,}"
        return words

    def sentence(self) -> str:
        """The pool for whoever cannot see its bar."""
        if not self.lanes:
            return "No pool: no model is loaded."
        busy = sum(lane.state in ("reading", "writing") for lane in self.lanes)
        kept = sum(lane.kept_tok for lane in self.lanes)
        words = f"Pool: {self.used_tok:,} of {self.total_tok:,} tokens used, {kept:,} {KEPT_WORDS}"
        return f"{words}; {busy} of {len(self.lanes)} slots at work."

    def stretches(self) -> tuple[Stretch, ...]:
        """What the pool's bar is made of: each slot at its place, or one behind the other."""
        whole, begin = max(1, self.total_tok), 0
        found = []
        for lane in self.lanes:
            new = min(lane.own_tok, max(0, lane.used_tok - lane.kept_tok))
            kept_end = begin + lane.own_tok - new
            used_end = kept_end + new
            found.append(Stretch(begin / whole, kept_end / whole, "kept"))
            found.append(Stretch(kept_end / whole, used_end / whole, "new"))
            begin = used_end if self.is_shared else begin + lane.part_tok
        inside = (Stretch(s.begin, min(1.0, s.end), s.kind) for s in found if s.begin < 1)
        return tuple(stretch for stretch in inside if stretch.end > stretch.begin)

    def borders(self) -> tuple[float, ...]:
        """Where one slot ends and the next begins on the pool's bar, as shares of its length."""
        whole, place = max(1, self.total_tok), 0
        found = []
        for lane in self.lanes[:-1]:
            place += lane.own_tok if self.is_shared else lane.part_tok
            found.append(place / whole)
        # Slots without a token share a border, and a bar's ends need none.
        return tuple(share for share in dict.fromkeys(found) if 0 < share < 1)
