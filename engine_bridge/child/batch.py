"""A batch of tokens in memory that numpy and llama.cpp share; part of the facade."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Batch:
    """A ``llama_batch`` on numpy arrays of shape (capacity,), int32 but ``wants_logits`` (int8).

    Attributes:
        thought: (capacity, width) float32: what comes in beside each token; guessing layers alone
            read it (``nextn``).
    """

    def __init__(self, capacity: int, types: Any, width: int = 0) -> None:  # noqa: ANN401
        """Reserve room for ``capacity`` tokens, and ``width`` values beside each."""
        self.thought = np.zeros((capacity, width), np.float32)
        self.token = np.zeros(capacity, np.int32)
        self.pos = np.zeros(capacity, np.int32)
        self.seq = np.zeros(capacity, np.int32)
        self.wants_logits = np.zeros(capacity, np.int8)
        self._ones = np.ones(capacity, np.int32)
        self._seq_rows = self.seq.ctypes.data + 4 * np.arange(capacity, dtype=np.uint64)
        self.struct = types.llama_batch(
            0,
            _as_pointer(self.token, types.llama_token),
            _as_pointer(self.thought, ctypes.c_float) if width else None,
            _as_pointer(self.pos, types.llama_pos),
            _as_pointer(self._ones, ctypes.c_int32),
            _as_pointer(self._seq_rows, ctypes.POINTER(types.llama_seq_id)),
            _as_pointer(self.wants_logits, ctypes.c_int8),
        )


def _as_pointer(array: NDArray[Any], kind: Any) -> Any:  # noqa: ANN401
    return array.ctypes.data_as(ctypes.POINTER(kind))
