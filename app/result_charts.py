"""Which charts an experiment has, and those that are not of speed: memory, prompts, drafts, runs.

A chart whose axes have no data is not made. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from app.experiments.experiment import Cell, Experiment, Kind
from app.experiments.measures import BY_FIGURE
from app.experiments.proportion import Proportion
from app.experiments.run_detail import length_class
from app.experiments.scales import value_text
from app.experiments.spread import spread_of
from app.experiments.users_cell import LONG_PROMPTS
from app.result_known_quality import cache_costs
from app.result_memory import memory_charts
from app.result_points import CellTexts, factor_of, value_axis
from app.result_quality import quality_charts
from app.result_speed import chosen_lines, load_charts, speed_charts
from app.result_tune import path_charts
from widgets.experiments.result_sheet import Axis, Chart, Line, Plot, Point

_TOTAL, _USER = "total_tok_s", "user_tok_s"
_RUN_KEYS = (_TOTAL, _USER, "ttft_s")
_MOST_PLOTS = 3
# Less of the height of a plot is not seen.
_LEAST_SEEN = 0.05


def charts_of(experiment: Experiment, known: Sequence[Experiment] = ()) -> tuple[Chart, ...]:
    """The charts of an experiment, those that say most first.

    Args:
        experiment: Any.
        known: Experiments on KV caches, the newest first, for what quality costs.
    """
    texts = CellTexts(experiment.cells)
    cells = {
        place: cell
        for place, cell in enumerate(experiment.cells)
        if cell.runs and LONG_PROMPTS not in cell.extra
    }
    made: list[Chart] = []
    match experiment.kind:
        case Kind.QUALITY:
            return quality_charts(experiment)
        case Kind.USERS:
            made += load_charts(experiment, texts)
        case Kind.SWEEP:
            made += speed_charts(experiment, texts)
        case Kind.TUNE:
            made += path_charts(experiment, texts)
        case _:
            made += _run_charts(cells)
    if experiment.kind in (Kind.SWEEP, Kind.TUNE):
        made += memory_charts(cells, texts, cache_costs(cells, experiment.subject, known))
    made += _prompt_charts(cells)
    made += _draft_charts(cells)
    return tuple(made)


# --- Runs, one after the other ----------------------------------------------------------


def _run_charts(cells: Mapping[int, Cell]) -> list[Chart]:
    """Every run by its number: what drifts is seen, and so is one that went astray."""
    shown = list(cells.values())
    if max((len(cell.runs) for cell in shown), default=0) < 2:
        return []
    plots = []
    for key in _RUN_KEYS:
        factor = factor_of(key, shown)
        lines = tuple(
            Line(
                cell.name if len(cells) > 1 else "",
                _points_of_runs(place, cell, key, factor),
                is_joined=False,  # runs are repeats: a line from one to the next reads as a trend
            )
            for place, cell in cells.items()
        )
        values = [point.y for line in lines for point in line.points]
        if values:
            axis = value_axis(key, shown, starts_at_zero=not _would_vanish(values))
            plots.append(Plot(axis.title, Axis("Run", starts_at_zero=False), axis, lines))
    note = "Each run in the order of measuring."
    cut = [plot.title for plot in plots if not plot.y.starts_at_zero]
    if cut:
        named = "" if len(cut) == len(plots) else f" of {' and '.join(cut)}"
        note += f" The scale{named} does not begin at zero."
    if any(any(cell.disturbed) for cell in shown):
        note += " Outlined: something disturbed it."
    return [Chart("runs", "Runs", tuple(plots[:_MOST_PLOTS]), note=note)] if plots else []


def _would_vanish(values: Sequence[float]) -> bool:
    """Whether the runs would look alike on a scale from zero."""
    return max(values) - min(values) < _LEAST_SEEN * max(values)


def _points_of_runs(place: int, cell: Cell, key: str, factor: float) -> tuple[Point, ...]:
    points = []
    for number, run in enumerate(cell.runs):
        value = getattr(run, key)
        if value is None:
            continue
        sentence = cell.disturbed[number] if number < len(cell.disturbed) else ""
        told = f"{BY_FIGURE[key].label} {value_text(BY_FIGURE[key], value)}"
        lines = (cell.name, f"Run {number + 1}", told, sentence)
        points.append(
            Point(
                place,
                float(number + 1),
                value * factor,
                is_hollow=bool(sentence),
                text="\n".join(filter(None, lines)),
            )
        )
    return tuple(points)


# --- TTFT against the length of the prompt ----------------------------------------------


def _prompt_charts(cells: Mapping[int, Cell]) -> list[Chart]:
    """TTFT by length of prompt; none where all prompts are of about one length."""
    curves = {place: _by_length(cell) for place, cell in cells.items()}
    if not any(len(curve) > 1 for curve in curves.values()):
        return []
    groups = {cells[place].name or "": [place] for place, curve in curves.items() if curve}
    shown, more = chosen_lines(cells, groups, "ttft_s")
    lines = []
    for name, (place,) in shown.items():
        points = tuple(
            Point(
                place,
                tok,
                ttft_s,
                low=ttft_s - spread_s if runs > 1 else None,
                high=ttft_s + spread_s if runs > 1 else None,
                text="\n".join(
                    filter(
                        None,
                        (
                            cells[place].name,
                            f"{tok:,.0f} prompt tokens computed",
                            f"TTFT {value_text(BY_FIGURE['ttft_s'], ttft_s)}",
                            f"{requests:,} requests in {runs} runs",
                        ),
                    )
                ),
            )
            for tok, ttft_s, spread_s, requests, runs in curves[place]
        )
        lines.append(Line(name if len(shown) > 1 else "", points))
    x = Axis("Prompt tokens computed", "tok", is_log=True, starts_at_zero=False)
    plot = Plot("Time to first token", x, Axis("TTFT", "s"), tuple(lines))
    note = (
        "Prompts of about one length together: medians of the runs, bars their spread, ±. Tokens "
        "that were reused are not counted."
    )
    return [Chart("prompts", "Prompts", (plot,), note=f"{note} {more}".rstrip())]


def _by_length(cell: Cell) -> list[tuple[float, float, float, int, int]]:
    """By length: tokens, median TTFT over the runs, its spread, requests and runs."""
    classes: dict[int, list[tuple[float, float, int]]] = {}
    for run in cell.runs:
        for found in run.detail.ttft_by_prompt if run.detail is not None else ():
            classes.setdefault(length_class(found[0]), []).append(found)
    return [
        (
            median(tok for tok, _, _ in found),
            median(ttft_s for _, ttft_s, _ in found),
            spread_of([ttft_s for _, ttft_s, _ in found]),
            sum(requests for _, _, requests in found),
            len(found),
        )
        for _, found in sorted(classes.items())
    ]


# --- Acceptance by position -------------------------------------------------------------


def _draft_charts(cells: Mapping[int, Cell]) -> list[Chart]:
    """Acceptance by position in the draft; none where no draft is longer than one token."""
    counts = {place: _by_position(cell) for place, cell in cells.items()}
    if not any(len(positions) > 1 for positions in counts.values()):
        return []
    groups = {cells[place].name or "": [place] for place, found in counts.items() if found}
    shown, more = chosen_lines(cells, groups, _USER)
    lines = []
    for name, (place,) in shown.items():
        points = tuple(
            Point(
                place,
                float(position),
                100 * share.share,
                low=100 * share.low,
                high=100 * share.high,
                text="\n".join(
                    filter(
                        None,
                        (
                            cells[place].name,
                            f"Token {position} of a draft",
                            f"accepted {share.count:,} of {share.of:,} ({100 * share.share:.0f} %)",
                        ),
                    )
                ),
            )
            for position, share in enumerate(counts[place], start=1)
            if share.of
        )
        lines.append(Line(name if len(shown) > 1 else "", points))
    x = Axis("Position in the draft", starts_at_zero=False)
    plot = Plot("Acceptance by position", x, Axis("Accepted", "%"), tuple(lines))
    note = f"Of all tokens drafted there; bars are Wilson's interval at 95 %. {more}".rstrip()
    return [Chart("drafts", "Drafts", (plot,), note=note)]


def _by_position(cell: Cell) -> Sequence[Proportion]:
    total: list[Proportion] = []
    for run in cell.runs:
        if run.detail is None:
            continue
        drafted, accepted = run.detail.drafted_at, run.detail.accepted_at
        total += [Proportion(0, 0)] * (len(drafted) - len(total))
        for place, of in enumerate(drafted):
            count = accepted[place] if place < len(accepted) else 0
            total[place] += Proportion(min(count, of), of)
    return total
