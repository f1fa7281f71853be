"""The bytes of one token, read from llama.cpp's vocabulary; part of the facade."""

from __future__ import annotations

import ctypes
from typing import Any

_ROOM_BYTES = 256


class PieceReader:
    """Reads pieces. For one thread at a time.

    Its binding keeps the interpreter's lock: a call takes a microsecond, and letting go would hand
    the loop's turn to the thread that writes events, in the middle of a step's work.

    Args:
        lib: llama.cpp's raw calls.
        vocab: Handle of the vocabulary.
    """

    def __init__(self, lib: Any, vocab: Any) -> None:  # noqa: ANN401 - ctypes
        """Bind the function."""
        self._to_piece = ctypes.PyDLL(lib._lib._name)["llama_token_to_piece"]
        self._to_piece.argtypes = lib.llama_token_to_piece.argtypes
        self._to_piece.restype = ctypes.c_int32
        self._vocab = vocab
        self._buffer = ctypes.create_string_buffer(_ROOM_BYTES)

    def piece(self, token: int, *, special: bool) -> bytes:
        """Bytes that ``token`` adds to a text; special tokens add none unless ``special``."""
        size = self._to_piece(self._vocab, token, self._buffer, _ROOM_BYTES, 0, special)
        if size < 0:
            larger = ctypes.create_string_buffer(-size)
            size = self._to_piece(self._vocab, token, larger, -size, 0, special)
            return larger.raw[:size]
        return self._buffer.raw[:size]
