"""What goes into the next step: a token of every generating stream, drafts, then prompts.

Decides by numbers alone; must not know the engine. One step is one ``llama_decode``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine_bridge.child.pace import Pace
from engine_bridge.child.stream import Stream

# Tokens of every answer that a pool should have room for before it takes another prompt in.
_ANSWER_TOK = 32


@dataclass(frozen=True)
class Limits:
    """What one step may hold.

    Attributes:
        batch_tok: Tokens.
        ubatch_tok: Tokens computed at once.
        outputs_max: Logit rows.
        chunk_tok: Prompt tokens while others decode, None to follow the measured speed.
    """

    batch_tok: int
    ubatch_tok: int
    outputs_max: int
    chunk_tok: int | None


@dataclass(slots=True)
class Share:
    """A stream's part of a step.

    Attributes:
        stream: Whose.
        tokens: Tokens computed, drafts included.
        draft_tok: Drafts among them, at the end.
        rows: Logit rows wanted, those of the last tokens: 0 inside a prompt, 1, or 1 + drafts.
    """

    stream: Stream
    tokens: int
    draft_tok: int = 0
    rows: int = 1


def drafts_allowed(stream: Stream, limits: Limits, streams: int) -> int:
    """Most tokens to draft for ``stream``; 0 where none may be.

    As llama-server bounds them: two cells of the slot and the last token of the limit stay free.
    An equal share of the output rows and of the batch is left for every stream.
    """
    slot = stream.slot
    room = slot.cap_tok - slot.cached - 2
    share = min(limits.outputs_max, limits.batch_tok) // streams - 1
    return max(0, min(room, stream.remaining_tok - 1, share))


def share_out(streams: Sequence[Stream], limits: Limits, pace: Pace, room_tok: int) -> list[Share]:
    """Plan a step.

    Args:
        streams: Running streams in the order they started, their drafts already made.
        limits: What a step may hold.
        pace: Measured speed.
        room_tok: Free cells in the pool; at least one for every generating stream.

    Returns:
        Shares in batch order; empty if there is room for none.
    """
    shares: list[Share] = []
    generating = [stream for stream in streams if stream.is_generating]
    left_tok = min(limits.batch_tok, room_tok)
    left_rows = limits.outputs_max
    spare = min(left_tok, left_rows) - len(generating)
    for stream in generating:
        drafts = max(0, min(stream.draft_tok, spare))
        spare -= drafts
        shares.append(Share(stream, 1 + drafts, drafts, 1 + drafts))
        left_tok -= 1 + drafts
        left_rows -= 1 + drafts
    chunk = _chunk(limits, pace, others_decode=bool(generating))
    for stream in streams:
        if left_tok <= 0 or chunk <= 0:
            break
        if stream.is_generating or (shares and not _fits_whole(stream, len(shares), room_tok)):
            continue
        tokens = min(stream.slot.pending, left_tok, chunk)
        ends = tokens == stream.slot.pending
        rows = 1 if ends and stream.remaining_tok > 0 else 0
        if rows > left_rows:
            tokens, rows = tokens - 1, 0  # its last token waits for a free row
            if tokens == 0:
                continue
        shares.append(Share(stream, tokens, 0, rows))
        left_tok -= tokens
        left_rows -= rows
        chunk -= tokens
    return shares


def _fits_whole(stream: Stream, others: int, room_tok: int) -> bool:
    """Whether the rest of a prompt and the beginnings of all answers have room in the pool.

    Reading half a prompt into a pool that others are filling would only take their room away.
    """
    return stream.slot.pending + (others + 1) * _ANSWER_TOK <= room_tok


def _chunk(limits: Limits, pace: Pace, *, others_decode: bool) -> int:
    if others_decode and limits.chunk_tok is not None:
        return limits.chunk_tok
    return pace.chunk_tok(
        others_decode=others_decode, batch_tok=limits.batch_tok, ubatch_tok=limits.ubatch_tok
    )
