"""What a tuner says of each try: what it saw, kept or dropped and why; and what came out. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from app.experiments.measures import Measure
from app.experiments.planned import Planned, work_words
from app.experiments.scales import label_of, value_text
from app.experiments.spread import LEAST_RUNS
from app.experiments.terminal import duration_text
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.tune_judge import Judgement
from app.experiments.tune_objective import Objective
from app.experiments.tune_result import NOT_DECIDED, changes_between
from app.experiments.verdict import MANY, Outcome, claim_text, difference_text, verdict_of_pairs
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

_PURPOSES = {
    Purpose.CHAT: "one person chatting",
    Purpose.USERS: "{users} within the limits",
    Purpose.BATCH: "most tokens an hour",
}


def purpose_words(goal: TuneGoal) -> str:
    """``8 users within the limits``."""
    noun = "1 user" if goal.users == 1 else f"{goal.users:,} users"
    return _PURPOSES[goal.purpose].format(users=noun)


def change_words(before: EngineConfig, after: EngineConfig) -> str:
    """``slots=4 in place of 1, flash_attn=on in place of auto``."""
    return ", ".join(
        f"{key}={_value(key, new)} in place of {_value(key, old)}"
        for key, (old, new) in changes_between(before, after).items()
    )


def saw(judgement: Judgement, objective: Objective) -> str:
    """What the pairs showed: ``12 % faster in time of a typical turn (± 4 %, 3 pairs)``."""
    level = objective.levels[judgement.level]
    pairs = "1 pair" if judgement.pairs == 1 else f"{judgement.pairs} pairs"
    if level.is_share:
        points = 100 * abs(judgement.gain)
        word = "more" if judgement.gain >= 0 else "fewer"
        told = f"{points:.0f} points {word} of the {level.measure.label}"
        return f"{told} (± {100 * judgement.error:.0f} points, {pairs})"
    error = difference_text(math.expm1(judgement.error))
    told = _claim(judgement.gain, level.measure)
    return f"{told} in {level.measure.label} (± {error}, {pairs})"


def verdict_words(judgement: Judgement, *, is_kept: bool, cut: str = "") -> str:
    """Why it was kept or dropped; ``cut`` is why its race ended before it was clear, if it did."""
    if is_kept and judgement.outcome is Outcome.BETTER:
        return "Kept, for the gain is clear."
    if is_kept:
        return "Kept, for it is probably better; the runs that were left could not make it clear."
    if judgement.outcome is Outcome.WORSE:
        return "Dropped, for it is clearly worse."
    if cut:
        return f"{NOT_DECIDED} {cut}."
    if judgement.outcome is Outcome.BETTER:
        return "Dropped, for another one looked better still."
    return "Dropped, for the difference is no larger than what runs differ by."


def try_note(
    title: str,
    before: EngineConfig,
    after: EngineConfig,
    judgement: Judgement,
    objective: Objective,
    *,
    is_kept: bool,
    cut: str = "",
) -> str:
    """One try in full: what was tried, what was seen, what became of it and why."""
    return (
        f"{title}: tried {change_words(before, after)}. Saw {saw(judgement, objective)}. "
        f"{verdict_words(judgement, is_kept=is_kept, cut=cut)}"
    )


def cut_note(title: str, before: EngineConfig, after: EngineConfig, cut: str) -> str:
    """A try that ended before it could be compared; ``cut`` is why: ``you stopped it``."""
    return f"{title}: tried {change_words(before, after)}. {NOT_DECIDED} {cut}."


def refusal_note(title: str, before: EngineConfig, after: EngineConfig, reason: str) -> str:
    """A try that could not be."""
    return f"{title}: {change_words(before, after)} was not measured. {reason}"


def conclusion_of(
    goal: TuneGoal,
    objective: Objective,
    start: EngineConfig,
    best: EngineConfig,
    *,
    values: tuple[Sequence[float | None], Sequence[float | None]],
    pairs: tuple[Sequence[float | None], Sequence[float | None]],
    counts: tuple[int, int],
    spent_s: float = 0,
    fates: Sequence[str] = (),
    is_ground: bool = False,
    is_stopped: bool = False,
) -> tuple[str, ...]:
    """The whole in sentences.

    Args:
        goal: What was asked for.
        objective: By what was chosen.
        start: The settings before.
        best: The best settings.
        values: The figure that is told, of the start and of the best, by run.
        pairs: The same, of rounds that measured both.
        counts: Runs, and configurations, that were measured.
        spent_s: Seconds that it took.
        fates: Sentences on steps that brought nothing, or were not tried.
        is_ground: Whether the best is what was settled at the beginning, without any measuring.
        is_stopped: Whether the user stopped it.
    """
    sentences = ["Stopped by you; these are the best settings until then."] if is_stopped else []
    sentences.append(_best_words(goal, start, best, is_ground=is_ground))
    measure = objective.measure
    apart = [[value for value in side if value is not None] for side in values]
    both = [
        (one, other)
        for one, other in zip(*pairs, strict=True)
        if one is not None and other is not None
    ]
    if start == best or not all(apart):
        sentences += _result_words(measure, apart[1])
    else:
        sentences += [_change_words(measure, apart, both), _gain_words(measure, both)]
    sentences.append(_taken_words(goal, counts, spent_s))
    sentences += fates
    if goal.kept:
        labels = ", ".join(BY_KEY[key].label for key in goal.kept if key in BY_KEY)
        sentences.append(f"Not touched, as you asked: {labels}.")
    return tuple(sentences)


def planned_tune(goal: TuneGoal) -> Planned:
    """What a tuning is going to do, at most."""
    workload = goal.run_workload
    limit = f" within {duration_text(goal.seconds)}" if goal.seconds else ""
    return Planned(
        f"Planned: at most {goal.measurements} runs{limit} of {work_words(workload)}, each after a "
        f"short warm-up, to tune for {purpose_words(goal)}; fewer where all is clear before.",
        goal.measurements,
        goal.measurements * workload.requests,
    )


# --- Inside -----------------------------------------------------------------------------


def _best_words(goal: TuneGoal, start: EngineConfig, best: EngineConfig, *, is_ground: bool) -> str:
    purpose = purpose_words(goal)
    if start == best:
        return f"Best for {purpose}: the settings as they are. Nothing that was tried is better."
    told = f"Best for {purpose}: {change_words(start, best)}"
    if is_ground:  # runs may even have been slower: it was not chosen by them
        settled = "by what the work needs and not by measuring"
        return f"{told}, {settled}; nothing that was tried is better."
    return f"{told}."


def _result_words(measure: Measure, values: Sequence[float]) -> list[str]:
    if not values:
        return []
    runs = "1 run" if len(values) == 1 else f"the median of {len(values)} runs"
    return [f"{label_of(measure)}: {value_text(measure, median(values))} ({runs})."]


def _change_words(
    measure: Measure, apart: Sequence[Sequence[float]], both: Sequence[tuple[float, float]]
) -> str:
    """Before and after: ``Time of a typical turn: 4.2 s before → 3.1 s (−26 %, …)``.

    Args:
        measure: What is told.
        apart: All its values before, and of the best; one of each at least.
        both: Those of runs side by side, which go before where there are any.
    """
    sides = list(zip(*both, strict=True)) if both else apart
    before, after = (median(side) for side in sides)
    change = ""
    if before > 0:
        share = after / before - 1
        change = f"{'+' if share >= 0 else '−'}{difference_text(abs(share))}, "
    of = "1 pair of runs" if len(both) == 1 else f"medians of {len(both)} pairs of runs"
    if not both:
        of = f"medians of {len(apart[0])} and {len(apart[1])} runs, not side by side"
    texts = f"{value_text(measure, before)} before → {value_text(measure, after)}"
    return f"{label_of(measure)}: {texts} ({change}{of})."


def _taken_words(goal: TuneGoal, counts: tuple[int, int], spent_s: float) -> str:
    runs, configs = counts
    on = "1 configuration" if configs == 1 else f"{configs} configurations"
    taken = f"{runs} of at most {goal.measurements} runs were taken, on {on}"
    if not goal.seconds:
        return f"{taken}."
    return f"{taken}, in {duration_text(spent_s)} of at most {duration_text(goal.seconds)}."


def _gain_words(measure: Measure, both: Sequence[tuple[float, float]]) -> str:
    if len(both) < LEAST_RUNS:
        return (
            f"That difference has no interval: it takes {LEAST_RUNS} pairs of runs side by side; "
            f"there {'is' if len(both) == 1 else 'are'} {len(both) or 'none'}."
        )
    before, after = zip(*both, strict=True)
    verdict = verdict_of_pairs(before, after, measure, ("the settings before", "the best")).sentence
    return verdict[:1].upper() + verdict[1:]


def _claim(gain: float, measure: Measure) -> str:
    factor = math.exp(gain)
    if factor >= MANY and measure.better == "faster":
        return f"{factor:.1f} times as fast"
    return claim_text(factor, measure)


def _value(key: str, value: Value) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if key.endswith("_path") and isinstance(value, str):
        return Path(value).name or "none"
    return BY_KEY[key].domain.format(value)
