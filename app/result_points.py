"""Figures of cells as what tables and charts show: median, spread, words. Pure.

Without the bootstrap of ``spread.summary``, and without arrays: of 200 cells the one takes ten
seconds, and the sheet is made anew after every run, on the machine that is being measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from app.experiments.experiment import Cell, Experiment, Kind
from app.experiments.extra_figures import extra_figures
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.ranking import ranking_of
from app.experiments.scales import cell_values, common_scale, label_of, with_spread
from app.experiments.spread import MAD_SCALE, Summary
from app.experiments.tables import keys_of
from widgets.experiments.result_sheet import Axis, Point, Standing

# What is told of a point; the rest is in the table.
_TOLD = (
    "total_tok_s", "user_tok_s", "ttft_s", "tpot_s", "itl_p99_s", "goodput_req_s", "kept_share",
    "acceptance", "owned_bytes",
)  # fmt: skip


def short_of(cell: Cell, key: str) -> Summary | None:
    """Median and spread of a figure, without an interval; None where no run has it."""
    known = [value for value in cell_values(cell, key) if value is not None]
    return short_of_values(known)


def short_of_values(known: Sequence[float]) -> Summary | None:
    """The same of values that are no figure by themselves; None of none."""
    if not known:
        return None
    middle = median(known)
    spread = MAD_SCALE * median(abs(value - middle) for value in known)
    return Summary(float(middle), float(spread), None, None, len(known))


def standings_of(experiment: Experiment, measure: Measure) -> dict[int, Standing]:
    """How the cells of a sweep compare in one figure, by their number; empty where none do.

    Only a sweep measures all its cells in the same rounds, so only there are they ranked: the
    others have verdicts of their own, or are loads and no choices.
    """
    cells = experiment.cells
    measured = [cell for cell in cells if cell.runs and not cell.skipped]
    if experiment.kind is not Kind.SWEEP or len(measured) < 2:
        return {}
    if min(len(cell.runs) for cell in measured) < 2:
        return {}
    ranking = ranking_of(cells, measure)
    if ranking.best is None or not ranking.worse:  # what all share is no distinction
        return {}
    standings: dict[int, Standing] = dict.fromkeys(ranking.worse, "worse")
    return {**standings, **dict.fromkeys(ranking.alike, "alike"), ranking.best: "best"}


class CellTexts:
    """What is said of a cell where the pointer rests on it."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        """Of the cells of one experiment, so that their figures have the same digits."""
        measured = [cell for cell in cells if cell.runs]
        known = keys_of(measured)
        self._measures = [BY_FIGURE[key] for key in _TOLD if key in known]
        self._scales = {m.key: common_scale(m, measured) for m in self._measures}
        self._told: dict[int, str] = {}
        self._cells = cells

    def of(self, place: int) -> str:
        """Its name and its figures, a line each."""
        if place not in self._told:
            self._told[place] = "\n".join(self._lines(self._cells[place]))
        return self._told[place]

    def _lines(self, cell: Cell) -> list[str]:
        lines = [cell.name or "these settings"]
        for measure in self._measures:
            short, scale = short_of(cell, measure.key), self._scales[measure.key]
            if short is not None:
                text = f"{with_spread(short, scale)} {scale.unit}".rstrip()
                lines.append(f"{label_of(measure)} {text}")
        if not cell.runs:
            return lines + [f"{each.label} {each.text}" for each in extra_figures(cell.extra)[:8]]
        disturbed = sum(1 for sentence in cell.disturbed if sentence)
        runs = "1 run" if len(cell.runs) == 1 else f"{len(cell.runs)} runs"
        return [*lines, f"{runs}, {disturbed} disturbed" if disturbed else runs]


def value_axis(key: str, cells: Sequence[Cell], *, starts_at_zero: bool = True) -> Axis:
    """The vertical axis of a figure."""
    measure = BY_FIGURE[key]
    scale = common_scale(measure, cells)
    return Axis(label_of(measure), scale.unit, starts_at_zero=starts_at_zero)


def factor_of(key: str, cells: Sequence[Cell]) -> float:
    """What a figure is multiplied by to stand on its axis."""
    return common_scale(BY_FIGURE[key], cells).factor


def point_of(
    place: int,
    x: float,
    short: Summary,
    factor: float,
    text: str,
    *,
    standing: Standing = "",
) -> Point:
    """A point with its spread as the error bar; one of a single run has none."""
    y = short.median * factor
    spread = short.spread * factor
    return Point(
        place,
        x,
        y,
        low=y - spread if short.runs > 1 else None,
        high=y + spread if short.runs > 1 else None,
        is_hollow=standing == "worse",
        text=text,
    )


def best_first(cells: Mapping[int, Cell], key: str) -> list[int]:
    """Numbers of the cells that have a figure, the best by their medians first."""
    rated = [(short.median, place) for place, cell in cells.items()
             if (short := short_of(cell, key)) is not None]  # fmt: skip
    rated.sort(key=lambda one: one[0], reverse=BY_FIGURE[key].is_more_better)
    return [place for _, place in rated]
