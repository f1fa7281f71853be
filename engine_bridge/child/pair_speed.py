"""How long a token takes in each of two contexts, behind the same text.

The two take turns, token by token, and the one that begins changes: what else the machine does
hits both alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from engine_bridge.child.context_pair import ContextPair
from engine_bridge.quality_messages import SpeedMeasured

# The first steps find caches cold and threads asleep.
WARM_UP_STEPS = 2


def measured_speed(
    pair: ContextPair,
    tokens: Sequence[int],
    steps: int,
    on_step: Callable[[int], None] = lambda _: None,
) -> SpeedMeasured:
    """Fill both contexts and time single tokens behind that.

    Args:
        pair: Both contexts, with room for ``tokens``; what they hold is forgotten.
        tokens: What is read; the last ``steps + WARM_UP_STEPS`` of them one by one.
        steps: Steps that are timed in each, at least 1.
        on_step: Told after each step how many tokens it was.

    Raises:
        QualityError: If llama.cpp cannot compute it.
    """
    depth_tok = len(tokens) - steps - WARM_UP_STEPS
    pair.clear()
    pair.read_without_logits(tokens[:depth_tok], on_step)
    base_s: list[float] = []
    candidate_s: list[float] = []
    turns = [(pair.base, base_s), (pair.candidate, candidate_s)]
    for at in range(depth_tok, len(tokens)):
        for context, lengths_s in turns:
            begun_ns = time.perf_counter_ns()
            pair.read_alone(context, tokens[at], at)
            lengths_s.append((time.perf_counter_ns() - begun_ns) / 1e9)
        turns.reverse()
        on_step(1)
    return SpeedMeasured(
        depth_tok=depth_tok + WARM_UP_STEPS,
        base_s=tuple(base_s[WARM_UP_STEPS:]),
        candidate_s=tuple(candidate_s[WARM_UP_STEPS:]),
    )
