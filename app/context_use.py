"""How full a conversation's context is, what a draft would add, and what to say about it. Pure.

The engine's own count is exact; what was not sent yet is estimated from the bytes of the text and
from how many tokens such text was in this conversation before.
"""

from __future__ import annotations

from dataclasses import dataclass

# Until something was measured: between English prose (4.5) and code or Chinese (3).
_BYTES_PER_TOK = 3.6
_SAMPLE_CHARS = 64 * 1024
_MEASURED_TOK = 32
# A template puts a few tokens around every message.
_AROUND_TOK = 8
_HINT_SHARE = 0.75
_WARNING_SHARE = 0.9
# Below this a draft is not worth a word.
_DRAFT_TOK = 100


def text_bytes(text: str) -> int:
    """Bytes of ``text`` in UTF-8, estimated from its beginning where it is long."""
    if text.isascii():
        return len(text)
    sample = text[:_SAMPLE_CHARS]
    return len(sample.encode(errors="replace")) * len(text) // len(sample)


class TokenRate:
    """Bytes of this conversation's text that made a token."""

    def __init__(self) -> None:
        """Nothing measured yet."""
        self._bytes = 0
        self._tok = 0

    @property
    def is_measured(self) -> bool:
        """Whether enough was counted to tell."""
        return self._tok >= _MEASURED_TOK

    def note(self, size_bytes: int, tok: int) -> None:
        """So much text was so many tokens."""
        if size_bytes > 0 and tok > 0:
            self._bytes += size_bytes
            self._tok += tok

    def tok(self, size_bytes: int, messages: int = 1) -> int:
        """About how many tokens so much text in so many messages is; 0 for none."""
        if size_bytes <= 0:
            return 0
        rate = self._bytes / self._tok if self.is_measured else _BYTES_PER_TOK
        return round(size_bytes / rate) + messages * _AROUND_TOK


@dataclass(frozen=True)
class ContextUse:
    """Tokens of one conversation.

    Attributes:
        used_tok: In the slot, or estimated.
        cap_tok: What a slot holds; 0 while unknown.
        draft_tok: What is being written, about.
        is_estimate: ``used_tok`` was not counted by the engine.
        shifts: A full slot drops earlier tokens and goes on.
    """

    used_tok: int
    cap_tok: int
    draft_tok: int = 0
    is_estimate: bool = False
    shifts: bool = False

    @property
    def left_tok(self) -> int:
        """Tokens that are left."""
        return max(0, self.cap_tok - self.used_tok)

    def line(self) -> str:
        """One line for under the composer; what is not sent yet counts as if it were."""
        about = "≈ " if self.is_estimate or self.draft_tok else ""
        total_tok = self.used_tok + self.draft_tok
        left_tok = max(0, self.cap_tok - total_tok)
        text = f"context {about}{total_tok:,} of {self.cap_tok:,} · {left_tok:,} left"
        if self.draft_tok >= _DRAFT_TOK:
            text += f" · your text ≈ {self.draft_tok:,}"
        return text

    def notice(self) -> tuple[str, bool]:
        """What to say before the context is full, and whether that needs a person; or nothing."""
        if self.cap_tok <= 0:
            return "", False
        if self.draft_tok >= self.left_tok and self.draft_tok >= _DRAFT_TOK:
            return (
                f"This message is ≈ {self.draft_tok:,} tokens and {self.left_tok:,} are left: it "
                "will not fit. Shorten it, raise the context, or start a new chat.",
                True,
            )
        about = "about " if self.is_estimate else ""
        if self.left_tok == 0 and not self.is_estimate:
            return (
                f"This conversation has {self.used_tok:,} tokens and a slot holds "
                f"{self.cap_tok:,}: another message will not fit. Raise the context or start a new "
                "chat.",
                True,
            )
        if self.used_tok >= _WARNING_SHARE * self.cap_tok:
            return (
                f"The context is nearly full, {about}{self.left_tok:,} tokens are left. When it is "
                f"full {self._at_the_end()}: start a new chat or raise the context.",
                True,
            )
        if self.used_tok >= _HINT_SHARE * self.cap_tok:
            end = "an answer goes on without its older half" if self.shifts else "an answer stops"
            return (
                f"{self.used_tok / self.cap_tok:.0%} of the context is used. When it is full "
                f"{end}; a new chat or a larger context gives room.",
                False,
            )
        return "", False

    def _at_the_end(self) -> str:
        if self.shifts:
            return (
                "the answer goes on, the model no longer sees the older half, and the message "
                "after it will not fit"
            )
        return "the answer stops there"
