"""What a message is built from: words and figures, no widget."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Branch:
    """Where a message stands among those said in the same place.

    Attributes:
        turn_id: Number of the message; 0 where nobody can ask for it otherwise.
        number: From 1, oldest first.
        count: How many there are.
    """

    turn_id: int = 0
    number: int = 1
    count: int = 1


ALONE = Branch()


@dataclass(frozen=True)
class Detail:
    """One thing that an answer was made of.

    Attributes:
        title: What it is, e.g. ``Prompt``.
        value: Its figures, one line.
        hint: What the figures mean.
        parts: Names and sizes of what ``value`` is the sum of, in one unit; drawn as a bar.
        bars: Of how many how many, place by place; drawn as a row of bars.
        bars_text: The same as a sentence, for who does not see them.
    """

    title: str
    value: str
    hint: str
    parts: tuple[tuple[str, float], ...] = ()
    bars: tuple[tuple[int, int], ...] = ()
    bars_text: str = ""


@dataclass(frozen=True)
class UserRecord:
    """What a message of the user is built from.

    Attributes:
        sender: Who wrote it, e.g. ``You``.
        text: Any length.
        branch: Which of the questions in this place.
    """

    sender: str
    text: str
    branch: Branch = ALONE


@dataclass(frozen=True)
class AnswerRecord:
    """What an answer is built from.

    Attributes:
        model_name: Who answers.
        text: What was said so far, thoughts included.
        is_streaming: More is expected.
        figures_text: What it cost, one line.
        reason_text: Why it ended, or None.
        is_warning: The reason needs a person.
        branch: Which of the answers in this place.
        think_tok: Tokens of it that were thought; 0 where unknown.
        starts_in_thought: ``text`` begins inside a thought that the template opened.
        dropped_text: What the model had to forget to go on; empty for nothing.
        details: What it was made of; empty where that is not known.
        is_plain: ``text`` goes on with a text of any kind: it is shown as it came, without
            Markdown and without thoughts.
    """

    model_name: str
    text: str = ""
    is_streaming: bool = True
    figures_text: str = ""
    reason_text: str | None = None
    is_warning: bool = False
    branch: Branch = ALONE
    think_tok: int = 0
    starts_in_thought: bool = False
    dropped_text: str = ""
    details: tuple[Detail, ...] = ()
    is_plain: bool = False


Record = UserRecord | AnswerRecord


def user_name(*, is_completion: bool) -> str:
    """What the user's messages are headed by: a base model continues a text."""
    return "Text" if is_completion else "You"
