"""Which models can draft for another, by their vocabularies and what their headers say.

Runs in a process of its own (``python -m app.library.draft_check``): a vocabulary is megabytes of
text, and reading many of them would take the interpreter from the window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import msgspec

from engine_bridge.draft_kind import GUESSES
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.gguf_vocabulary import Vocabulary, read_vocabulary, why_incompatible
from engine_bridge.gguf_window import GgufError
from engine_bridge.guessing_file import why_not_its_guesses
from engine_bridge.model_facts import ModelFacts

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
    path = os.fsdecode(request.target)
    try:
        target, facts = read_vocabulary(path), read_model_facts(path)
    except GgufError as error:
        for location in request.candidates:
            tell(DraftVerdict(location, str(error)))
        return
    for location in request.candidates:
        try:
            why_not = _why_not(facts, target, os.fsdecode(location))
        except GgufError as error:
            why_not = str(error)
        tell(DraftVerdict(location, why_not))


def _why_not(target: ModelFacts, vocabulary: Vocabulary, path: str) -> str:
    draft = read_model_facts(path)
    reason = why_not_its_guesses(target, draft) if draft.draft_kind == GUESSES else ""
    return reason or why_incompatible(vocabulary, read_vocabulary(path))


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
