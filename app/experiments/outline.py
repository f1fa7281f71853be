"""The lengths and times of a workload's conversations, drawn by its seed before there is text.

Pure. The same draws decide which context is needed and what is said, so both agree. Earlier
conversations stay what they are when more are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from app.experiments.recording import guessed_tok

if TYPE_CHECKING:
    from app.experiments.workload import Workload

# What templates put around a question and its answer, and in front of it all: those of Qwen take
# 10 and 20, with a system prompt of their own where none is given.
TURN_TOK = 16
OPENING_TOK = 32
# Of the mean pause. One in 150 would be longer, and a run would wait for nobody else.
_LONGEST_PAUSES = 5
# Beyond the guess by size: an answer said again may come out in other words.
_ANSWER_MARGIN_TOK = 16


@dataclass(frozen=True)
class TurnOutline:
    """One question and its answer.

    Attributes:
        prompt_tok: Length of the question.
        new_tok: Length of the answer, of a recorded one the most it may have.
        think_s: Pause before it.
    """

    prompt_tok: int
    new_tok: int
    think_s: float


@dataclass(frozen=True)
class Outline:
    """One conversation.

    Attributes:
        turns: At least one.
        start_s: When it begins in an open loop; None in a closed one.
        opening_tok: Length of what is said before the first turn.
    """

    turns: tuple[TurnOutline, ...]
    start_s: float | None
    opening_tok: int


def outlines_of(workload: Workload) -> tuple[Outline, ...]:
    """Draw what happens, in the order in which conversations begin.

    Args:
        workload: One without problems.
    """
    lengths = _lengths(workload)
    pauses = _stream(workload, "pauses")
    system_tok = guessed_tok(workload.recording.system) if workload.recording else None
    outlines = []
    for count, start_s in zip(_turn_counts(workload), _starts_s(workload), strict=True):
        turns = tuple(
            TurnOutline(*lengths(number), _pause_s(workload, pauses)) for number in range(count)
        )
        opening_tok = workload.prefix_tok if system_tok is None else system_tok
        outlines.append(Outline(turns, start_s, opening_tok))
    return tuple(_without_first_pauses(workload, outlines))


def _lengths(workload: Workload) -> Callable[[int], tuple[int, int]]:
    """What gives the lengths of the next question and answer, by the number of the turn."""
    recording = workload.recording
    if recording is not None:
        said = [
            (guessed_tok(each.question), guessed_tok(each.answer) + _ANSWER_MARGIN_TOK)
            for each in recording.exchanges
        ]
        return said.__getitem__
    prompts, answers = _stream(workload, "prompts"), _stream(workload, "answers")
    later = workload.prompt_tok if workload.later_tok is None else workload.later_tok

    def drawn(number: int) -> tuple[int, int]:
        prompt_tok = (later if number else workload.prompt_tok).draw(prompts)
        return prompt_tok, workload.answer_tok.draw(answers)

    return drawn


def _turn_counts(workload: Workload) -> list[int]:
    """Turns of each conversation: all the same, but what is left over is a shorter last one."""
    whole, rest = divmod(workload.requests, workload.turns)
    return [workload.turns] * whole + [rest] * bool(rest)


def _starts_s(workload: Workload) -> list[float | None]:
    """When each conversation begins: a Poisson process from its first arrival on."""
    count = workload.conversations
    if workload.rate_req_s is None:
        return [None] * count
    random = _stream(workload, "arrivals")
    rate_per_s = workload.rate_req_s / workload.turns
    starts: list[float | None] = []
    at_s = 0.0
    for _ in range(count):
        starts.append(round(at_s, 3))
        at_s += random.expovariate(rate_per_s)
    return starts


def _pause_s(workload: Workload, random: Random) -> float:
    if not workload.think_s:
        return 0.0
    pause_s = random.expovariate(1 / workload.think_s)
    # Rounded, because the last digit of a logarithm is not the same on every machine.
    return round(min(pause_s, workload.think_s * _LONGEST_PAUSES), 3)


def _without_first_pauses(workload: Workload, outlines: list[Outline]) -> list[Outline]:
    """The first of all begins at once, and in an open loop each when it is due."""
    count = len(outlines) if workload.rate_req_s is not None else 1
    for number, outline in enumerate(outlines[:count]):
        at_once = replace(outline.turns[0], think_s=0.0)
        outlines[number] = replace(outline, turns=(at_once, *outline.turns[1:]))
    return outlines


def _stream(workload: Workload, purpose: str) -> Random:
    """Random numbers for one purpose: what is drawn for another does not move them.

    Seeded by text, which Python hashes the same on every machine.
    """
    return Random(f"{workload.seed}/{purpose}")
