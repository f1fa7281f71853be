"""Which models can draft for another, by their vocabularies.

Runs in a process of its own (``python -m app.library.draft_check``): a vocabulary is megabytes of
text, and reading many of them would take the interpreter from the window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import msgspec

from engine_bridge.gguf_vocabulary import read_vocabulary, why_incompatible
from engine_bridge.gguf_window import GgufError

_NICENESS = 10


class DraftRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked.

    Attributes:
        target: Location of the model that is to be drafted for.
        candidates: Locations of those that might, in the order of the answers.
    """

    target: bytes
    candidates: tuple[bytes, ...]


class DraftVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is answered of one candidate.

    Attributes:
        location: Which one.
        why_not: Why it cannot draft, a sentence; empty where it can.
    """

    location: bytes
    why_not: str


def check(request: DraftRequest, tell: Callable[[DraftVerdict], None]) -> None:
    """Answer each candidate as soon as it is known."""
    try:
        target = read_vocabulary(os.fsdecode(request.target))
    except GgufError as error:
        for location in request.candidates:
            tell(DraftVerdict(location, str(error)))
        return
    for location in request.candidates:
        try:
            why_not = why_incompatible(target, read_vocabulary(os.fsdecode(location)))
        except GgufError as error:
            why_not = str(error)
        tell(DraftVerdict(location, why_not))


def main() -> int:
    """Answer the request on standard input, a verdict a line."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    check(msgspec.json.decode(sys.stdin.buffer.read(), type=DraftRequest), _write)
    return 0


def _write(verdict: DraftVerdict) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(verdict) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
