"""One conversation as the user sees it: what was said, is being said, and was said instead.

Pure. Outlives the engine: whatever happens there, the words here stay. Turns form a tree: asking
again or putting a question otherwise begins a branch beside the old one; nothing is thrown away.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from engine_bridge.metrics.turn_details import TurnDetails
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
        id: Unique in its conversation, ascending in the order of saying.
        parent: Id of the turn before it; 0 for a first one.
        made_s: When it began, seconds since 1970.
        model: Name of the model that answers; empty for the user's turns.
        figures: What the answer cost, in one line; empty while it is not over.
        note: Why the answer ended, in words for the reader; empty where that needs none.
        think_tok: Tokens of the answer that were thought, not said.
        starts_in_thought: The template itself opened the thought, so ``text`` begins inside it.
        dropped_tok: Earlier tokens that the model no longer saw when it ended the answer.
        details: What the answer was made of; None where that is not known.
        is_completion: A base model went on with the text: plain text, and no Markdown.
    """

    role: Literal["user", "assistant"]
    text: str
    end: str = ""
    id: int = 0
    parent: int = 0
    made_s: float = 0.0
    model: str = ""
    figures: str = ""
    note: str = ""
    think_tok: int = 0
    starts_in_thought: bool = False
    dropped_tok: int = 0
    details: TurnDetails | None = None
    is_completion: bool = False


@dataclass
class Conversation:
    """A conversation and its unfinished answer, if there is one.

    Attributes:
        id: Unique, also as the name of a file.
        number: For the name of a conversation in which nothing was said yet.
        system_prompt: Sent first, empty for none.
        name: Title given by the user, empty to take the first words.
        tree: Every turn ever said by id, oldest first; ``turns`` is the branch that is shown.
        tip: Id of the last turn of the branch that is shown; 0 before the first.
        next_id: Id of the next turn; never used twice, not even after a turn was taken back.
        clock_s: Wall clock, for ``Turn.made_s``.
        left_tip: Tip of the branch that the newest one was begun from; 0 where none was left.
    """

    id: str
    number: int
    system_prompt: str = ""
    name: str = ""
    tree: dict[int, Turn] = field(default_factory=dict)
    tip: int = 0
    next_id: int = 1
    clock_s: Callable[[], float] = field(default=time.time, repr=False, compare=False)
    left_tip: int = field(default=0, repr=False, compare=False)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The branch that is shown, oldest first."""
        path = []
        at = self.tip
        while at:
            turn = self.tree[at]
            path.append(turn)
            at = turn.parent
        return tuple(reversed(path))

    @property
    def last(self) -> Turn | None:
        """The last turn of the branch that is shown; None before the first."""
        return self.tree.get(self.tip)

    @property
    def title(self) -> str:
        """The name given to it, else the first words of the first message, or a number."""
        if self.name:
            return self.name
        # A pasted book is not searched through for the sake of its first words.
        first = next((turn.text[:_TITLE_SEARCH].strip() for turn in self.turns if turn.text), "")
        words = " ".join(first.split())
        if not words:
            return f"Chat {self.number}"
        return words if len(words) <= _TITLE_CHARACTERS else words[: _TITLE_CHARACTERS - 1] + "…"

    @property
    def is_answering(self) -> bool:
        """Whether an answer is being written."""
        return self.last is not None and self.last.end == "open"

    @property
    def can_continue(self) -> bool:
        """Whether the last answer was cut short and could be gone on with."""
        return self.last is not None and self.last.end in ("token_limit", "cancelled", "failed")

    # --- What is said -------------------------------------------------------------------

    def ask(self, text: str, model: str = "") -> None:
        """The user says ``text``; an empty answer of ``model`` to it is opened."""
        self.left_tip = 0
        self._say("user", text)
        self.open_answer(model)

    def open_answer(self, model: str = "") -> None:
        """Begin an answer of ``model``, or take up the last one where it was cut short."""
        last = self.last
        if last is not None and last.role == "assistant":
            last.end = "open"
            last.figures, last.note, last.details = "", "", None
            last.model = model or last.model
        else:
            self._say("assistant", "", end="open", model=model)

    def append(self, text: str) -> None:
        """The answer under way goes on with ``text``."""
        if self.last is not None and self.is_answering:
            self.last.text += text

    def finish(
        self, reason: str, figures: str = "", note: str = "", details: TurnDetails | None = None
    ) -> None:
        """The answer under way ended for ``reason``; what it said so far stays."""
        last = self.last
        if last is not None and self.is_answering:
            last.end, last.figures, last.note, last.details = reason, figures, note, details

    # --- Branches -----------------------------------------------------------------------

    def siblings(self, turn_id: int) -> tuple[int, ...]:
        """Ids of the turns that answer to the same turn as this one, itself included, oldest first.

        Raises:
            KeyError: If there is no such turn.
        """
        turn = self.tree[turn_id]
        return tuple(
            other.id
            for other in self.tree.values()
            if other.parent == turn.parent and other.role == turn.role
        )

    def choose(self, turn_id: int) -> None:
        """Show the branch that goes through ``turn_id``, to its newest end.

        Raises:
            KeyError: If there is no such turn.
            ValueError: While an answer is being written.
        """
        self._must_be_quiet()
        self.tip = self.tree[turn_id].id
        self._descend()

    def answer_again(self, turn_id: int, model: str = "") -> None:
        """Open another answer, of ``model``, beside ``turn_id``; the old one stays as a branch.

        Raises:
            KeyError: If there is no such turn.
            ValueError: If it is no answer, or while one is being written.
        """
        self._must_be_quiet()
        turn = self.tree[turn_id]
        if turn.role != "assistant":
            raise ValueError(f"Turn {turn_id} is a question; only an answer can be given again.")
        self.left_tip, self.tip = self.tip, turn.parent
        self._say("assistant", "", end="open", model=model)

    def ask_instead(self, turn_id: int, text: str, model: str = "") -> None:
        """Say ``text`` in the place of the question ``turn_id``; the old branch stays.

        Raises:
            KeyError: If there is no such turn.
            ValueError: If it is no question, or while an answer is being written.
        """
        self._must_be_quiet()
        turn = self.tree[turn_id]
        if turn.role != "user":
            raise ValueError(f"Turn {turn_id} is an answer; only a question can be put otherwise.")
        left, self.tip = self.tip, turn.parent
        self.ask(text, model)
        self.left_tip = left

    def drop_empty_answer(self) -> None:
        """Take back an answer in which nothing was said, so that a retry starts clean."""
        last = self.last
        if last is not None and last.role == "assistant" and not last.text:
            self._forget(last)

    def take_back(self) -> str:
        """Take the last question and its empty answer out, as if it had not been asked.

        The branch that was left for it is shown again. A question that has other answers stays.

        Returns:
            The question if it went; empty where it stays, or the last turns are something else.
        """
        answer = self.last
        question = self.tree.get(answer.parent) if answer is not None else None
        if answer is None or answer.text or question is None or question.role != "user":
            return ""
        self._forget(answer)
        if any(turn.parent == question.id for turn in self.tree.values()):
            self._return()
            return ""
        self._forget(question)
        self._return()
        return question.text

    # --- For the engine -----------------------------------------------------------------

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

    # --- Inside -------------------------------------------------------------------------

    def _say(
        self, role: Literal["user", "assistant"], text: str, end: str = "", model: str = ""
    ) -> None:
        number, self.next_id = self.next_id, self.next_id + 1
        text = sayable(text)
        self.tree[number] = Turn(role, text, end, number, self.tip, self.clock_s(), model)
        self.tip = number

    def _return(self) -> None:
        """Show the branch that was left, else the newest one from here on."""
        if self.left_tip in self.tree:
            self.tip = self.left_tip
        else:
            self._descend()
        self.left_tip = 0

    def _descend(self) -> None:
        """Go on from the tip to the newest end behind it."""
        # One pass: a turn is younger than its parent, so the last child seen is the newest.
        newest = {turn.parent: turn.id for turn in self.tree.values()}
        while self.tip in newest:
            self.tip = newest[self.tip]

    def _forget(self, turn: Turn) -> None:
        """Take a turn out; the branch beside it, if there is one, is not shown by itself."""
        del self.tree[turn.id]
        self.tip = turn.parent

    def _must_be_quiet(self) -> None:
        if self.is_answering:
            raise ValueError("An answer is being written; stop it or wait for its end first.")


def sayable(text: str) -> str:
    """``text`` as UTF-8 can carry it: U+FFFD stands for half of a surrogate pair.

    One such half, kept, would make every later request of its conversation impossible to send.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
