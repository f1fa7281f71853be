"""What is worth a choice: speed against memory, and quality against memory where that is known.

Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.experiments.experiment import Cell
from app.experiments.ranking import allocated_bytes_of
from app.experiments.sweep_conclusion import PARETO
from app.result_known_quality import CacheCost
from app.result_points import CellTexts, factor_of, point_of, short_of, value_axis
from widgets.experiments.result_sheet import Axis, Chart, Line, Plot, Point

_GIB, _MIB = 2**30, 2**20
_SPEEDS = (("total_tok_s", "Aggregate, all streams"), ("user_tok_s", "Per user"))


def memory_charts(
    cells: Mapping[int, Cell], texts: CellTexts, costs: Mapping[int, CacheCost]
) -> list[Chart]:
    """Speed against memory; none where all take the same memory.

    Args:
        cells: Those that were measured, by number.
        texts: What is said of each.
        costs: What the cache of each costs in quality; empty where that is not known.
    """
    sizes, source = _memory_of(cells)
    if len({round(size / _MIB) for size in sizes.values()}) < 2:
        return []
    is_large = max(sizes.values()) >= _GIB
    unit, factor = ("GiB", 1 / _GIB) if is_large else ("MiB", 1 / _MIB)
    axis = Axis("Memory", unit, starts_at_zero=False)
    columns = {
        place: sizes[place] * factor for place in sorted(sizes, key=lambda place: sizes[place])
    }
    has_choices = any(cell.extra.get(PARETO) for cell in cells.values())
    beaten = {place for place, cell in cells.items() if has_choices and not cell.extra.get(PARETO)}
    plots = [
        Plot(title, axis, value_axis(key, list(cells.values())), (line,))
        for key, title in _SPEEDS
        if (line := _speeds(cells, columns, key, texts, beaten)).points
    ]
    note = f"Up and to the left is better. Memory: {source}."
    if costs:
        plots.append(_quality(costs, columns, axis, texts, beaten))
        note += (
            " Quality: mean KLD of the KV cache from f16, bars one standard error; down is better."
        )
    if has_choices:
        note += (
            " Filled: no other is better in speed per user, total throughput or memory and worse "
            "in none; outlined: another one is."
        )
    return [Chart("memory", "Memory", tuple(plots), note=note)] if plots else []


# --- Inside -----------------------------------------------------------------------------


def _memory_of(cells: Mapping[int, Cell]) -> tuple[dict[int, float], str]:
    """Bytes of each cell, and what they are of: allocated where that is known of all of them."""
    if allocated := allocated_bytes_of(list(cells.values())):
        source = "what the engine allocated, mapped weights apart"
        return dict(zip(cells, allocated, strict=True)), source
    owned = {
        place: short.median
        for place, cell in cells.items()
        if (short := short_of(cell, "owned_bytes")) is not None
    }
    return owned, "the most private memory of the engine process, median of the runs"


def _speeds(
    cells: Mapping[int, Cell],
    columns: Mapping[int, float],
    key: str,
    texts: CellTexts,
    beaten: set[int],
) -> Line:
    factor = factor_of(key, list(cells.values()))
    points = tuple(
        point_of(place, x, short, factor, texts.of(place),
                 standing="worse" if place in beaten else "")
        for place, x in columns.items()
        if (short := short_of(cells[place], key)) is not None
    )  # fmt: skip
    return Line("", points, is_joined=False)


def _quality(
    costs: Mapping[int, CacheCost],
    columns: Mapping[int, float],
    axis: Axis,
    texts: CellTexts,
    beaten: set[int],
) -> Plot:
    points = []
    for place, x in columns.items():
        cost = costs[place]
        has_error = cost.error is not None
        points.append(
            Point(
                place,
                x,
                cost.mean_kld,
                low=cost.mean_kld - (cost.error or 0.0) if has_error else None,
                high=cost.mean_kld + (cost.error or 0.0) if has_error else None,
                is_hollow=place in beaten,
                text=f"{texts.of(place)}\nMean KLD of its KV cache {cost.mean_kld:.6f} nats",
            )
        )
    line = Line("", tuple(points), is_joined=False)
    return Plot("Quality", axis, Axis("Mean KLD", "nats"), (line,))
