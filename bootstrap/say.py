"""How the set-up talks: plain lines, and a progress line that is rewritten on a terminal."""

from __future__ import annotations

import re
import shutil
import sys
import time

# A pipe or a log file gets a line this often instead of a line that is rewritten.
_PIPE_EVERY_S = 15.0
_FAULT = re.compile(r"\b(error|fatal|not found|could not|cannot)\b", re.IGNORECASE)
_FAULTS_SHOWN = 12


class SetupError(Exception):
    """The set-up cannot go on; the message is the sentence to show."""


def say(text: str) -> None:
    """Write a line at once, into a pipe too."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def duration_text(seconds: float) -> str:
    """Seconds as ``45 s`` or ``3 min 20 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def faults_of(lines: list[str]) -> str:
    """The last lines of a program's output that name a fault, or else its very last ones."""
    told = [line.strip() for line in lines if _FAULT.search(line)][-_FAULTS_SHOWN:]
    return "\n  " + "\n  ".join(told or [line.strip() for line in lines[-5:]])


class Progress:
    """How far one long step is; on a terminal one line, else one every 15 seconds."""

    def __init__(self, what: str) -> None:
        """Begin; ``what`` names the step."""
        self._what = what
        self._begun_s = self._shown_s = time.monotonic()
        self._is_terminal = sys.stdout.isatty()

    @property
    def elapsed_text(self) -> str:
        """Time since the beginning."""
        return duration_text(time.monotonic() - self._begun_s)

    def show(self, how_far: str) -> None:
        """Say how far it is, unless that was just said."""
        now_s = time.monotonic()
        text = f"  {self._what}: {how_far}, {self.elapsed_text}"
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            sys.stdout.write(f"\r{text[:width]:<{width}}")
            sys.stdout.flush()
        elif now_s - self._shown_s >= _PIPE_EVERY_S:
            self._shown_s = now_s
            say(text)

    def end(self, outcome: str) -> None:
        """Say how it ended."""
        text = f"  {self._what}: {outcome}, {self.elapsed_text}"
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            text = f"\r{text[:width]:<{width}}"
        say(text)
