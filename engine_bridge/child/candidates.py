"""The scores of one place in a text, as llama.cpp's samplers take them; part of the facade."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import LIB, Context

# llama_token_data in include/llama.h.
_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Candidates:
    """Every token of a vocabulary with its score; samplers sort, cut and pick.

    Attributes:
        tokens: (vocab,) records of id, logit and p.
    """

    def __init__(self, vocab: int) -> None:
        """Make room for ``vocab`` tokens."""
        self.tokens = np.zeros(vocab, _TOKEN_DATA)
        self._ids = np.arange(vocab, dtype=np.int32)
        self._array = LIB.llama_token_data_array()

    def fill(self, context: Context, index: int) -> None:
        """Take the logits of batch token ``index``, all tokens in order."""
        row = LIB.llama_get_logits_ith(context.handle, index)
        self.tokens["id"] = self._ids
        self.tokens["logit"] = np.ctypeslib.as_array(row, shape=self._ids.shape)

    def fill_one(self, token: int) -> None:
        """Hold nothing but ``token``, as likely as can be."""
        self.tokens[0] = (token, 1.0, 0.0)

    def apply(self, sampler: Any, count: int | None = None) -> None:  # noqa: ANN401
        """Let ``sampler`` work on the first ``count`` tokens, on all by default."""
        array = self._array
        array.data = ctypes.cast(self.tokens.ctypes.data, LIB.llama_token_data_p)
        array.size = len(self.tokens) if count is None else count
        array.selected, array.sorted = -1, False
        LIB.llama_sampler_apply(sampler, ctypes.byref(array))

    @property
    def selected(self) -> int:
        """The token that the last sampler picked; -1 where it picked none."""
        array = self._array
        return int(array.data[array.selected].id) if array.selected >= 0 else -1

    def likeliest(self, forbidden: NDArray[np.int64] | None) -> int:
        """The token with the best score, those in order that are ``forbidden`` left out.

        Returns:
            -1 where every score is minus infinity.
        """
        scores = self.tokens["logit"]
        if forbidden is not None:
            scores[forbidden] = -np.inf
        best = int(scores.argmax())
        return best if scores[best] > -np.inf else -1
