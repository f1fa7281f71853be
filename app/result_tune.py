"""The path of a tuner: what it tried, step by step, and the best so far. Pure."""

from __future__ import annotations

from app.experiments.experiment import Cell, Experiment
from app.experiments.tune_result import KEPT
from app.result_points import CellTexts, factor_of, point_of, short_of, value_axis
from widgets.experiments.result_sheet import Axis, Chart, Line, Plot, Point, Standing

# The first three that there are: what a purpose is judged by is among them.
_KEYS = ("goodput_req_s", "total_tok_s", "user_tok_s", "ttft_s")
_MOST_PLOTS = 3
_NOTE = (
    "Configurations in the order in which they were tried, medians of their runs, bars their "
    "spread, ±. Filled: kept; outlined: dropped. The line is what was best so far."
)


def path_charts(experiment: Experiment, texts: CellTexts) -> list[Chart]:
    """What was tried one after the other; none before two were measured."""
    tried = [(place, cell) for place, cell in enumerate(experiment.cells) if cell.runs]
    if len(tried) < 2:
        return []
    cells = [cell for _, cell in tried]
    best = _best_so_far(cells)
    plots = []
    for key in _KEYS:
        factor = factor_of(key, cells)
        points, line = [], []
        for number, (place, cell) in enumerate(tried):
            short = short_of(cell, key)
            if short is not None:
                standing: Standing = "" if cell.extra.get(KEPT) else "worse"
                points.append(
                    point_of(place, number + 1.0, short, factor, texts.of(place),
                             standing=standing)
                )  # fmt: skip
            kept = best[number]
            now = None if kept is None else short_of(cells[kept], key)
            if kept is not None and now is not None:
                line.append(Point(tried[kept][0], number + 1.0, now.median * factor))
        if len(points) > 1:
            axis = value_axis(key, cells, starts_at_zero=False)
            lines = (
                Line("best so far", tuple(line), is_stepped=True, has_marks=False),
                Line("tried", tuple(points), is_joined=False),
            )
            plots.append(Plot(axis.title, Axis("Tried", starts_at_zero=False), axis, lines))
    return [Chart("path", "Path", tuple(plots[:_MOST_PLOTS]), note=_NOTE)] if plots else []


def outcome_of(experiment: Experiment, cell: Cell) -> str:
    """What became of a configuration: ``best``, ``kept``, ``dropped``; empty before it was run."""
    kept = cell.extra.get(KEPT)
    if kept is None:
        return "dropped" if cell.runs else ""
    return "best" if kept == max(c.extra.get(KEPT, 0.0) for c in experiment.cells) else "kept"


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
