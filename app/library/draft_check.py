"""Which models can draft for another, by their vocabularies and what their headers say.

Runs in a process of its own (``python -m app.library.draft_check``): a vocabulary is megabytes of
text, and reading many of them would take the interpreter from the window.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace

import msgspec

from engine_bridge.draft_head import why_not_its_head
from engine_bridge.draft_kind import GUESSES, PLAIN
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.gguf_header import read_header
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


class DraftTarget:
    """A model that is to be drafted for. Holds its vocabulary, megabytes: do not hoard.

    Attributes:
        facts: What its header says.

    Args:
        path: Of its file; of a split model the first part.

    Raises:
        GgufError: If it is no model, or has no vocabulary; in a sentence.
    """

    def __init__(self, path: str) -> None:
        """Read it."""
        self._vocabulary = read_vocabulary(path)
        self.facts = read_model_facts(path)

    def why_not(self, path: str) -> str:
        """Why the model at ``path`` cannot draft for it, a sentence; empty where it can.

        Raises:
            GgufError: If that is no model, in a sentence.
        """
        return self.why_not_of(read_model_facts(path))

    def why_not_of(self, draft: ModelFacts) -> str:
        """The same of a model whose header was read already."""
        if draft.draft_kind == GUESSES:
            reason = why_not_its_guesses(self.facts, draft)
        elif draft.draft_kind != PLAIN:
            reason = why_not_its_head(self.facts, draft, read_header(draft.path))
        else:
            reason = ""
        return reason or why_incompatible(self._vocabulary, self._theirs(draft))

    def _theirs(self, draft: ModelFacts) -> Vocabulary:
        theirs, ours = read_vocabulary(draft.path), self._vocabulary
        if draft.draft_kind in (PLAIN, GUESSES):
            return theirs
        # llama.cpp does not compare how texts begin and end for a head, nor numbers of tokens: a
        # head's are often filled up. What both have must be the same words all the same.
        return replace(
            theirs, size=ours.size, adds_bos=ours.adds_bos, bos=ours.bos,
            adds_eos=ours.adds_eos, eos=ours.eos,
        )  # fmt: skip


def check(request: DraftRequest, tell: Callable[[DraftVerdict], None]) -> None:
    """Answer each candidate as soon as it is known."""
    try:
        target = DraftTarget(os.fsdecode(request.target))
    except GgufError as error:
        for location in request.candidates:
            tell(DraftVerdict(location, str(error)))
        return
    for location in request.candidates:
        try:
            why_not = target.why_not(os.fsdecode(location))
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
