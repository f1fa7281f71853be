"""Charts of what quantised KV caches cost and buy: KLD against memory and speed, by depth, recall.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from app.experiments.experiment import Cell, Experiment
from app.experiments.quality_words import quality_rows
from widgets.experiments.result_sheet import Axis, Chart, Line, Plot, Point

_DEPTH = re.compile(r"mean_kld_from_(\d+)_tok")
_TOLD_AT = re.compile(r"recall_share_from_(\d+)_percent")
_MIB = 2**20
_KLD = Axis("Mean KLD", "nats")
_TOLD = ("mean KLD", "same top, %", "perplexity", "KV cache", "TPOT / the base's", "facts recalled")


def quality_charts(experiment: Experiment) -> tuple[Chart, ...]:
    """The charts of a comparison of KV caches; the first cell is the base."""
    cells = {place: cell for place, cell in enumerate(experiment.cells) if cell.extra}
    texts = _texts(cells)
    made = [_costs(cells, texts), _depths(cells, texts), _recall(cells, texts)]
    return tuple(chart for chart in made if chart is not None)


def _costs(cells: Mapping[int, Cell], texts: Mapping[int, str]) -> Chart | None:
    """What each cache costs, against what it buys."""
    plots = []
    memory = [
        _point(place, cell, cell.extra["kv_bytes"] / _MIB, texts)
        for place, cell in cells.items()
        if "kv_bytes" in cell.extra and _has_kld(place, cell)
    ]
    if len({point.x for point in memory}) > 1:
        axis = Axis("KV cache", "MiB", starts_at_zero=False)
        plots.append(_scattered("Quality and memory", axis, memory, cells))
    speed = [
        _point(place, cell, cell.extra.get("tpot_ratio", 1.0), texts)
        for place, cell in cells.items()
        if (place == 0 or "tpot_ratio" in cell.extra) and _has_kld(place, cell)
    ]
    if len({point.x for point in speed}) > 1:
        axis = Axis("TPOT / the base's", starts_at_zero=False)
        plots.append(_scattered("Quality and speed", axis, speed, cells))
    if not plots:
        return None
    note = (
        "Down and to the left is better. KLD is that of the next token's distribution from the "
        "base's; bars are one standard error. The base itself stands at 0."
    )
    return Chart("costs", "Cost and gain", tuple(plots), note=note)


def _depths(cells: Mapping[int, Cell], texts: Mapping[int, str]) -> Chart | None:
    lines = []
    for place, cell in cells.items():
        found = sorted(
            (int(match[1]), key) for key in cell.extra if (match := _DEPTH.fullmatch(key))
        )
        points = tuple(
            _bar(place, float(depth), cell.extra, key, texts[place]) for depth, key in found
        )
        if points:
            lines.append(Line(cell.name, points))
    if not any(len(line.points) > 1 for line in lines):
        return None
    x = Axis("Tokens read before, from", "tok", starts_at_zero=False)
    plot = Plot("KLD by depth", x, _KLD, tuple(lines))
    return Chart("depths", "Depth", (plot,), note="Bars are one standard error.")


def _recall(cells: Mapping[int, Cell], texts: Mapping[int, str]) -> Chart | None:
    lines = []
    for place, cell in cells.items():
        found = sorted(
            (int(match[1]), key) for key in cell.extra if (match := _TOLD_AT.fullmatch(key))
        )
        points = tuple(
            Point(place, float(at), 100 * cell.extra[key], text=texts[place]) for at, key in found
        )
        if points:
            lines.append(Line(cell.name, points))
    if not any(len(line.points) > 1 for line in lines):
        return None
    x = Axis("Told at, from the beginning", "%", starts_at_zero=False)
    plot = Plot("Facts recalled", x, Axis("Recalled", "%"), tuple(lines))
    return Chart(
        "recall", "Recall", (plot,), note="A quarter of the context each, from where it begins."
    )


# --- Inside -----------------------------------------------------------------------------


def _has_kld(place: int, cell: Cell) -> bool:
    return place == 0 or "mean_kld" in cell.extra


def _point(place: int, cell: Cell, x: float, texts: Mapping[int, str]) -> Point:
    if "mean_kld" not in cell.extra:
        return Point(place, x, 0.0, text=texts[place])
    return _bar(place, x, cell.extra, "mean_kld", texts[place])


def _bar(place: int, x: float, figures: Mapping[str, float], key: str, text: str) -> Point:
    y, error = figures[key], figures.get(f"{key}_error")
    low = None if error is None else y - error
    return Point(place, x, y, low=low, high=None if error is None else y + error, text=text)


def _scattered(title: str, axis: Axis, points: Sequence[Point], cells: Mapping[int, Cell]) -> Plot:
    """A line for each cache, in every plot at the same place, so that each has its colour."""
    lines = tuple(
        Line(cell.name, tuple(p for p in points if p.cell == place), is_joined=False)
        for place, cell in cells.items()
    )
    return Plot(title, axis, _KLD, lines)


def _texts(cells: Mapping[int, Cell]) -> dict[int, str]:
    """What is said of each cache where the pointer rests on it."""
    told = dict(quality_rows(list(cells.values())))
    return {
        place: "\n".join(
            [cell.name, *(f"{label}: {told[label][at]}" for label in _TOLD if label in told)]
        )
        for at, (place, cell) in enumerate(cells.items())
    }
