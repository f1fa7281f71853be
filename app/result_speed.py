"""Charts of speed against what was varied: aggregate beside per user, with the knee. Pure.

Also against the number of simulated users, with what of it was good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.experiments.experiment import Cell, Experiment
from app.experiments.measures import BY_FIGURE
from app.experiments.subject_text import kept_workload, limits_of
from app.experiments.users_cell import KEPT, LONG_PROMPTS, USERS, cell_load, kept_of
from app.result_axes import Varied, number_axis, varied_of
from app.result_knee import knee_of, knee_sentence
from app.result_points import (
    CellTexts,
    best_first,
    factor_of,
    point_of,
    short_of,
    standings_of,
    value_axis,
)
from widgets.experiments.result_sheet import Axis, Chart, Line, Mark, Plot, Point

MOST_LINES = 6
"""More cannot be told apart; the table has all."""

_TOTAL, _USER, _TTFT = "total_tok_s", "user_tok_s", "ttft_s"
_TITLES = {
    _TOTAL: "Aggregate, all streams",
    _USER: "Per user",
    _TTFT: "Time to first token",
    "ttft_p95_s": "TTFT, 95 of 100 below",
    "itl_p99_s": "ITL, 99 of 100 below",
    "goodput_req_s": "Goodput",
}
_BARS = "Medians of the runs; bars are their spread, ±."
_NO_BARS = "One run of each, which shows no spread."
_HOLLOW = (
    "Filled: the best of the plot and those that cannot be told from it; outlined: worse beyond "
    "the spread."
)
# A sweep over more settings than these has a table to be read.
_MOST_CHARTS = 4
# Of the way from one name to the next.
_ASIDE = 0.08


def speed_charts(experiment: Experiment, texts: CellTexts) -> list[Chart]:
    """A chart for each setting that was varied; none where nothing was."""
    cells = {place: cell for place, cell in enumerate(experiment.cells) if cell.runs}
    source = _Source(experiment, cells, texts)
    varied = varied_of(cells)
    charts = [
        _speed_chart(source, varied, number) for number in range(min(len(varied), _MOST_CHARTS))
    ]
    return [chart for chart in charts if chart is not None]


def load_charts(experiment: Experiment, texts: CellTexts) -> list[Chart]:
    """Speed, what was good, and waiting, against the number of simulated users."""
    cells = {
        place: cell
        for place, cell in enumerate(experiment.cells)
        if cell.runs and cell_load(cell.extra) is not None and LONG_PROMPTS not in cell.extra
    }
    loads = {place: cell_load(cell.extra) or 0.0 for place, cell in cells.items()}
    if len(set(loads.values())) < 2:
        return []
    is_closed = all(USERS in cell.extra for cell in cells.values())
    source = _Source(experiment, cells, texts)
    title, unit = ("Users", "") if is_closed else ("Requests offered", "req/s")
    axis = number_axis(title, unit, list(loads.values()))

    def plots(keys: Sequence[str], marks: Mapping[str, Sequence[Mark]] | None = None) -> list[Plot]:
        made = [_plot(source, key, axis, loads, {"": list(cells)}) for key in keys]
        return [_with_marks(plot, (marks or {}).get(plot.title, ())) for plot in made if plot]

    # Of an open loop the load is what comes, however much of it is answered.
    said, knee = _knee_of_line(cells, loads, list(cells), "users") if is_closed else ("", ())
    speed = [_with_marks(plot, knee) for plot in plots((_TOTAL, _USER))]
    limits = _limits(experiment)
    kept, bars = limits_of(experiment), _bars(cells)
    good = [*_kept_plots(cells, axis, loads, texts), *plots(("goodput_req_s",))]
    waiting = plots(("ttft_p95_s", "itl_p99_s"), limits)
    made = [
        Chart("speed:users", "Speed", tuple(speed), said, bars),
        Chart(
            "goodput",
            "Goodput",
            tuple(good),
            note=f"Requests that kept {kept or 'both limits'}; the bars of the share are Wilson's "
            f"interval at 95 %. {bars}",
        ),
        Chart("waiting", "Waiting", tuple(waiting), note=f"Limits dotted. {bars}"),
    ]
    return [chart for chart in made if chart.plots]


def chosen_lines(
    cells: Mapping[int, Cell], groups: Mapping[str, Sequence[int]], key: str
) -> tuple[dict[str, Sequence[int]], str]:
    """The groups whose best cell is best in a figure, at most ``MOST_LINES``, and a note on that.

    Args:
        cells: By number.
        groups: Numbers of cells by the name of their line.
        key: Figure that decides.
    """
    if len(groups) <= MOST_LINES:
        return dict(groups), ""
    order = {place: rank for rank, place in enumerate(best_first(cells, key))}
    ranked = sorted(
        groups, key=lambda name: min(order.get(place, len(order)) for place in groups[name])
    )
    kept = set(ranked[:MOST_LINES])
    note = (
        f"The {MOST_LINES} of {len(groups)} lines that reach the best {BY_FIGURE[key].label}; the "
        "table has all."
    )
    return {name: places for name, places in groups.items() if name in kept}, note


# --- Inside -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """What is drawn: an experiment, those of its cells that are shown by number, their words."""

    experiment: Experiment
    cells: Mapping[int, Cell]
    texts: CellTexts


def _speed_chart(source: _Source, varied: Sequence[Varied], number: int) -> Chart | None:
    cells = source.cells
    main = varied[number]
    others = [each for at, each in enumerate(varied) if at != number]
    axis, columns = main.axis()
    groups: dict[str, list[int]] = {}
    for place in cells:
        groups.setdefault(", ".join(each.words(place) for each in others), []).append(place)
    for places in groups.values():
        places.sort(key=lambda place: columns[place])
    shown, note = chosen_lines(cells, groups, _TOTAL)
    keys = (_TOTAL, _USER) if main.is_load else (_TOTAL, _USER, _TTFT)
    plots = [plot for key in keys if (plot := _plot(source, key, axis, columns, shown)) is not None]
    if not plots:
        return None
    said = ""
    if main.is_load and main.numbers is not None:
        best = best_first(cells, _TOTAL)[:1]
        name = next((name for name, places in shown.items() if best and best[0] in places), "")
        said, knee = _knee_of_line(cells, columns, shown.get(name, ()), "slots")
        said = f"{name}: {said}" if said and name else said
        plots = [_with_marks(plot, knee) for plot in plots]
    has_outlines = any(p.is_hollow for plot in plots for line in plot.lines for p in line.points)
    notes = (_bars(cells), _HOLLOW if has_outlines else "", note)
    return Chart(
        f"speed:{main.name}", main.short, tuple(plots), said, " ".join(filter(None, notes))
    )


def _plot(
    source: _Source,
    key: str,
    axis: Axis,
    columns: Mapping[int, float],
    groups: Mapping[str, Sequence[int]],
) -> Plot | None:
    """A figure against a setting; None where fewer than two values of it have the figure."""
    cells = source.cells
    shown = [cells[place] for places in groups.values() for place in places]
    factor = factor_of(key, shown)
    standings = standings_of(source.experiment, BY_FIGURE[key])
    is_named = bool(axis.names)
    lines = []
    for number, (name, places) in enumerate(groups.items()):
        # Above a name all would stand on each other.
        aside = (number - (len(groups) - 1) / 2) * _ASIDE if is_named else 0.0
        points = tuple(
            point_of(place, columns[place] + aside, short, factor, source.texts.of(place),
                     standing=standings.get(place, ""))
            for place in places
            if (short := short_of(cells[place], key)) is not None
        )  # fmt: skip
        lines.append(Line(name if len(groups) > 1 else "", points, is_joined=not is_named))
    if len({columns[point.cell] for line in lines for point in line.points}) < 2:
        return None
    return Plot(_TITLES[key], axis, value_axis(key, shown), tuple(lines))


def _knee_of_line(
    cells: Mapping[int, Cell], loads: Mapping[int, float], places: Sequence[int], noun: str
) -> tuple[str, tuple[Mark, ...]]:
    """What is said of the knee of one line, and its mark."""
    totals = {place: short for place in places if (short := short_of(cells[place], _TOTAL))}
    known = sorted(
        (place for place, short in totals.items() if short.median > 0 and loads[place] > 0),
        key=lambda place: loads[place],
    )
    x = [loads[place] for place in known]
    if len(set(x)) < len(x):
        return "", ()
    speeds = [totals[place].median for place in known]
    users = [short_of(cells[place], _USER) for place in known]
    said = knee_sentence(noun, x, speeds, [None if one is None else one.median for one in users])
    at = knee_of(x, speeds)
    return said, () if at is None else (Mark(x[at], "knee", is_upright=True),)


def _bars(cells: Mapping[int, Cell]) -> str:
    """What the error bars are; why there are none."""
    return _BARS if any(len(cell.runs) > 1 for cell in cells.values()) else _NO_BARS


def _with_marks(plot: Plot, marks: Sequence[Mark]) -> Plot:
    return replace(plot, marks=(*plot.marks, *marks))


def _kept_plots(
    cells: Mapping[int, Cell], axis: Axis, users: Mapping[int, float], texts: CellTexts
) -> list[Plot]:
    """Share of requests that kept the limits, with the interval that the table has."""
    points = tuple(
        Point(
            place,
            users[place],
            100 * kept.share,
            low=100 * kept.low,
            high=100 * kept.high,
            text=texts.of(place),
        )
        for place, cell in cells.items()
        if KEPT in cell.extra and (kept := kept_of(cell)) is not None
    )
    if len(points) < 2:
        return []
    return [Plot("Within both limits", axis, Axis("Requests", "%"), (Line("", points),))]


def _limits(experiment: Experiment) -> dict[str, Sequence[Mark]]:
    """The workload's limits, by the plot in which they are drawn."""
    workload = kept_workload(experiment)
    if workload is None or workload.ttft_slo_s is None:
        return {}
    cells = [cell for cell in experiment.cells if cell.runs]
    at = workload.ttft_slo_s * factor_of("ttft_p95_s", cells)
    return {_TITLES["ttft_p95_s"]: (Mark(at, "TTFT limit", is_limit=True),)}
