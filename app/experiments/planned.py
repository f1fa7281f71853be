"""What an experiment is going to do, in numbers and a sentence, before anything is measured. Pure.

How long it takes is told while it runs, by what the runs so far took: speeds are what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from app.experiments.compare import LEAST_PAIRS, Comparison
from app.experiments.experiment import Experiment
from app.experiments.grid import GridCell
from app.experiments.outline import outlines_of
from app.experiments.quality import QualityAsked
from app.experiments.terminal import duration_text
from app.experiments.users_plan import UsersPlan
from app.experiments.users_resume import loads_of, long_cell_of
from app.experiments.workload import Workload

# Of so many conversations the mean is that of all.
_MOST_OUTLINES = 500
# More loads than these make no line that is read.
_MOST_NAMES = 8


class Planned(msgspec.Struct, frozen=True):
    """What is going to be done.

    Attributes:
        sentence: All of it in words.
        runs: Runs whose figures are kept, at most.
        requests: Their requests together, at most.
        left_out: What will not be measured, by its name, with the reason.
    """

    sentence: str
    runs: int
    requests: int = 0
    left_out: dict[str, str] = {}


def planned_runs(workload: Workload, runs: int, sides: int = 1) -> Planned:
    """Of a bench or a probe: ``runs`` on each of ``sides``, which take turns."""
    each = "" if sides == 1 else f" on each of {sides}"
    return Planned(
        f"Planned: a warm-up and {_count(runs, 'run')}{each}, {work_words(workload)} each.",
        runs * sides,
        runs * sides * workload.requests,
    )


def planned_sweep(
    cells: Sequence[GridCell], rounds: int, workload: Workload, kept: Experiment | None = None
) -> Planned:
    """Of a sweep.

    Args:
        cells: The combinations; those that are known not to run say why.
        rounds: How often each is measured.
        workload: What is run.
        kept: A sweep that is gone on with.
    """
    left_out = {cell.name: cell.skipped for cell in cells if cell.skipped}
    measured = len(cells) - len(left_out)
    runs = measured * rounds
    sentence = (
        f"Planned: {_count(measured, 'combination')} × {_count(rounds, 'round')}, "
        f"{_count(runs, 'run')} of {work_words(workload)}, each after a short warm-up."
    )
    if kept is not None:
        runs = max(0, runs - sum(len(cell.runs) for cell in kept.cells if not cell.skipped))
        sentence += f" {_count(runs, 'run')} of them {'is' if runs == 1 else 'are'} left."
    if left_out:
        sentence += f" {_count(len(left_out), 'combination')} cannot run."
    return Planned(sentence, runs, runs * workload.requests, left_out)


def planned_compare(
    asked: Comparison, workload: Workload, kept: Experiment | None = None
) -> Planned:
    """Of a comparison, which may end sooner."""
    done = 0 if kept is None else min(len(cell.runs) for cell in kept.cells)
    left = max(0, asked.pairs - done)
    least = max(0, LEAST_PAIRS - done)
    pairs = f"{least} to {_count(left, 'pair')}" if least < left else _count(left, "pair")
    return Planned(
        f"Planned: {pairs} of runs of {work_words(workload)}, until the difference is clear; no "
        f"pair is begun after {duration_text(asked.seconds)}.",
        2 * left,
        2 * left * workload.requests,
    )


def planned_users(plan: UsersPlan, kept: Experiment | None = None) -> Planned:
    """Of simulated users; what ``kept`` has is measured already."""
    if plan.is_search:
        return _planned_search(plan)
    before = {} if kept is None else loads_of(kept)
    has_long = plan.long_prompt_tok > 0 and (kept is None or long_cell_of(kept) is None)
    loads = [load for load in plan.loads if load not in before]
    works = [plan.workload_for(load) for load in loads]
    names = [plan.words(load) for load in loads]
    runs = len(loads) + has_long
    requests = sum(work.requests for work in works)
    sentence = f"Planned: {_count(runs, 'run')}"
    if 0 < len(names) <= _MOST_NAMES:
        sentence += f" ({', '.join(names)})"
    if works:
        counts = sorted({work.requests for work in works})
        each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        sentence += f" of {each} {'request' if counts[-1] == 1 else 'requests'}"
    if plan.is_open and works:
        arriving_s = sum(work.requests / (work.rate_req_s or math.inf) for work in works)
        sentence += f", which arrive within about {duration_text(arriving_s)} in all"
    if has_long:
        sentence += ", the last run with long prompts among them"
    return Planned(f"{sentence}.", runs, requests)


def planned_quality(asked: QualityAsked) -> Planned:
    """Of a comparison of caches."""
    count = len(asked.candidates)
    sentence = (
        f"Planned: {_count(count, 'candidate')} beside f16, at most "
        f"{_count(asked.chunks, 'chunk')} of {asked.ctx_tok:,} tokens each"
    )
    if asked.facts:
        sentence += f", then {_count(asked.facts, 'fact')} told in {asked.recall_ctx_tok:,} tokens"
    return Planned(f"{sentence}.", count)


def work_words(workload: Workload) -> str:
    """What one run does: ``8 requests (about 1,380 prompt and 960 answer tokens)``."""
    short = workload
    if workload.conversations > _MOST_OUTLINES:
        short = msgspec.structs.replace(workload, requests=_MOST_OUTLINES * workload.turns)
    outlines = outlines_of(short)
    scale = workload.requests / max(1, sum(len(outline.turns) for outline in outlines))
    prompt_tok = sum(
        outline.opening_tok + sum(turn.prompt_tok for turn in outline.turns) for outline in outlines
    )
    new_tok = sum(turn.new_tok for outline in outlines for turn in outline.turns)
    return (
        f"{_count(workload.requests, 'request')} (about {_round(prompt_tok * scale):,} prompt and "
        f"{_round(new_tok * scale):,} answer tokens)"
    )


# --- Inside -----------------------------------------------------------------------------


def _planned_search(plan: UsersPlan) -> Planned:
    doublings = math.ceil(math.log2(plan.most)) + 1
    halvings = max(0, doublings - 2)
    goal = plan.goal
    # The two numbers at the edge are looked at until all their requests are in.
    again = 2 * (math.ceil(goal.requests / goal.look) - 1)
    runs = doublings + halvings + again + bool(plan.long_prompt_tok)
    most = max(plan.workload_for(1).requests, plan.workload_for(plan.most).requests)
    return Planned(
        f"Planned: a search among 1 to {plan.most:,} users, at most {_count(runs, 'run')} of "
        f"{goal.look:,} judged requests or more; how many depends on what it finds.",
        runs,
        runs * most,
    )


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _round(tokens: float) -> int:
    """To two or three digits: lengths are of average tokens."""
    if tokens < 100:
        return round(tokens)
    return int(round(tokens, 3 - len(str(round(tokens)))))
