"""What a prediction says in the muted line of its chart, the most telling part first. Pure."""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.metrics.ghost import Ghost
from engine_bridge.metrics.prediction import Estimate, Unmeasured
from widgets.charts.note_line import BETWEEN
from widgets.charts.words import milliseconds, seconds_number, seconds_text

# A wider band is said by its ends.
_WIDE_ERROR = 0.5
# Beyond half to twice the value a band tells no good change from a bad one: drawing its middle
# would claim what nobody knows.
_MOST_ERROR = 1.0


def ttft_ghost(
    then: Estimate | Unmeasured,
    now: Estimate | Unmeasured,
    tokens: int,
    cached_tok: int = 0,
    *,
    is_lost: bool = False,
) -> Ghost:
    """TTFT with the changes, for a prompt like the last one.

    Args:
        then: With the changes.
        now: With what runs.
        tokens: Tokens of the prompt that are read.
        cached_tok: Tokens before them that are cached already.
        is_lost: Whether the changes lose what is cached, so that one prompt is read whole.
    """
    if not cached_tok:
        what = f"for {tokens:,} tok, none cached"
    elif not is_lost:
        what = f"for {tokens:,} tok after {cached_tok:,} cached"
    else:
        whole = f"the first turn after Apply reads all {tokens + cached_tok:,}"
        what = f"for {tokens:,} tok after {cached_tok:,} cached{BETWEEN}{whole}"
    return _ghost(then, now, what, seconds_text, seconds_number)


def tpot_ghost(
    then: Estimate | Unmeasured, now: Estimate | Unmeasured, streams: int, depth_tok: float
) -> Ghost:
    """TPOT with the changes, of ``streams`` with ``depth_tok`` in their slots on average."""
    noun = "stream" if streams == 1 else "streams"
    what = f"for {streams:,} {noun} at {depth_tok:,.0f} tok"
    return _ghost(then, now, what, milliseconds, lambda s: milliseconds(s).removesuffix(" ms"))


def _ghost(
    then: Estimate | Unmeasured,
    now: Estimate | Unmeasured,
    what: str,
    worded: Callable[[float], str],
    number: Callable[[float], str],
) -> Ghost:
    if isinstance(then, Unmeasured):
        return Ghost(text=f"predicted: not measured yet{BETWEEN}{then.why}")
    if then.error > _MOST_ERROR:
        return Ghost(text="not predicted: too few or too uneven answers yet")
    low, high = then.band_s
    # Of what runs too it is a prediction, and no measurement.
    present = ""
    if isinstance(now, Estimate) and now.error <= _MOST_ERROR:
        present = f"{number(now.seconds)} → "
    if then.error <= _WIDE_ERROR:
        value = f"{present}{worded(then.seconds)} ±{100 * then.error:.0f} %"
    elif present:
        value = f"{present}({number(low)} to {worded(high)})"
    else:
        value = f"{number(low)} to {worded(high)}"
    return Ghost(then.seconds, then.band_s, f"predicted {value}{BETWEEN}{what}")
