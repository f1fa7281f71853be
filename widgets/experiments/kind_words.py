"""The kinds of experiments in a user's words: what each is called, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KindWords:
    """A kind of experiment.

    Attributes:
        key: As it is kept (``bench``).
        name: What it is called.
        question: What it answers.
    """

    key: str
    name: str
    question: str


KINDS: tuple[KindWords, ...] = (
    KindWords("bench", "Bench", "How fast are these settings, and how steady is that?"),
    KindWords("sweep", "Sweep", "Which values of a setting are fastest, and where is the knee?"),
    KindWords("compare", "Compare", "Which of two settings is faster, if any?"),
    KindWords("users", "Users", "How many users at once stay within the latency limits?"),
    KindWords("tune", "Tune", "Which settings suit this machine, model and purpose best?"),
    KindWords("quality", "Quality", "What does a quantised KV cache cost in quality?"),
    KindWords("probe", "Probe", "How fast is a server that speaks the OpenAI protocol?"),
)
"""All kinds, in the order in which they are offered."""

BY_KIND: dict[str, KindWords] = {kind.key: kind for kind in KINDS}


def kind_name(key: str) -> str:
    """What a kind is called; a newer program's kind by its key."""
    known = BY_KIND.get(key)
    return known.name if known else key.capitalize()
