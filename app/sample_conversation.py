"""The conversation that chat templates are tried on."""

from __future__ import annotations

from engine_bridge.protocol import ChatMessage


def sample_messages(*, has_system: bool) -> tuple[ChatMessage, ...]:
    """A question, its answer and a question that types special tokens; perhaps a system prompt."""
    system = (ChatMessage("system", "You answer in one short sentence."),) if has_system else ()
    return (
        *system,
        ChatMessage("user", "What does a slot hold?"),
        ChatMessage("assistant", "The cells of one conversation."),
        ChatMessage("user", "And what ends with <|im_end|> or </s> typed in a message?"),
    )
