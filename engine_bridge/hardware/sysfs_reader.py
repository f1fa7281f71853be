"""What every reader of boards does that are described by files below /sys (Linux).

Which files a maker's boards have, and what they say, is ``amd``'s and ``intel``'s business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from engine_bridge.hardware.sysfs import UNTRIED, Card, cards
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot


class SysfsBoard(Protocol):
    """A board that was found, and what its reader remembers of it."""

    @property
    def card(self) -> Card:
        """Where its files lie."""
        ...

    @property
    def name(self) -> str:
        """For the user."""
        ...


_BoardT = TypeVar("_BoardT", bound=SysfsBoard)


class SysfsReader(ABC, Generic[_BoardT]):
    """Reads the boards of this machine that certain drivers drive.

    Attributes:
        DRIVERS: Names of those drivers.
        LOSS: What is lost with a board that does not answer any more, the end of a clause.
        engine_pid: Process id of the engine, None while there is none.
        activity: What each board did, by the last reading; also of one that does not answer.
        problem: Why the last reading is incomplete, a sentence; empty when it is complete.
    """

    DRIVERS: ClassVar[tuple[str, ...]]
    LOSS: ClassVar[str] = ""

    def __init__(self, root: Path, found: tuple[Card, ...], engine_pid: int | None) -> None:
        """Use ``open`` instead."""
        self.engine_pid = engine_pid
        self.activity: tuple[BoardActivity, ...] = ()
        self.problem = ""
        self._root = root
        self._boards = [self._board(card) for card in found]

    @classmethod
    def open(cls, engine_pid: int | None = None, root: Path = Path("/")) -> Self | None:
        """Find the boards; None where none of the drivers drives one.

        Args:
            engine_pid: Process id of the engine, None while there is none.
            root: Where ``sys``, ``proc`` and ``usr`` lie.
        """
        found = cards(root, cls.DRIVERS)
        return cls(root, found, engine_pid) if found else None

    def read(self) -> tuple[MemorySnapshot, ...]:
        """A snapshot of each board whose size is known; ``activity`` has what all of them do."""
        self.activity = tuple(self._answer(board) for board in self._boards)
        self.problem = " ".join(board.problem for board in self.activity if board.problem)
        return tuple(board.memory for board in self.activity if board.memory is not None)

    def close(self) -> None:
        """Nothing to give back."""

    def _answer(self, board: _BoardT) -> BoardActivity:
        """What a board does, or that it is gone."""
        if (board.card.device / "uevent").exists():
            return self._ask(board)
        sentence = (
            f"{board.name} does not answer any more (its files at {board.card.slot} are gone)"
            f"{self.LOSS}. `dmesg` tells why; often only a restart of the machine helps."
        )
        return BoardActivity(board.name, problem=sentence, remark=UNTRIED)

    @abstractmethod
    def _board(self, card: Card) -> _BoardT:
        """What stays the same of a board, looked up once."""

    @abstractmethod
    def _ask(self, board: _BoardT) -> BoardActivity:
        """The figures of a board that is there."""
