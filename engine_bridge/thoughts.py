"""Where a model thinks and where it answers, told from its text as it comes.

Pure. The child counts by it and the window folds by it, so that both mean the same words.
"""

from __future__ import annotations

from typing import Literal

# Opening and closing mark. A thought stands before the answer; marks later on are plain text.
_MARKS = (
    ("<think>", "</think>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    # gpt-oss: its ``<|end|>`` is a control token and gives no text.
    ("<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"),
)
# Marks that a vocabulary may have as one token: shown although control tokens give no text.
MARK_TEXTS = frozenset(mark for pair in _MARKS for mark in pair if "|" not in mark)
# Opens an answer that was not thought about.
_NO_THOUGHT = "<|channel|>final<|message|>"
_OPENERS = (*(opener for opener, _ in _MARKS), _NO_THOUGHT)


def answer_of(text: str, *, starts_inside: bool = False) -> str:
    """``text`` of an answer without what was thought before it."""
    reader = ThoughtReader(starts_inside=starts_inside)
    pieces = [*reader.feed(text), *reader.finish()]
    return "".join(piece for is_thought, piece in pieces if not is_thought)


def opens_thought(prompt: str) -> bool:
    """Whether ``prompt`` ends with an open thought, as some templates end theirs."""
    end = prompt[-64:].rstrip()
    return any(end.endswith(opener) for opener, _ in _MARKS)


class ThoughtReader:
    """Cuts a stream of text into thought and answer; marks and the space around them are dropped.

    Args:
        starts_inside: The text begins inside a thought that the template opened.
    """

    def __init__(self, *, starts_inside: bool = False) -> None:
        """Begin with an empty text."""
        self._state: Literal["begin", "thought", "answer"] = "thought" if starts_inside else "begin"
        # Which mark closes is only known where the opening one was read.
        self._closers = tuple(closer for _, closer in _MARKS)
        self._held = ""
        self._is_trimming = starts_inside

    @property
    def is_inside(self) -> bool:
        """Whether what comes next is thought."""
        return self._state == "thought"

    @property
    def is_decided(self) -> bool:
        """Whether the answer has begun; nothing can become a thought any more."""
        return self._state == "answer"

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """Take more text, cut anywhere.

        Returns:
            Pieces in order: whether it is thought, and its text, never empty.
        """
        pieces: list[tuple[bool, str]] = []
        if self._state == "begin":
            text = self._begin(self._held + text)
        if self._state == "thought":
            text = self._think(self._held + text, pieces)
        if self._state == "answer":
            self._put(text, pieces)
        return pieces

    def finish(self) -> list[tuple[bool, str]]:
        """What was held back because a mark might have followed; no more text comes."""
        pieces: list[tuple[bool, str]] = []
        held, self._held = self._held, ""
        if held:
            self._put(held, pieces)
        return pieces

    def _begin(self, text: str) -> str:
        """Look for the opening mark; returns what is left to be read."""
        self._held = ""
        bare = text.lstrip()
        for opener, closer in _MARKS:
            if bare.startswith(opener):
                self._state, self._closers, self._is_trimming = "thought", (closer,), True
                return bare[len(opener) :]
        if bare.startswith(_NO_THOUGHT):
            self._state, self._is_trimming = "answer", True
            return bare[len(_NO_THOUGHT) :]
        if any(opener.startswith(bare) for opener in _OPENERS):
            self._held = text
            return ""
        self._state = "answer"
        return text

    def _think(self, text: str, pieces: list[tuple[bool, str]]) -> str:
        """Look for the closing mark; returns what stands behind it."""
        self._held = ""
        found = [(at, closer) for closer in self._closers if (at := text.find(closer)) >= 0]
        if not found:
            hold = _held_back(text, self._closers)
            self._held = text[len(text) - hold :]
            self._put(text[: len(text) - hold], pieces)
            return ""
        at, closer = min(found)
        self._put(text[:at].rstrip(), pieces)
        self._state, self._is_trimming = "answer", True
        return text[at + len(closer) :]

    def _put(self, text: str, pieces: list[tuple[bool, str]]) -> None:
        if self._is_trimming:
            text = text.lstrip()
            self._is_trimming = not text
        if text:
            pieces.append((self.is_inside, text))


class ThoughtCounter:
    """Counts the tokens of a thought, its marks included.

    Args:
        starts_inside: The template opened the thought.

    Attributes:
        tok: Tokens of the thought so far.
    """

    def __init__(self, *, starts_inside: bool = False) -> None:
        """Nothing counted yet."""
        self.tok = 0
        self._reader = ThoughtReader(starts_inside=starts_inside)
        self._undecided_tok = 0

    @property
    def is_over(self) -> bool:
        """Whether no more tokens can belong to the thought."""
        return self._reader.is_decided

    def take(self, piece: bytes) -> None:
        """Count the token with these bytes, if it belongs to the thought."""
        reader = self._reader
        if reader.is_decided:
            return
        self._undecided_tok += 1
        was_inside = reader.is_inside
        reader.feed(piece.decode("latin-1"))  # the marks are ASCII; bytes of others only pass by
        if was_inside or reader.is_inside:
            self.tok += self._undecided_tok
            self._undecided_tok = 0


def _held_back(text: str, closers: tuple[str, ...]) -> int:
    """Characters at the end of ``text`` that may be the beginning of a closing mark."""
    longest = max(map(len, closers)) - 1
    for length in range(min(longest, len(text)), 0, -1):
        end = text[-length:]
        if any(closer.startswith(end) for closer in closers):
            return length
    return 0
