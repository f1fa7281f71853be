"""What became of each step of a tuner: gained, tried without a gain, or not tried and why. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.experiments.terminal import duration_text
from app.experiments.tune_goal import TuneGoal


class Fate(StrEnum):
    """What became of a step."""

    GAINED = "gained"
    LOST = "lost"
    FEW_RUNS = "few runs"
    NO_TIME = "no time"
    NOTHING = "nothing"


@dataclass(frozen=True)
class _Entry:
    fate: Fate
    needed: int = 0  # runs of a race, and those that it might have taken
    left: int = 0


class Fates:
    """What became of each step, by its name."""

    def __init__(self) -> None:
        """Begin with none."""
        self._entries: dict[str, _Entry] = {}

    def tried(self, name: str, *, has_gained: bool) -> None:
        """It was raced; once it has gained it stays so."""
        known = self._entries.get(name)
        is_gain = has_gained or (known is not None and known.fate is Fate.GAINED)
        self._entries[name] = _Entry(Fate.GAINED if is_gain else Fate.LOST)

    def was_short(self, name: str, needed: int, left: int, *, is_time: bool) -> None:
        """Its race needs more runs than are left for it; nothing new for one that was raced."""
        fate = Fate.NO_TIME if is_time else Fate.FEW_RUNS
        self._entries.setdefault(name, _Entry(fate, needed, max(0, left)))

    def had_nothing(self, name: str) -> None:
        """None of its options could run beside the best; nothing new for one that was raced."""
        self._entries.setdefault(name, _Entry(Fate.NOTHING))

    def of(self, name: str) -> Fate | None:
        """What became of a step; None if it was not reached."""
        entry = self._entries.get(name)
        return None if entry is None else entry.fate

    def sentences(self, goal: TuneGoal, reserve: int, unreached: Sequence[str] = ()) -> list[str]:
        """All that brought nothing, each step once.

        Args:
            goal: With the limit of time.
            reserve: Runs that were kept for what comes after the steps.
            unreached: Names of steps that were not reached before the user stopped it, say.
        """
        told = []
        if names := self._named(Fate.LOST):
            told.append(f"Tried without a clear gain: {'; '.join(names)}.")
        if names := self._named(Fate.NOTHING):
            told.append(
                f"Not tried, for there was no other value that could run: {'; '.join(names)}."
            )
        if names := self._named(Fate.NO_TIME):
            limit = duration_text(goal.seconds)
            told.append(
                f"Not tried for lack of time, of which there were {limit}: {'; '.join(names)}. A "
                "longer limit reaches them."
            )
        short = [
            f"{name} ({_runs(entry.needed)} needed, {entry.left or 'none'} left)"
            for name, entry in self._entries.items()
            if entry.fate is Fate.FEW_RUNS
        ]
        if short:
            kept = f", apart from {_runs(reserve)} kept for the end" if reserve else ""
            told.append(
                f"Not tried, for a race needs more runs than were left{kept}: {'; '.join(short)}. "
                "A larger budget reaches them."
            )
        if unreached:
            told.append(f"Not reached before it ended: {'; '.join(unreached)}.")
        return told

    def _named(self, fate: Fate) -> list[str]:
        return [name for name, entry in self._entries.items() if entry.fate is fate]


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"
