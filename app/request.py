"""An answer on its way, and what is known of it when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from app.conversation import Conversation
from engine_bridge.metrics.turn_details import TurnDetails, turn_details
from engine_bridge.protocol import RequestFinished

NOT_RUNNING = "The engine was not running, so nothing was answered."
TurnEnd: TypeAlias = tuple[str, str, str, TurnDetails | None]
"""How an answer ended, as ``Conversation.finish`` takes it."""


@dataclass
class Request:
    """One answer on its way.

    Attributes:
        number: ``request_id`` of the protocol.
        conversation: Whose answer it is.
        sent_ns: When the user pressed Enter.
        is_continuing: The answer had begun before.
        thought_before_tok: Tokens of it that were thought before.
        end_before: How it had ended before, its figures and its note.
        first_token_ns: When the engine had the first token, 0 before.
        arrived_ns: When its text arrived here, 0 before.
        painted_ns: When it was painted, 0 before.
        steps: Steps of the engine that delivered tokens of it.
        is_alone: No other answer was under way at any time of this one.
    """

    number: int
    conversation: Conversation
    sent_ns: int
    is_continuing: bool = False
    thought_before_tok: int = 0
    end_before: TurnEnd = ("failed", "", NOT_RUNNING, None)
    first_token_ns: int = 0
    arrived_ns: int = 0
    painted_ns: int = 0
    steps: int = 0
    is_alone: bool = True

    def details(self, event: RequestFinished) -> TurnDetails:
        """What the answer was made of, now that it is over."""
        return turn_details(
            event.timing,
            event.recompute_reason,
            steps=self.steps,
            sent_ns=self.sent_ns,
            arrived_ns=self.arrived_ns,
            painted_ns=self.painted_ns,
        )
