"""One conversation as the user sees it: what was said, what is being said.

Pure. Outlives the engine: whatever happens there, the words here stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine_bridge.protocol import ChatMessage

_TITLE_CHARACTERS = 28
_TITLE_SEARCH = 400


@dataclass
class Turn:
    """One message.

    Attributes:
        role: Who speaks.
        text: What was said so far.
        end: Why an answer ended, as the engine names it; ``open`` while it is being written.
    """

    role: Literal["user", "assistant"]
    text: str
    end: str = ""


@dataclass
class Conversation:
    """A conversation and its unfinished answer, if there is one.

    Attributes:
        id: Unique in this desk.
        number: For the name of a conversation in which nothing was said yet.
        system_prompt: Sent first, empty for none.
        turns: What was said, oldest first.
    """

    id: str
    number: int
    system_prompt: str = ""
    turns: list[Turn] = field(default_factory=list)

    @property
    def title(self) -> str:
        """First words of the first message, or a number."""
        # A pasted book is not searched through for the sake of its first words.
        first = next((turn.text[:_TITLE_SEARCH].strip() for turn in self.turns if turn.text), "")
        words = " ".join(first.split())
        if not words:
            return f"Chat {self.number}"
        return words if len(words) <= _TITLE_CHARACTERS else words[: _TITLE_CHARACTERS - 1] + "…"

    @property
    def is_answering(self) -> bool:
        """Whether an answer is being written."""
        return bool(self.turns) and self.turns[-1].end == "open"

    @property
    def can_continue(self) -> bool:
        """Whether the last answer was cut short and could be gone on with."""
        return bool(self.turns) and self.turns[-1].end in ("token_limit", "cancelled", "failed")

    def ask(self, text: str) -> None:
        """The user says ``text``; an empty answer to it is opened."""
        self.turns.append(Turn("user", text))
        self.open_answer()

    def open_answer(self) -> None:
        """Begin an answer, or take up the last one where it was cut short."""
        if self.turns and self.turns[-1].role == "assistant":
            self.turns[-1].end = "open"
        else:
            self.turns.append(Turn("assistant", "", "open"))

    def drop_empty_answer(self) -> None:
        """Take back an answer in which nothing was said, so that a retry starts clean."""
        if self.turns and self.turns[-1].role == "assistant" and not self.turns[-1].text:
            self.turns.pop()

    def take_back(self) -> str:
        """Take the last question and its empty answer out, as if it had not been asked.

        Returns:
            The question; empty where the last turns are something else.
        """
        turns = self.turns
        if len(turns) < 2 or turns[-2].role != "user" or turns[-1].text:
            return ""
        question = turns[-2].text
        del turns[-2:]
        return question

    def append(self, text: str) -> None:
        """The answer under way goes on with ``text``."""
        if self.is_answering:
            self.turns[-1].text += text

    def finish(self, reason: str) -> None:
        """The answer under way ended for ``reason``; what it said so far stays."""
        if self.is_answering:
            self.turns[-1].end = reason

    def to_messages(self) -> tuple[ChatMessage, ...]:
        """What the engine has to be told, the unfinished answer included if it has text.

        Roles alternate: a question that got no answer is told together with the next one.
        """
        said = [ChatMessage("system", self.system_prompt)] if self.system_prompt.strip() else []
        for turn in self.turns:
            if not turn.text:
                continue
            if said and said[-1].role == turn.role:
                # Two questions in a row, the first of which got no answer: many templates refuse.
                said[-1] = ChatMessage(turn.role, f"{said[-1].content}\n\n{turn.text}")
            else:
                said.append(ChatMessage(turn.role, turn.text))
        return tuple(said)

    def to_completion(self) -> tuple[ChatMessage, ...]:
        """The whole text so far as one message, for a base model that only continues text."""
        return (ChatMessage("user", "".join(turn.text for turn in self.turns)),)
