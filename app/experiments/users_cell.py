"""One load of simulated users (so many of them, or so many requests a second) in figures. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from app.experiments.experiment import Cell, Figures
from app.experiments.long_prompt import effect_of, parted
from app.experiments.measuring import Measured, request_note
from app.experiments.proportion import Proportion
from app.experiments.run_figures import figures_of
from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.steady import steady_part
from app.experiments.workload import Workload
from app.experiments.workload_fit import sharing_remarks
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.metrics.definitions import percentile

USERS = "users"
RATE = "offered_req_s"
"""Requests per second that arrive; in an open loop in place of ``USERS``."""

QUEUE = "queue_s"
QUEUE_SHARE = "queue_of_ttft_share"
KEPT = "kept_requests"
JUDGED = "judged_requests"
LONG_P99 = "itl_p99_beside_long_prompt_s"
OTHER_P99 = "itl_p99_otherwise_s"
LONG_GAPS = "gaps_beside_long_prompt"
OTHER_GAPS = "gaps_otherwise"
LONG_TTFT = "long_prompt_ttft_s"
LONG_TOK = "long_prompt_tok"
LONG_PROMPTS = "long_prompts"

DEFINITIONS: dict[str, str] = {
    "Kept": (
        "Requests that kept both limits, of those that were sent while all users were there: each "
        "user's first conversation and what follows when one has left are thrown away. The "
        "interval is Wilson's at 95 %."
    ),
    "Queue": (
        "Time a request waited for a slot, its template and tokens included: the median, and the "
        "part of all TTFT together that was such waiting. Of several runs, the mean of theirs."
    ),
}
"""What figures mean that only simulated users have."""


def users_cell(
    before: Cell, name: str, workload: Workload, run: Measured, effective: EffectiveConfig
) -> Cell:
    """The cell of one load with one more run.

    Args:
        before: With the configuration, and the runs of this load so far.
        name: What it is called.
        workload: What was played, at that load.
        run: The run.
        effective: What the engine made of the configuration.
    """
    part = steady_part(run.record, workload)
    figures = _steady_figures(part, run, workload)
    count = len(before.runs)
    extra = dict(before.extra) | load_of(workload)
    for key, value in _queueing(part.requests).items():
        extra[key] = (extra.get(key, value) * count + value) / (count + 1)
    if figures.kept_share is not None:
        judged = figures.requests + figures.failed
        extra[KEPT] = extra.get(KEPT, 0.0) + round(figures.kept_share * judged)
        extra[JUDGED] = extra.get(JUDGED, 0.0) + judged
    notes = list(before.notes)
    if not count:
        notes += sharing_remarks(workload, effective.slots, effective.ctx_total_tok)
    if note := request_note([run]):
        notes.append(f"Run {count + 1}: {note}" if count else note)
    return msgspec.structs.replace(
        before,
        name=name,
        runs=(*before.runs, figures),
        disturbed=(*before.disturbed, run.disturbed),
        extra=extra,
        notes=tuple(notes),
    )


def load_of(workload: Workload) -> dict[str, float]:
    """How many users there are, or how many requests a second arrive, by its name."""
    if workload.rate_req_s is not None:
        return {RATE: workload.rate_req_s}
    return {USERS: float(workload.users)}


def cell_load(extra: Mapping[str, float]) -> float | None:
    """The load that a cell of simulated users was measured at; None if it is no such cell."""
    return extra.get(USERS, extra.get(RATE))


def long_prompt_cell(base: Cell, name: str, workload: Workload, run: Measured) -> Cell:
    """The cell of a run in which long prompts arrived; its figures are those of the short chats.

    Args:
        base: With the configuration.
        name: What it is called.
        workload: What was played beside them.
        run: The run.
    """
    short, _ = parted(run.record)
    effect = effect_of(run.record)
    told: dict[str, float | None] = {
        **load_of(workload),
        LONG_P99: effect.reading_p99_s,
        OTHER_P99: effect.other_p99_s,
        LONG_GAPS: float(effect.reading_gaps),
        OTHER_GAPS: float(effect.other_gaps),
        LONG_TTFT: effect.ttft_s,
        LONG_TOK: float(effect.prompt_tok),
        LONG_PROMPTS: float(effect.prompts),
    }
    note = request_note([run])
    return msgspec.structs.replace(
        base,
        name=name,
        runs=(_steady_figures(steady_part(short, workload), run, workload),),
        disturbed=(run.disturbed,),
        extra=base.extra | {key: value for key, value in told.items() if value is not None},
        notes=(note,) if note else (),
    )


def kept_of(cell: Cell) -> Proportion | None:
    """What ``users_cell`` counted; None without limits."""
    if JUDGED not in cell.extra:
        return None
    return Proportion(round(cell.extra[KEPT]), round(cell.extra[JUDGED]))


# --- Inside -----------------------------------------------------------------------------


def _steady_figures(part: RunRecord, run: Measured, workload: Workload) -> Figures:
    # Steps are told of the whole run, so the speed that is made of them is that of the whole run.
    return msgspec.structs.replace(
        figures_of(part, workload), prefill_tok_s=run.figures.prefill_tok_s
    )


def _queueing(requests: Sequence[RequestRecord]) -> dict[str, float]:
    timings = [request.timing for request in requests if request.timing is not None]
    ttft_s = sum(timing.ttft_s for timing in timings if timing.ttft_s is not None)
    queue_s = [timing.queue_s for timing in timings if timing.ttft_s is not None]
    median_s = percentile(queue_s, 50)
    if median_s is None or ttft_s <= 0:
        return {}
    return {QUEUE: median_s, QUEUE_SHARE: sum(queue_s) / ttft_s}
