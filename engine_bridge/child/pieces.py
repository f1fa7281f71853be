"""Bytes of tokens, each looked up once."""

from __future__ import annotations

from engine_bridge.child.llama import Model


class Pieces(dict[int, bytes | None]):
    """Bytes of each token that occurred; None for end-of-generation tokens."""

    def __init__(self, model: Model) -> None:
        """Nothing looked up yet."""
        super().__init__()
        self._model = model

    def __missing__(self, token: int) -> bytes | None:
        """Look a token up once."""
        piece = None if token in self._model.eog else self._model.piece(token)
        self[token] = piece
        return piece
