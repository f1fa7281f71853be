"""What a trial of a chat template asks of a model, be it loaded or a file that nobody loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine_bridge.child.special_text import Fragment


class TrialSource(Protocol):
    """What a trial asks.

    Attributes:
        bos: Text of the BOS token, or the empty string.
        eos: Text of the EOS token, or the empty string.
        bos_token: Its number, negative for none.
        adds_bos: Whether the tokeniser puts it in front of a text.
        special_texts: Texts of the control tokens.
        special_tokens: Their numbers.
        counts_tokens: Whether the length of ``tokens`` is that of the prompt.
    """

    bos: str
    eos: str
    bos_token: int
    adds_bos: bool
    special_texts: tuple[str, ...]
    special_tokens: frozenset[int]
    counts_tokens: bool

    def tokens(self, fragments: Sequence[Fragment]) -> list[int]:
        """Tokens of a prompt.

        Raises:
            TemplateError: If the model is gone.
        """
        ...
