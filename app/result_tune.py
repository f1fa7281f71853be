"""The path of a tuner: what it tried, step by step, and the best so far. Pure."""

from __future__ import annotations

from app.experiments.experiment import Cell, Experiment
from app.experiments.measures import BY_FIGURE
from app.experiments.scales import label_of, scale_of
from app.experiments.spread import Summary
from app.experiments.subject_text import kept_workload
from app.experiments.tune_objective import TURN, turn_s
from app.experiments.tune_result import KEPT, is_before, is_undecided
from app.result_points import CellTexts, point_of, short_of, short_of_values
from widgets.experiments.result_sheet import Axis, Chart, Line, Plot, Point, Standing

# The first three that there are: what a purpose is judged by is among them.
_KEYS = ("goodput_req_s", TURN.key, "total_tok_s", "user_tok_s", "ttft_s")
_MOST_PLOTS = 3
_NOTE = (
    "Configurations in the order in which they were tried, medians of their runs, bars their "
    "spread, ±. Filled: kept, and the settings before; outlined: dropped or not decided."
)
_LINE_NOTE = "The line is what was best so far."


def path_charts(experiment: Experiment, texts: CellTexts) -> list[Chart]:
    """What was tried one after the other; none before two were measured."""
    tried = [(place, cell) for place, cell in enumerate(experiment.cells) if cell.runs]
    if len(tried) < 2:
        return []
    cells = [cell for _, cell in tried]
    best, answer_tok = _best_so_far(cells), _answer_tok(experiment)
    plots, has_line = [], False
    for key in _KEYS:
        measure = TURN if key == TURN.key else BY_FIGURE[key]
        shorts = [_short(cell, key, answer_tok) for cell in cells]
        medians = [short.median for short in shorts if short is not None]
        scale = scale_of(measure, max(medians, default=0.0))
        factor = scale.factor
        points, line = [], []
        for number, (place, cell) in enumerate(tried):
            short = shorts[number]
            if short is not None:
                is_filled = cell.extra.get(KEPT) or is_before(cell)
                standing: Standing = "" if is_filled else "worse"
                points.append(
                    point_of(place, number + 1.0, short, factor, texts.of(place),
                             standing=standing)
                )  # fmt: skip
            kept = best[number]
            now = None if kept is None else shorts[kept]
            if kept is not None and now is not None:
                line.append(Point(tried[kept][0], number + 1.0, now.median * factor))
        if len(points) > 1:
            axis = Axis(label_of(measure), scale.unit, starts_at_zero=False)
            has_line = has_line or len(line) > 1
            # A line of one point is not seen, and so has no name.
            best_name = "best so far" if len(line) > 1 else ""
            lines = (
                Line(best_name, tuple(line), is_stepped=True, has_marks=False),
                Line("tried", tuple(points), is_joined=False),
            )
            plots.append(Plot(axis.title, Axis("Configuration", starts_at_zero=False), axis, lines))
    note = f"{_NOTE} {_LINE_NOTE}" if has_line else _NOTE
    return [Chart("path", "Path", tuple(plots[:_MOST_PLOTS]), note=note)] if plots else []


def outcome_of(experiment: Experiment, cell: Cell) -> str:
    """What became of a configuration: ``best``, ``kept``, ``dropped``; empty before it was run.

    Of the settings before, with which the best is compared, ``before``; of one that ran when the
    tuning ended too early, ``not decided``.
    """
    if is_before(cell) or is_undecided(cell):
        word = "before" if is_before(cell) else "not decided"
        return word if cell.runs else ""
    kept = cell.extra.get(KEPT)
    if kept is None:
        return "dropped" if cell.runs else ""
    return "best" if kept == max(c.extra.get(KEPT, 0.0) for c in experiment.cells) else "kept"


def _answer_tok(experiment: Experiment) -> float | None:
    """Tokens of a typical answer, where one person waits for it; None for others."""
    workload = kept_workload(experiment)
    if workload is None or workload.users != 1:
        return None
    return workload.answer_tok.mean_tok


def _short(cell: Cell, key: str, answer_tok: float | None) -> Summary | None:
    if key != TURN.key:
        return short_of(cell, key)
    if answer_tok is None:
        return None
    turns = [turn_s(run, answer_tok) for run in cell.runs]
    return short_of_values([turn for turn in turns if turn is not None])


def _best_so_far(cells: list[Cell]) -> list[int | None]:
    """For each that was tried the place of the one that was best by then."""
    best: int | None = None
    found = []
    for place, cell in enumerate(cells):
        before = 0.0 if best is None else cells[best].extra[KEPT]
        if cell.extra.get(KEPT, 0.0) > before:
            best = place
        found.append(best)
    return found
