"""How long an experiment takes, by what this model was measured at on this machine. Pure.

Counts prompts to read and answers to write, not loads; so it says "about".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

from app.experiments.outline import outlines_of
from app.experiments.terminal import duration_text
from app.experiments.workload import Workload
from engine_bridge.metrics.observations import RunSettings
from engine_bridge.metrics.prediction import Predictor, Unmeasured
from engine_bridge.metrics.step_cost import Streams

# Of so many conversations the mean is that of all.
_MOST_OUTLINES = 500


@dataclass(frozen=True)
class Work:
    """What an experiment has to do.

    Attributes:
        runs: Workloads, and how often each is run, warm-ups included.
        is_most: Whether it may end earlier.
        most_s: Seconds after which no run begins; infinite for no limit.
    """

    runs: tuple[tuple[Workload, int], ...]
    is_most: bool = False
    most_s: float = math.inf


@dataclass(frozen=True)
class Engine:
    """What is known of the engine that runs.

    Attributes:
        predictor: What was measured of its model; None while that is not known.
        settings: What counts for speed of what runs.
        slots: How many answers are written at a time.
    """

    predictor: Predictor | None
    settings: RunSettings
    slots: int


def estimate_words(work: Work | None, engine: Engine | None) -> str:
    """A sentence on how long it takes; empty where nothing is to be said.

    Args:
        work: What is to be done; None where nobody can say that before.
        engine: What runs; None without a model.
    """
    if work is None or engine is None:
        return ""
    count = sum(times for _, times in work.runs)
    runs = "1 run" if count == 1 else f"{count:,} runs"
    least = "at most " if work.is_most else ""
    if math.isfinite(work.most_s):
        runs = f"{runs} within {duration_text(work.most_s)}"
    if engine.predictor is None:
        return f"{least}{runs}; nothing was measured of this model yet.".capitalize()
    total_s = 0.0
    for workload, times in work.runs:
        run_s = run_seconds(workload, engine.predictor, engine)
        if isinstance(run_s, Unmeasured):
            words = f"{least}{runs}; how long they take is not known yet: {run_s.why}."
            return words[0].upper() + words[1:]
        total_s += run_s * times
    if total_s > work.most_s:
        return f"At most about {duration_text(work.most_s)}, for no run begins after it."
    if math.isfinite(work.most_s):
        runs = runs.partition(" within")[0]
    about = "At most about" if work.is_most else "About"
    return f"{about} {duration_text(total_s)} for {runs}, by what was measured of this model."


def run_seconds(workload: Workload, predictor: Predictor, engine: Engine) -> float | Unmeasured:
    """How long a run takes: its prompts read one after the other, its answers written together."""
    outlines = outlines_of(_short(workload))
    turns = [turn for outline in outlines for turn in outline.turns]
    opening_tok = sum(outline.opening_tok for outline in outlines)
    fresh_tok = (opening_tok + sum(turn.prompt_tok for turn in turns)) / len(turns)
    new_tok = sum(turn.new_tok for turn in turns) / len(turns)
    # Half of what a conversation has come to at its end.
    depth_tok = (fresh_tok + new_tok) * len(turns) / len(outlines) / 2
    streams = engine.slots
    if workload.rate_req_s is None:
        streams = min(workload.users, engine.slots)
    prefill = predictor.prefill(engine.settings, max(1.0, fresh_tok))
    if isinstance(prefill, Unmeasured):
        return prefill
    decode = predictor.decode(engine.settings, Streams(streams, depth_tok))
    if isinstance(decode, Unmeasured):
        return decode
    busy_s = workload.requests * (prefill.seconds + decode.seconds * new_tok / streams)
    if workload.rate_req_s is not None:
        # Requests arrive whoever waits, so the last of them ends no sooner.
        return max(busy_s, workload.requests / workload.rate_req_s)
    pause_s = sum(turn.think_s for turn in turns) / len(turns)
    return busy_s + workload.requests * pause_s / workload.users


def _short(workload: Workload) -> Workload:
    """The same with fewer conversations."""
    if workload.conversations <= _MOST_OUTLINES:
        return workload
    return msgspec.structs.replace(workload, requests=_MOST_OUTLINES * workload.turns)
