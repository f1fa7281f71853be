"""What of a run no single figure shows: TTFT by the length of the prompt, acceptance by position.

Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from app.experiments.experiment import RunDetail
from engine_bridge.protocol import RequestTiming

# Lengths of one class differ by less than √2: fine enough for a curve, and few enough to keep.
_CLASSES_PER_DOUBLING = 2


def detail_of(timings: Sequence[RequestTiming]) -> RunDetail | None:
    """The detail of a run; None where its requests show none.

    Args:
        timings: Of the requests that ended as asked for.
    """
    found = RunDetail(
        ttft_by_prompt=_ttft_by_prompt(timings),
        drafted_at=_summed(timing.drafted_at for timing in timings),
        accepted_at=_summed(timing.accepted_at for timing in timings),
    )
    return None if found == RunDetail() else found


def length_class(tok: float) -> int:
    """Number of the class that prompts of ``tok`` tokens (above 0) belong to."""
    return round(_CLASSES_PER_DOUBLING * math.log2(tok))


# --- Inside -----------------------------------------------------------------------------


def _ttft_by_prompt(timings: Sequence[RequestTiming]) -> tuple[tuple[float, float, int], ...]:
    classes: dict[int, list[tuple[int, float]]] = {}
    for timing in timings:
        # What was reused took no time; of a server that does not count there are no tokens.
        computed_tok = timing.prompt_tok - timing.reused_tok
        if timing.ttft_s is not None and computed_tok > 0:
            classes.setdefault(length_class(computed_tok), []).append((computed_tok, timing.ttft_s))
    return tuple(
        (float(median(tok for tok, _ in found)), median(ttft_s for _, ttft_s in found), len(found))
        for _, found in sorted(classes.items())
    )


def _summed(counts: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Place by place; those that are shorter end with zeros."""
    total: list[int] = []
    for each in counts:
        total += [0] * (len(each) - len(total))
        for place, count in enumerate(each):
            total[place] += count
    return tuple(total)
