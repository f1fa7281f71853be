"""What is said of a model that might draft for another, here and on a hub. Pure text."""

from __future__ import annotations

from app.library.draft_ranking import USEFUL_SHARE
from engine_bridge.draft_kind import GUESSES, PLAIN
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS, WHY_EXPORT_ONLY

CAN, LARGE = "can draft", "can draft, rarely pays"
CAN_ELSEWHERE, CANNOT, UNKNOWN = "command line only", "cannot draft", "not checked"


def verdict_words(kind: str, share: float, why_not: str, problem: str = "") -> str:
    """The verdict in a few words.

    Args:
        kind: What it drafts as.
        share: Its size by that of the model it would draft for; 0 where that is not known.
        why_not: Why it cannot; empty where it can.
        problem: Why it could not be checked; empty where it was.
    """
    if problem:
        return UNKNOWN
    if why_not:
        return CANNOT
    if kind in EXPORT_ONLY_KINDS:
        return CAN_ELSEWHERE
    return LARGE if _is_large(kind, share) else CAN


def verdict_sentence(kind: str, share: float, why_not: str, problem: str = "") -> str:
    """Why it can or cannot, and whether it is of use.

    Args:
        kind: What it drafts as.
        share: Its size by that of the model it would draft for; 0 where that is not known.
        why_not: Why it cannot; empty where it can.
        problem: Why it could not be checked; empty where it was.
    """
    if problem or why_not:
        return problem or why_not
    if kind in EXPORT_ONLY_KINDS:
        return (
            f"It was made for a model like this one and drafts as {kind}. That stands in the "
            f"command line but does not run here: {WHY_EXPORT_ONLY}."
        )
    if kind == GUESSES:
        return "Its layers were trained to guess ahead for a model like this one."
    said = "It has the vocabulary of the model, so it can draft for it."
    if _is_large(kind, share):
        said += (
            f" It is {percent_text(share)} of the model's size: a guess reads that much of what a "
            "token of the model reads, which rarely pays."
        )
    return said


def _is_large(kind: str, share: float) -> bool:
    return kind == PLAIN and share > USEFUL_SHARE


def percent_text(share: float) -> str:
    """A share of a size: ``12 %``, below ten with a decimal."""
    digits = 0 if share >= 0.0995 else 1
    return f"{100 * share:.{digits}f}\u202f%"
