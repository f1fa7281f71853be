"""Where messages of the user begin in a prompt, so that an edited one can go back to its beginning.

What a chat template writes before such a message is found by rendering two small conversations,
and in a prompt by its tokens. Sources: ``detect_user_start_marker`` in
common/chat-diff-analyzer.cpp and ``common_chat_msg_delimiters`` in common/chat.cpp. Must not know
slots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.protocol import ChatMessage

_ANSWER, _QUESTION = "Forty-two oranges", "Sixteen lemons"
_BEGUN = (ChatMessage("user", "Seven apples"), ChatMessage("assistant", _ANSWER))
_GONE_ON = (*_BEGUN, ChatMessage("user", _QUESTION))


def opening_of(render: Callable[[Sequence[ChatMessage]], str]) -> str:
    """What a template writes between the end of an answer and the words of the user.

    Args:
        render: Renders a conversation with no answer opened behind it; may raise.

    Returns:
        Without white space around it, which may melt into what stands beside it; empty where the
        template does not say it in a way that can be told.
    """
    begun, gone_on = (_behind(_ANSWER, render(messages)) for messages in (_BEGUN, _GONE_ON))
    if begun is None or gone_on is None or not gone_on.startswith(begun):
        return ""
    opening, found, _ = gone_on[len(begun) :].partition(_QUESTION)
    return opening.strip() if found else ""


def starts_of(prompt: NDArray[np.int32], opening: Sequence[int]) -> tuple[int, ...]:
    """Tokens in front of each message of the user.

    Args:
        prompt: (tokens,) int32.
        opening: Tokens of ``opening_of``; none finds none.
    """
    if not opening or len(prompt) < len(opening):
        return ()
    windows = np.lib.stride_tricks.sliding_window_view(prompt, len(opening))
    return tuple(np.flatnonzero((windows == np.asarray(opening, np.int32)).all(axis=1)).tolist())


def _behind(word: str, text: str) -> str | None:
    _, found, rest = text.partition(word)
    return rest if found else None
