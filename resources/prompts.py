"""Prompts to start with: each shows another side of the meters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExamplePrompt:
    """A prompt offered by an empty conversation.

    Attributes:
        title: What it shows on the desk, a few words.
        text: The prompt itself.
    """

    title: str
    text: str


CHAT_PROMPTS = (
    ExamplePrompt(
        "Long answer: watch TPOT settle",
        "Explain how a bicycle stays upright while it rolls. Take about five paragraphs and end "
        "with one experiment that I can try at home.",
    ),
    ExamplePrompt(
        "Code that repeats itself: drafts pay off",
        "Write a Python dataclass Recipe with eight typed fields. Then write it again with every "
        "field renamed to end in _value, and change nothing else.",
    ),
    ExamplePrompt(
        "Table and list: short pieces, many rows",
        "Compare tea, coffee and cocoa in a table: caffeine per cup, brewing temperature, origin. "
        "Below it, give three tips for brewing each.",
    ),
)
COMPLETION_PROMPTS = (
    ExamplePrompt(
        "Prose: watch TPOT settle",
        "The lighthouse keeper had not spoken to anyone for eleven days when the radio",
    ),
    ExamplePrompt(
        "Code that repeats itself: drafts pay off",
        "def celsius_to_fahrenheit(value: float) -> float:\n    return value * 9 / 5 + 32\n\n\n"
        "def fahrenheit_to_celsius(value: float) -> float:\n",
    ),
    ExamplePrompt(
        "A list that wants to go on",
        "Rivers of Europe and the seas they reach:\n\n1. Rhine, North Sea\n"
        "2. Danube, Black Sea\n3.",
    ),
)
