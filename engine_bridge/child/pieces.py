"""Bytes of tokens, each looked up once."""

from __future__ import annotations

from engine_bridge.child.llama import Model
from engine_bridge.child.sampler_chain import NOTHING_FITS
from engine_bridge.thoughts import MARK_TEXTS


class Pieces(dict[int, bytes | None]):
    """Bytes of each token that occurred; None for what ends a generation."""

    def __init__(self, model: Model) -> None:
        """Nothing looked up yet."""
        super().__init__({NOTHING_FITS: None})
        self._model = model

    def __missing__(self, token: int) -> bytes | None:
        """Look a token up once."""
        piece = None if token in self._model.eog else self._piece(token)
        self[token] = piece
        return piece

    def _piece(self, token: int) -> bytes:
        piece = self._model.piece(token)
        # A control token gives no text; without its marks a thought would run into the answer.
        if not piece and self._model.text_of(token) in MARK_TEXTS:
            return self._model.piece(token, special=True)
        return piece
