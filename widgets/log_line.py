"""One line of the log, and how a program's text becomes lines that can be shown.

Pure: no Qt, so that whatever writes the log down can use it as well.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")
# A line of this length fills five screens; what is behind it is cut.
_LONGEST = 4000
# Colours of a terminal, and what would move the cursor or turn the reading direction.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class LogLine:
    """What was said, by whom and when.

    Attributes:
        at_s: Seconds since 1970 by this machine's clock.
        level: How much it matters.
        source: Who said it, e.g. ``engine``.
        text: One line.
    """

    at_s: float
    level: Level
    source: str
    text: str

    def time_text(self) -> str:
        """The time of day to the millisecond."""
        second = int(self.at_s)
        return f"{_time_of_day(second)}.{int((self.at_s - second) * 1000):03}"

    def whole_text(self) -> str:
        """All of it, as it is copied and read out."""
        return f"{self.time_text()} {self.level:<7} {self.source}: {self.text}"


@functools.lru_cache(maxsize=1024)
def _time_of_day(second: int) -> str:
    """Asking for the time zone is the dearest part of drawing a line, and lines come in swarms."""
    return datetime.fromtimestamp(second).astimezone().strftime("%H:%M:%S")


def log_lines(at_s: float, level: Level, source: str, text: str) -> list[LogLine]:
    """``text`` as lines without control characters; empty ones are left out."""
    # Each piece is cut before it is cleaned: a program may send megabytes without a line feed.
    pieces = text.replace("\r", "\n").split("\n")
    cleaned = (_cleaned(piece[: 2 * _LONGEST]) for piece in pieces)
    return [LogLine(at_s, level, source, piece) for piece in cleaned if piece]


def _cleaned(text: str) -> str:
    seen = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", _ESCAPES.sub("", text)).expandtabs(4).rstrip()
    return seen if len(seen) <= _LONGEST else seen[:_LONGEST] + "…"
