"""What a sweep comes to: the best cell, those alike and those worth a choice, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.experiments.experiment import Cell, Experiment
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.ranking import (
    Ranking,
    highest_median,
    pareto_of,
    ranking_of,
    values_of,
)
from app.experiments.scales import NO_VALUE, scale_of
from app.experiments.spread import LEAST_RUNS, summary

PARETO = "pareto"
"""In ``Cell.extra`` 1 where no other cell beats this one in everything at once."""

# Names beyond this many are in the table; a sentence with all of them is read by nobody.
_MOST_NAMES = 8
_BESIDE = ("user_tok_s", "total_tok_s")


def concluded(experiment: Experiment, measure: Measure) -> Experiment:
    """``experiment`` with its marks and its sentences, whatever of it is measured."""
    cells = experiment.cells
    measured = [cell for cell in cells if cell.runs and not cell.skipped]
    # Of one cell, or of cells measured once, none can beat another.
    can_differ = len(measured) > 1 and min(len(cell.runs) for cell in measured) > 1
    pareto = pareto_of(cells) if can_differ else ()
    marked = tuple(
        msgspec.structs.replace(cell, extra=_marked(cell, is_pareto=place in pareto))
        for place, cell in enumerate(cells)
    )
    return msgspec.structs.replace(
        experiment, cells=marked, conclusion=sentences_of(marked, measure)
    )


def sentences_of(cells: Sequence[Cell], measure: Measure) -> tuple[str, ...]:
    """The best by ``measure``, by the speeds beside it, and what most runs suffered."""
    measured = [cell for cell in cells if cell.runs and not cell.skipped]
    if not measured:
        return ()
    sentences = [_best_sentence(cells, measure)]
    sentences += [_best_sentence(cells, BY_FIGURE[key]) for key in _BESIDE if key != measure.key]
    sentences += [_pareto_sentence(cells), _too_few_sentence(measured), _disturbed(measured)]
    return tuple(filter(None, sentences))


# --- Inside -----------------------------------------------------------------------------


def _marked(cell: Cell, *, is_pareto: bool) -> dict[str, float]:
    rest = {name: value for name, value in cell.extra.items() if name != PARETO}
    return rest | {PARETO: 1.0} if is_pareto else rest


def _best_sentence(cells: Sequence[Cell], measure: Measure) -> str:
    ranking = ranking_of(cells, measure)
    if ranking.best is None:
        return f"No run shows {measure.label}."
    if ranking.alike and not ranking.worse:
        leading = cells[highest_median(cells, measure) or 0]
        return (
            f"No configuration can be told from the others in {measure.label}. "
            f"Best median: {leading.name} ({_with_interval(leading, measure)})."
        )
    best = cells[ranking.best]
    told = f"Best in {measure.label}: {best.name} ({_with_interval(best, measure)})."
    return f"{told} {_alike_words(cells, ranking)}".rstrip()


def _alike_words(cells: Sequence[Cell], ranking: Ranking) -> str:
    names = [cells[place].name for place in ranking.alike]
    if not names:
        return "All others are worse beyond their spread." if ranking.worse else ""
    return f"Not distinguishable from it: {_listed(names)}."


def _with_interval(cell: Cell, measure: Measure) -> str:
    short = summary(values_of(cell, measure))
    if short is None:
        return NO_VALUE
    scale = scale_of(measure, short.median)
    told = f"{scale.text(short.median)} {scale.unit}".rstrip()
    if short.low is None or short.high is None:
        return told
    return f"{told}, between {scale.text(short.low)} and {scale.text(short.high)}"


def _pareto_sentence(cells: Sequence[Cell]) -> str:
    names = [cell.name for cell in cells if cell.extra.get(PARETO)]
    measured = sum(1 for cell in cells if cell.runs and not cell.skipped)
    if not names or len(names) == measured:
        return ""
    return (
        "Worth a choice, for no other is better in speed per user, total throughput or memory "
        f"and worse in none: {_listed(names)}."
    )


def _too_few_sentence(cells: Sequence[Cell]) -> str:
    rounds = max(len(cell.runs) for cell in cells)
    if rounds >= LEAST_RUNS:
        return ""
    times = "once" if rounds == 1 else f"{rounds} times"
    return (
        f"Every combination was measured {times} at most; {LEAST_RUNS} rounds give intervals, and "
        "tell smaller differences."
    )


def _disturbed(cells: Sequence[Cell]) -> str:
    runs = sum(len(cell.runs) for cell in cells)
    count = sum(1 for cell in cells for sentence in cell.disturbed if sentence)
    if 2 * count <= runs:
        return ""
    return (
        f"{count} of {runs} runs were disturbed, so none was repeated: close other programs and "
        "measure again."
    )


def _listed(names: Sequence[str]) -> str:
    # Names have commas in them.
    shown = "; ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown}; and {more} more" if more > 0 else shown
