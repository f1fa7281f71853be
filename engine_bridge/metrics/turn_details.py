"""What one answer was made of: its waiting, its prompt, its drafts. Pure, and fit to be stored."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from engine_bridge.metrics.definitions import pipe_s as pipe_of
from engine_bridge.metrics.sound_figures import sound_timing
from engine_bridge.protocol import RequestTiming

# A stored file may say anything; a century is longer than any answer took.
_Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=3.2e9)]
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
# No draft is longer than 256 tokens, see ``draft_n_max`` and its kin.
_Counts: TypeAlias = Annotated[tuple[_Count, ...], msgspec.Meta(max_length=256)]


class TurnDetails(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Figures of one answer beyond its line; those of the engine as ``RequestTiming`` has them.

    Attributes:
        queue_s: Waiting for a slot, template and tokenising included.
        prefill_s: From having a slot to the first token.
        new_tok: Tokens generated.
        prompt_tok: Tokens of the prompt.
        reused_tok: Of them not computed.
        why_recomputed: Why tokens were computed again; empty where none was.
        steps: Passes of the model that delivered tokens; the first ended the prefill.
        pipe_s: What of the time from Enter to the first text in the window was neither queue nor
            prefill: both ways between the processes. None where no text came.
        paint_s: From the first text in the window to its paint; None where nobody saw it come.
        tpot_s: Mean time per token after the first; None below two tokens.
        itl_p50_s: Median gap between steps that delivered tokens.
        itl_p99_s: 99th percentile of those gaps.
        drafted_at: Drafted tokens by position in the draft.
        accepted_at: Accepted tokens by position in the draft.
    """

    queue_s: _Seconds
    prefill_s: _Seconds
    new_tok: _Count
    prompt_tok: _Count
    reused_tok: _Count
    why_recomputed: str = ""
    steps: _Count = 0
    pipe_s: _Seconds | None = None
    paint_s: _Seconds | None = None
    tpot_s: _Seconds | None = None
    itl_p50_s: _Seconds | None = None
    itl_p99_s: _Seconds | None = None
    drafted_at: _Counts = ()
    accepted_at: _Counts = ()

    @property
    def ttft_s(self) -> float | None:
        """Queue and prefill; None without a token."""
        return self.queue_s + self.prefill_s if self.new_tok else None

    @property
    def drafted_tok(self) -> int:
        """Tokens drafted."""
        return sum(self.drafted_at)

    @property
    def accepted_tok(self) -> int:
        """Drafted tokens that the model confirmed."""
        return sum(self.accepted_at)

    @property
    def passes(self) -> int:
        """Passes of the model after the one that ended the prefill."""
        return max(0, self.steps - 1)

    @property
    def tokens_per_pass(self) -> float | None:
        """Measured tokens a pass; None without a pass after the prefill's."""
        return (self.new_tok - 1) / self.passes if self.passes else None


def turn_details(
    timing: RequestTiming,
    why_recomputed: str,
    *,
    steps: int,
    sent_ns: int,
    arrived_ns: int,
    painted_ns: int,
) -> TurnDetails:
    """Put together what both processes measured, each duration by one clock.

    Args:
        timing: The engine's figures.
        why_recomputed: Why tokens of the prompt were computed again; empty for none.
        steps: Passes that delivered tokens.
        sent_ns: When Enter was pressed, the window's clock.
        arrived_ns: When the first text was in the window, its clock; 0 where none came.
        painted_ns: When that was painted, the window's clock; 0 where it was not seen.
    """
    timing = sound_timing(timing)  # it is kept: a file with other figures could not be read
    pipe_s = paint_s = None
    if arrived_ns:
        pipe_s = pipe_of((arrived_ns - sent_ns) / 1e9, timing.queue_s, timing.prefill_s)
        if painted_ns:
            paint_s = max(0.0, (painted_ns - arrived_ns) / 1e9)
    return TurnDetails(
        queue_s=timing.queue_s,
        prefill_s=timing.prefill_s,
        new_tok=timing.new_tok,
        prompt_tok=timing.prompt_tok,
        reused_tok=timing.reused_tok,
        why_recomputed=why_recomputed,
        steps=steps,
        pipe_s=pipe_s,
        paint_s=paint_s,
        tpot_s=timing.tpot_s,
        itl_p50_s=timing.itl_p50_s,
        itl_p99_s=timing.itl_p99_s,
        drafted_at=timing.drafted_at,
        accepted_at=timing.accepted_at,
    )
