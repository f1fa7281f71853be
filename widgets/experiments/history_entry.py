"""What the history shows, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class HistoryEntry:
    """An experiment in the list.

    Attributes:
        key: Of the experiment, unique.
        kind: Key of what was done (``sweep``), see ``kind_words``.
        title: One line that tells it from the others.
        begun_s: When it began, seconds since 1970.
        model: Shown name of the model, or where a server is.
        state: ``done``, ``running``, ``stopped``, ``failed`` or ``cut``.
        figure: The figure that stands for it, with its unit; empty where nothing was measured.
        figure_label: What that figure is.
        short_figure: The same with what it is in few words, for the end of a line.
        about: How much the figure rests on (``fastest of 12 configurations · 60 runs``).
        place: Machine and engine in one line.
        tags: The user's words.
        note: The user's note.
        disturbed_runs: Runs that something disturbed.
        can_resume: Whether it stopped before its end and can be gone on with.
        is_unkept: Whether it is in memory only, since it could not be written.
    """

    key: str
    kind: str
    title: str
    begun_s: float
    model: str = ""
    state: str = "done"
    figure: str = ""
    figure_label: str = ""
    short_figure: str = ""
    about: str = ""
    place: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    disturbed_runs: int = 0
    can_resume: bool = False
    is_unkept: bool = False


class EntryList:
    """Entries in their order, each made when it is looked at: of 10,000 a window shows twenty."""

    def __init__(self, keys: Iterable[str], make: Callable[[int], HistoryEntry]) -> None:
        """Begin with nothing made.

        Args:
            keys: Of all entries, in order, each once.
            make: Makes the entry of a place, from 0.
        """
        self.keys = tuple(keys)
        self._make = make
        self._made: dict[int, HistoryEntry] = {}
        self._places = {key: place for place, key in enumerate(self.keys)}

    @classmethod
    def of(cls, entries: Sequence[HistoryEntry]) -> EntryList:
        """Entries that are made already."""
        return cls((entry.key for entry in entries), entries.__getitem__)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.keys)

    def at(self, place: int) -> HistoryEntry:
        """The entry of a place, from 0."""
        entry = self._made.get(place)
        if entry is None:
            entry = self._made[place] = self._make(place)
        return entry

    def place_of(self, key: str) -> int | None:
        """Where an entry stands; None where it does not."""
        return self._places.get(key)

    def without(self, keys: Collection[str]) -> EntryList:
        """The same without some; itself where none of them is in it."""
        if not any(key in self._places for key in keys):
            return self
        gone = set(keys)
        left = [place for place, key in enumerate(self.keys) if key not in gone]
        return EntryList((self.keys[place] for place in left), lambda place: self.at(left[place]))
