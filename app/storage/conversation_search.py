"""Finding words in a conversation, whatever their case and accents. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.conversation import Conversation
from app.storage.conversation_entry import ConversationEntry

# A text is folded in pieces: one of 5 MB would hold up every other thread meanwhile.
_PIECE_CHARACTERS = 1 << 16
# More say no better what is looked for, and each is looked for in all that was ever said.
_MOST_WORDS = 40
_BEFORE_CHARACTERS = 40
_EXCERPT_CHARACTERS = 140
_ACCENTS = re.compile("[\u0300-\u036f]+")


@dataclass(frozen=True)
class SearchHit:
    """A conversation in which every word stands.

    Attributes:
        entry: The conversation.
        excerpt: The text around the first hit, on one line.
        start: Where in ``excerpt`` the hit begins.
        end: Where it ends; equal to ``start`` where only the title has it.
        turn: Id of the turn; 0 where only the title has it.
    """

    entry: ConversationEntry
    excerpt: str
    start: int
    end: int
    turn: int


def folded(text: str) -> str:
    """``text`` without case and accents; as long as itself where it is ASCII."""
    if text.isascii():
        return text.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFD", text.casefold()))


def search_words(text: str) -> tuple[str, ...]:
    """What was typed, as folded words, each once; of a pasted page the first words."""
    return tuple(dict.fromkeys(folded(text).split()))[:_MOST_WORDS]


def places_of(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Beginning and end of every place in ``text`` where one of the folded ``words`` stands."""
    whole = folded(text)
    origins: Sequence[int] = range(len(text))
    if not text.isascii():
        pieces = [folded(character) for character in text]
        origins = [place for place, piece in enumerate(pieces) for _ in piece]
        whole = "".join(pieces)
    found = []
    for word in words:
        start = whole.find(word)
        while start >= 0:
            end = start + len(word)
            found.append((origins[start], origins[end - 1] + 1))
            start = whole.find(word, end)
    return sorted(found)


def find_words(
    conversation: Conversation,
    entry: ConversationEntry,
    words: Sequence[str],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> SearchHit | None:
    """Where the words stand; None unless each does, in the title or any turn of any branch.

    Args:
        conversation: Searched through.
        entry: Its entry.
        words: Folded.
        is_cancelled: Asked before each piece of a text; None is returned then.
    """
    missing = set(words)
    title = folded(entry.title)
    missing -= {word for word in missing if word in title}
    first: tuple[int, int, str] | None = None  # turn, place, word
    for turn in conversation.tree.values():
        for start, piece in _folded_pieces(turn.text, words):
            if is_cancelled():
                return None
            if first is None:
                found = [(piece.find(word), word) for word in words if word in piece]
                if found:
                    place, word = min(found)
                    first = (
                        turn.id,
                        start + _unfolded(turn.text[start : start + 2 * _PIECE_CHARACTERS], place),
                        word,
                    )
            missing -= {word for word in missing if word in piece}
            if not missing and first is not None:
                return _hit(conversation, entry, first)
    if missing:
        return None
    if first is not None:
        return _hit(conversation, entry, first)
    return SearchHit(entry, entry.excerpt, 0, 0, 0)


def _folded_pieces(text: str, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Pieces of a text, folded, with their start; they overlap by the longest word."""
    overlap = max(map(len, words)) * 2
    for start in range(0, len(text), _PIECE_CHARACTERS):
        yield start, folded(text[start : start + _PIECE_CHARACTERS + overlap])


def _unfolded(text: str, place: int) -> int:
    """Where in ``text`` the character stands that folding moved to ``place``."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if len(folded(text[:middle])) <= place:
            low = middle
        else:
            high = middle - 1
    return low


def _hit(
    conversation: Conversation, entry: ConversationEntry, first: tuple[int, int, str]
) -> SearchHit:
    turn, place, word = first
    text = conversation.tree[turn].text
    end = place + max(1, _unfolded(text[place : place + 4 * len(word)], len(word)))
    start = max(0, place - _BEFORE_CHARACTERS)
    before = ("…" if start else "") + " ".join(text[start:place].split())
    if before and text[place - 1 : place].isspace():
        before += " "
    hit = " ".join(text[place:end].split())
    after = text[end : end + _EXCERPT_CHARACTERS - len(before) - len(hit)]
    tail = (" " if after[:1].isspace() else "") + " ".join(after.split())
    if end + len(after) < len(text):
        tail += "…"
    return SearchHit(entry, before + hit + tail, len(before), len(before) + len(hit), turn)
