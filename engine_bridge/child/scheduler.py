"""What goes into the next step: a token of every generating stream, drafts, then prompts.

Decides by numbers alone; must not know the engine. One step is one ``llama_decode``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from engine_bridge.child.pace import Pace
from engine_bridge.child.stream import Stream

# Tokens of every answer that a pool should have room for before it takes another prompt in.
_ANSWER_TOK = 32
# Who has its first token waits for those that came together with it while their prompts are short:
# so long on average for each, and so long in all.
_SHORT_S, _TOGETHER_S = 0.5, 5.0
# Prompts that came together are read in groups of a quarter of what is left, of whole prompts and
# no smaller than that: most first tokens come earlier, and the last one hardly later.
_GROUPS, _LEAST_GROUP_TOK = 4, 96
_BY_SLOT = attrgetter("slot.index")


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


def in_slot_order(streams: Iterable[Stream]) -> list[Stream]:
    """Streams by the number of their slot.

    Slots with caches of their own are computed together only where successive numbers follow each
    other in the batch (``split_equal`` in src/llama-batch.cpp). In the order in which they started,
    two streams of slots 1 and 0 read all weights twice a step, and take twice as long.
    """
    return sorted(streams, key=_BY_SLOT)


def drafts_allowed(stream: Stream, limits: Limits, streams: int) -> int:
    """Most tokens to draft for ``stream``; 0 where none may be.

    As llama-server bounds them: two cells of the slot and the last token of the limit stay free.
    An equal share of the output rows and of the batch is left for every stream. What is computed
    again brings one token, no draft behind it: states put back before it would never move on.
    """
    slot = stream.slot
    if slot.pending > 1:
        return 0
    room = slot.cap_tok - slot.cached - 2
    share = min(limits.outputs_max, limits.batch_tok) // streams - 1
    return max(0, min(room, stream.remaining_tok - 1, share))


def reads_together(
    generating: Sequence[Stream],
    reading: Sequence[Stream],
    limits: Limits,
    pace: Pace,
    room_tok: int,
    *,
    now_ns: int,
) -> bool:
    """Whether the next step should be for the prompts alone, since all came at once.

    Streams that have no more than their first token wait then. A step costs nearly the same for
    one stream as for several, so that whoever were to write beside the reading of many short
    prompts would end later than by waiting (ADR 21). Where somebody is further, or a prompt is
    long, nobody is kept waiting.

    Args:
        generating: Streams that want their next token.
        reading: Streams whose prompts are not read.
        limits: A chunk that the user has set is kept to.
        pace: Measured speed.
        room_tok: Free cells in the pool.
        now_ns: Now.
    """
    if limits.chunk_tok is not None or any(stream.new_tok > 1 for stream in generating):
        return False
    pending_tok = sum(stream.slot.pending for stream in reading)
    if pending_tok + (len(generating) + len(reading)) * _ANSWER_TOK > room_tok:
        return False
    left_s = pending_tok * pace.prompt_tok_s
    waited_ns = now_ns - min((stream.first_ns for stream in generating), default=now_ns)
    return left_s <= _SHORT_S * len(reading) and waited_ns / 1e9 + left_s <= _TOGETHER_S


def share_out(
    generating: Sequence[Stream],
    reading: Sequence[Stream],
    limits: Limits,
    pace: Pace,
    room_tok: int,
) -> list[Share]:
    """Plan a step.

    Args:
        generating: Streams that want their next token, as ``in_slot_order``; drafts made.
        reading: The other streams, in the order they started.
        limits: What a step may hold.
        pace: Measured speed.
        room_tok: Free cells in the pool; at least one for every generating stream.

    Returns:
        Shares in batch order, one for each generating stream first; empty where nobody has room.
    """
    left_tok = min(limits.batch_tok, room_tok)
    spare_tok, spare_rows = left_tok - len(generating), limits.outputs_max - len(generating)
    shares = []
    for stream in generating:
        if stream.slot.pending > 1:
            again = min(stream.slot.pending - 1, spare_tok)
            spare_tok -= again
            shares.append(Share(stream, 1 + again, 0, int(again == stream.slot.pending - 1)))
            continue
        drafts = stream.draft_tok and max(0, min(stream.draft_tok, spare_tok, spare_rows))
        spare_tok, spare_rows = spare_tok - drafts, spare_rows - drafts
        shares.append(Share(stream, 1 + drafts, drafts, 1 + drafts))
    if reading:
        left_tok -= sum(share.tokens for share in shares)
        left_rows = limits.outputs_max - sum(share.rows for share in shares)
        chunk = min(left_tok, _chunk(limits, pace, others_decode=bool(generating)))
        least_left = 0 if generating else chunk - _group_tok(reading)
        for stream in reading:
            if shares and chunk <= least_left:
                break
            share = _prompt_share(stream, chunk, left_rows)
            if share is None or (shares and not _fits_whole(stream, len(shares), room_tok)):
                continue
            shares.append(share)
            chunk -= share.tokens
            left_rows -= share.rows
    return shares


def _group_tok(reading: Sequence[Stream]) -> int:
    """Tokens that are enough for a step of prompts alone.

    Where a token of a prompt costs the same in any step (processors, from a hundred on), prompts
    read one after the other have their first tokens in little more than half the time on average;
    smaller steps cost all of them more (ADR 21).
    """
    return max(_LEAST_GROUP_TOK, sum(stream.slot.pending for stream in reading) // _GROUPS)


def _prompt_share(stream: Stream, most_tok: int, left_rows: int) -> Share | None:
    """The next tokens of a prompt; None where not one may be computed."""
    slot = stream.slot
    tokens = min(slot.pending, most_tok)
    if slot.cached < slot.stop_tok < slot.cached + tokens:
        tokens = slot.stop_tok - slot.cached
    rows = 1 if tokens == stream.slot.pending and stream.remaining_tok > 0 else 0
    if rows > left_rows:
        tokens, rows = tokens - 1, 0  # the last token waits for a free row
    return Share(stream, tokens, 0, rows) if tokens > 0 else None


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
