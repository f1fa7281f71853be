"""What a step brought, handed to the streams: their next tokens, drafts that held, their ends.

Knows tokens, slots and samplers; must not know how a step is put together or computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.context_shift import FullSlots
from engine_bridge.child.drafting import Drafting
from engine_bridge.child.llama import Context
from engine_bridge.child.pieces import Pieces
from engine_bridge.child.scheduler import Share
from engine_bridge.child.stream import Stream
from engine_bridge.protocol import Event

# Text goes to the window at most this often, less often for many streams; a first token at once.
_FLUSH_NS, _FLUSH_STREAM_NS = 16_000_000, 6_000_000


class Delivery:
    """Hands tokens out.

    Attributes:
        context: Where the steps are computed.
        full_slots: Meets streams whose slot is full.
        pause_ns: How long the next text of a stream waits.
        pieces: Bytes of tokens.

    Args:
        context: See above.
        drafting: Is told what became of its drafts.
        emit: Takes events.
        finish: Ends a stream whose ``finish`` is set.
    """

    def __init__(
        self,
        context: Context,
        drafting: Drafting,
        emit: Callable[[Event], None],
        finish: Callable[[Stream], None],
    ) -> None:
        """Nothing to hand out yet."""
        self.context = context
        self.full_slots = FullSlots(context, emit, drafting.shifted)
        self.pause_ns = _FLUSH_NS
        self.pieces = Pieces(context.model)
        self._drafting = drafting
        self._emit = emit
        self._finish = finish

    def adopt(self, context: Context) -> None:
        """Go on with another context of the same model."""
        self.context = context
        self.full_slots = FullSlots(context, self._emit, self._drafting.shifted)

    def note_streams(self, streams: int) -> None:
        """So many run from now on."""
        self.pause_ns = max(_FLUSH_NS, streams * _FLUSH_STREAM_NS)

    def likeliest(
        self, shares: Sequence[Share], logits: NDArray[np.float32], rows: int
    ) -> list[int]:
        """The likeliest token of every row; those of streams with a chain mean nothing.

        Args:
            shares: In batch order.
            logits: (rows or more, vocab); rows of biased streams may be changed.
            rows: How many there are.
        """
        best: list[int] = logits[:rows].argmax(axis=1).tolist()
        row = 0
        for share in shares:
            bias = share.stream.bias
            if bias is not None and share.stream.chain is None:
                for biased in range(row, row + share.rows):
                    best[biased] = bias.likeliest(logits[biased], best[biased])
            row += share.rows
        return best

    def hand_out(self, shares: Sequence[Share], best: Sequence[int], end_ns: int) -> int:
        """Hand every share its tokens.

        Args:
            shares: In batch order.
            best: The likeliest token of every row.
            end_ns: When the step ended.

        Returns:
            How many were delivered.
        """
        pieces = self.pieces
        at = row = total = 0
        for share in shares:
            stream, slot, rows = share.stream, share.stream.slot, share.rows
            if rows == 1:
                chain = stream.chain
                last = at + share.tokens - 1
                if stream.new_tok == 0:
                    self._drafting.begin(stream)
                token = best[row] if chain is None else chain.sample(self.context, last)
                slot.cached += share.tokens
                slot.tokens[slot.cached] = token
                slot.known = slot.cached + 1
                stream.accept_one(pieces[token], end_ns)
                total += 1
            elif rows:
                brought = self._drawn(share, best[row : row + rows], at)
                self._keep(share, brought)
                total += stream.accept(brought, pieces.__getitem__, end_ns)
            else:
                slot.cached += share.tokens
                if slot.known == slot.cached:  # no token was wanted: the prompt is read
                    stream.finish = ("token_limit", "")
            at += share.tokens
            row += rows
            if slot.known >= slot.cap_tok and stream.finish is None:
                self.full_slots.meet(stream)
            if stream.finish is not None:
                self._finish(stream)
            elif end_ns >= stream.due_ns:
                self.send(stream, end_ns)
        return total

    def send(self, stream: Stream, now_ns: int) -> None:
        """Send what of ``stream`` was not sent yet."""
        delivered = stream.delivered(now_ns, self.pause_ns)
        if delivered is not None:
            self._emit(delivered)

    def send_each(
        self, stream: Stream, text: bytes, ends_ns: tuple[int, ...], step_tok: tuple[int, ...]
    ) -> None:
        """Send what steps brought that are not booked yet; see ``Stream.send_each``."""
        due_ns = ends_ns[-1] + self.pause_ns
        self._emit(stream.send_each(text, ends_ns, step_tok, due_ns))

    def _drawn(self, share: Share, best: Sequence[int], first: int) -> list[int]:
        """Tokens drawn for a draft's rows, up to the first that contradicts it."""
        drafts, chain, slot = share.draft_tok, share.stream.chain, share.stream.slot
        draft: list[int] = slot.tokens[slot.known : slot.known + drafts].tolist()
        brought: list[int] = []
        for number in range(drafts + 1):
            token = best[number] if chain is None else chain.sample(self.context, first + number)
            brought.append(token)
            if number < drafts and (draft[number] != token or self.pieces[token] is None):
                break
        return brought

    def _keep(self, share: Share, brought: list[int]) -> None:
        """Book the cells that hold: the token before the draft, and what was confirmed of it."""
        slot, accepted = share.stream.slot, len(brought) - 1
        slot.cached += share.tokens - share.draft_tok + accepted
        slot.tokens[slot.cached] = brought[-1]
        slot.known = slot.cached + 1
        share.stream.count_draft(share.draft_tok, accepted)
        self._drafting.accept(share.stream, accepted)
        if accepted < share.draft_tok:
            self._drafting.reject(share.stream, slot.cached)
