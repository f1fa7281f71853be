"""The recall test: facts told at depths of a long text, and asked for at its end.

A fact counts as recalled where greedy decoding would give its number: where each token of the
number is the likeliest one behind those before it. That needs no generation, so both contexts
read the same tokens to the end, whatever they would have said, and a state that cannot be rewound
needs no rewinding. Greedy decoding that spells a number in other tokens counts as a miss.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine_bridge.child.context_pair import BATCH_TOK, ContextPair, QualityError
from engine_bridge.quality_messages import RecallTested

_COLOURS = (
    "amber", "azure", "beige", "bronze", "coral", "crimson", "ebony", "golden",
    "indigo", "ivory", "lilac", "olive", "purple", "scarlet", "silver", "violet",
)  # fmt: skip
_PLACES = (
    "barn", "bridge", "cabin", "castle", "cellar", "chapel", "garden", "harbour",
    "library", "market", "mill", "museum", "school", "station", "tower", "workshop",
)  # fmt: skip
_ASKED_AGAIN = "\n\nOnce more, the codes that were given above:"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# A text without full stops is cut after so many characters.
_PIECE_MOST = 400


@dataclass(frozen=True)
class Fact:
    """A number that is told once."""

    subject: str
    code: str

    @property
    def told(self) -> str:
        """How it stands in the text."""
        return f" The code of the {self.subject} is {self.code}."

    @property
    def question(self) -> str:
        """What comes before the number when it is asked for."""
        return f"\nThe code of the {self.subject} is"

    @property
    def answered(self) -> str:
        """The question with the number."""
        return f"{self.question} {self.code}"


class Tokenizer(Protocol):
    """What is needed of a model to lay out the text."""

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        """Tokens of ``text``."""


@dataclass(frozen=True)
class Question:
    """A fact asked for: its tokens, of which those from ``answer_at`` on are the number's."""

    number: int
    tokens: tuple[int, ...]
    answer_at: int


@dataclass(frozen=True)
class RecallText:
    """What is read.

    Attributes:
        document: Tokens up to the first question.
        depths: Where each fact was told, as a share of the whole length.
        questions: In the order in which they are asked.
    """

    document: tuple[int, ...]
    depths: tuple[float, ...]
    questions: tuple[Question, ...]

    @property
    def length_tok(self) -> int:
        """Tokens of document and questions."""
        return len(self.document) + sum(len(question.tokens) for question in self.questions)


def facts_of(count: int, seed: int) -> tuple[Fact, ...]:
    """``count`` facts (at most 256) about different subjects; the same for the same seed."""
    chosen = random.Random(seed)
    pairs = chosen.sample([(c, p) for c in _COLOURS for p in _PLACES], count)
    return tuple(Fact(f"{c} {p}", str(chosen.randrange(10_000, 100_000))) for c, p in pairs)


def lay_out(
    tokenizer: Tokenizer, facts: Sequence[Fact], filler: str, ctx_tok: int, *, bos: int | None
) -> RecallText:
    """Place ``facts`` in ``filler``, which is repeated where it is too short.

    Args:
        tokenizer: The model.
        facts: At least one.
        filler: Any text that is not blank.
        ctx_tok: Length of all, questions included.
        bos: The token that begins every text; None where the model wants none.

    Raises:
        QualityError: If the facts and questions leave no room for a text around them.
    """
    questions = tuple(_question(tokenizer, number, fact) for number, fact in enumerate(facts))
    told = [_tokens(tokenizer, fact.told) for fact in facts]
    head = [] if bos is None else [bos]
    tail = _tokens(tokenizer, _ASKED_AGAIN)
    taken = len(head) + len(tail) + sum(map(len, told)) + sum(len(q.tokens) for q in questions)
    if ctx_tok - taken < taken:
        raise QualityError(
            f"A recall test of {len(facts)} facts needs at least {2 * taken:,} tokens, and "
            f"{ctx_tok:,} were given. Ask for fewer facts, or a longer context."
        )
    document, begins = _with_facts(_pieces(tokenizer, filler, ctx_tok - taken), told, head)
    random.Random(ctx_tok).shuffle(shuffled := list(questions))
    return RecallText(
        document=(*document, *tail),
        depths=tuple(begin / ctx_tok for begin in begins),
        questions=tuple(shuffled),
    )


def recalled(
    pair: ContextPair, text: RecallText, on_step: Callable[[int], None] = lambda _: None
) -> RecallTested:
    """Read ``text`` with both contexts and see which numbers they know.

    Args:
        pair: Both contexts, with room for the text; what they hold is forgotten.
        text: What to read.
        on_step: Told after each step how many tokens it was.

    Raises:
        QualityError: If llama.cpp cannot compute it.
    """
    pair.clear()
    pair.read_without_logits(text.document, on_step)
    at = len(text.document)
    base, candidate = [False] * len(text.depths), [False] * len(text.depths)
    for question in text.questions:
        answer = question.tokens[question.answer_at :]
        # The row before the number's first token foretells it; the last row foretells nothing.
        rows = pair.read(question.tokens, at, len(answer) + 1)
        base[question.number], candidate[question.number] = (
            tuple(logits[:-1].argmax(axis=1)) == answer for logits in rows
        )
        at += len(question.tokens)
        on_step(len(question.tokens))
    return RecallTested(text.length_tok, text.depths, tuple(base), tuple(candidate))


def _question(tokenizer: Tokenizer, number: int, fact: Fact) -> Question:
    tokens, question = _tokens(tokenizer, fact.answered), _tokens(tokenizer, fact.question)
    same = 0
    while same < len(question) and tokens[same] == question[same]:
        same += 1
    return Question(number, tuple(tokens[:BATCH_TOK]), max(1, same))


def _tokens(tokenizer: Tokenizer, text: str) -> list[int]:
    return tokenizer.tokenize(text, add_special=False, parse_special=False)


def _pieces(tokenizer: Tokenizer, filler: str, room_tok: int) -> list[list[int]]:
    """Sentences of the text as tokens, ``room_tok`` in all; the last one is cut."""
    pieces: list[list[int]] = []
    left = room_tok
    for sentence in itertools.cycle(_sentences(filler)):
        tokens = _tokens(tokenizer, f" {sentence}")[:left]
        pieces.append(tokens)
        left -= len(tokens)
        if left <= 0:
            break
    return pieces


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        for at in range(0, len(sentence), _PIECE_MOST):
            if piece := sentence[at : at + _PIECE_MOST].strip():
                yield piece


def _with_facts(
    pieces: Sequence[Sequence[int]], told: Sequence[Sequence[int]], head: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The text with the facts at even distances from its beginning on; where each begins."""
    room = sum(map(len, pieces))
    due = [room * number / max(1, len(told) - 1) for number in range(len(told))]
    document, spent = list(head), 0
    begins: list[int] = []
    for piece in pieces:
        while len(begins) < len(told) and spent >= due[len(begins)]:
            fact = told[len(begins)]
            begins.append(len(document))
            document.extend(fact)
        document.extend(piece)
        spent += len(piece)
    for fact in told[len(begins) :]:
        begins.append(len(document))
        document.extend(fact)
    return document, begins
