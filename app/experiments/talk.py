"""A script while it is played: what was said so far, and what is said next.

Pure; knows messages, not engines or times.
"""

from __future__ import annotations

from app.experiments.script import Script, Turn
from engine_bridge.protocol import ChatMessage, Generate


class Talk:
    """One conversation of one simulated user.

    Attributes:
        script: What is played.
        user: Who plays it, from 0.
        conversation_id: Its name at the engine.
        turn: Number of the turn that is asked next or is being answered, from 0.
    """

    def __init__(self, script: Script, user: int, conversation_id: str) -> None:
        """Begin before the first turn."""
        self.script = script
        self.user = user
        self.conversation_id = conversation_id
        self.turn = 0
        self._messages: list[ChatMessage] = []
        if script.system:
            self._messages.append(ChatMessage("system", script.system))

    @property
    def is_over(self) -> bool:
        """Whether every turn was answered."""
        return self.turn >= len(self.script.turns)

    @property
    def next_turn(self) -> Turn:
        """The turn that is asked next; there must be one."""
        return self.script.turns[self.turn]

    @property
    def left(self) -> int:
        """Turns behind the one that is asked."""
        return len(self.script.turns) - self.turn - 1

    def question(self, request_id: int, sent_ns: int) -> Generate:
        """The request of the next turn, with all that was said before it."""
        turn = self.next_turn
        self._messages.append(ChatMessage("user", turn.text))
        return Generate(
            request_id=request_id,
            conversation_id=self.conversation_id,
            messages=tuple(self._messages),
            ignore_eog=not self.script.ends_by_itself,
            max_new_tok=turn.new_tok,
            sent_ns=sent_ns,
        )

    def answered(self, text: str) -> None:
        """The turn has its answer; a recorded one takes the place of ``text``."""
        recorded = self.next_turn.recorded_answer
        answer = text if recorded is None else recorded
        self._messages.append(ChatMessage("assistant", answer))
        self.turn += 1
