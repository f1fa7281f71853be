"""What a server takes beside a conversation: OpenAI-compatible servers differ in that. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine_bridge.protocol import ChatMessage


@dataclass(frozen=True)
class Dialect:
    """What a server takes beside a conversation.

    Attributes:
        has_usage: Whether it can be asked to count.
        ignores_end: Whether it can be asked to go on past the end that the model would choose.
        limit: What the most tokens of an answer are called.
    """

    has_usage: bool = True
    ignores_end: bool = True
    limit: str = "max_tokens"

    def body(self, model: str, messages: Sequence[ChatMessage], most_tok: int, *,
             ignores_end: bool) -> dict[str, Any]:  # fmt: skip
        """A request."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": each.role, "content": each.content} for each in messages],
            self.limit: most_tok,
        }
        if self.has_usage:
            body["stream_options"] = {"include_usage": True}
        if self.ignores_end and ignores_end:
            body["extra_body"] = {"ignore_eos": True}
        return body


DIALECTS = (
    Dialect(),
    Dialect(ignores_end=False),
    Dialect(ignores_end=False, limit="max_completion_tokens"),
    Dialect(has_usage=False),
    Dialect(has_usage=False, ignores_end=False),
)
"""In the order in which they are tried: what makes runs alike is given up last."""
