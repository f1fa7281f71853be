"""A trial as the sheet that its view shows. Pure, and quick: it is made after every run."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from app.experiments.experiment import Cell, Experiment, State
from app.experiments.measures import BY_FIGURE, Unit
from app.experiments.memory_watch import BOARDS, PRIVATE, RESIDENT
from app.experiments.run_figures import DEFINITIONS
from app.experiments.scales import NO_VALUE, cell_values, common_scale, label_of, unit_of
from app.experiments.spread import LEAST_RUNS, spread_of
from widgets.try_sheet import TryRow, TrySheet

_FIGURES = ("ttft_s", "tpot_s", "user_tok_s", "total_tok_s")
_MEMORY = {
    RESIDENT: (
        "Memory (RSS)",
        "Most pages of the process in RAM, mapped weights included as far as they were there.",
    ),
    PRIVATE: (
        "Memory of its own",
        "The part that no file backs: caches, buffers, and weights that are not mapped.",
    ),
    BOARDS: ("GPU memory", "What the process held on this machine's GPUs, by NVML."),
}
_MEASURING = "Measuring; what there is so far is shown."
_NOTHING = "No run of the server was finished, so nothing was measured."
_TOO_FEW = "{runs} too few to tell a difference: {least} or more would give a verdict."
_ALONE = "The server alone was measured, so there is nothing to compare it with."
# A difference that rounds to nothing has no sign.
_LEAST_PERCENT = 0.05


def try_sheet(experiment: Experiment) -> TrySheet:
    """All that is shown of a trial, in any state of it."""
    server, own = _sides(experiment)
    if server is None:
        is_running = experiment.state is State.RUNNING
        return TrySheet(headline="", sentences=(_MEASURING if is_running else _NOTHING,))
    rows = [row for key in _FIGURES if (row := _figure_row(key, server, own)) is not None]
    rows += [row for key in _MEMORY if (row := _memory_row(key, server, own)) is not None]
    headline, *more = _verdict(experiment, server, own)
    return TrySheet(
        headline=headline,
        sentences=(*more, *filter(None, [_disturbed(server, own)])),
        rows=tuple(rows),
        has_own=own is not None,
        runs=len(server.runs),
    )


# --- Inside -------------------------------------------------------------------------------------


def _sides(experiment: Experiment) -> tuple[Cell | None, Cell | None]:
    """The server's cell and the engine's, where they have been measured."""
    cells = [*experiment.cells, None, None][:2]
    server, own = cells
    if server is None or not server.runs:
        return None, None
    return server, own if own is not None and own.runs else None


def _verdict(experiment: Experiment, server: Cell, own: Cell | None) -> list[str]:
    if experiment.state is State.RUNNING:
        return [_MEASURING]
    if experiment.conclusion and len(server.runs) >= LEAST_RUNS:
        return list(experiment.conclusion)
    if own is None:
        return [_ALONE]
    count = len(server.runs)
    runs = "One run of each is" if count == 1 else f"{count:,} runs of each are"
    return [_TOO_FEW.format(runs=runs, least=LEAST_RUNS)]


def _figure_row(key: str, server: Cell, own: Cell | None) -> TryRow | None:
    measure = BY_FIGURE[key]
    cells = [cell for cell in (server, own) if cell is not None]
    scale = common_scale(measure, cells)
    values = [_known(cell_values(cell, key)) for cell in (server, own) if cell is not None]
    if not any(values):
        return None
    texts = [_with_spread([value * scale.factor for value in each], scale.digits)
             for each in values]  # fmt: skip
    return TryRow(
        label=label_of(measure),
        meaning=DEFINITIONS[key],
        server=texts[0],
        own=texts[1] if own is not None else "",
        unit=scale.unit,
        change=_change([median(each) for each in values if each]),
    )


def _memory_row(key: str, server: Cell, own: Cell | None) -> TryRow | None:
    label, meaning = _MEMORY[key]
    sizes = [cell.extra.get(key) for cell in (server, own) if cell is not None]
    known = [size for size in sizes if size]
    if not known:
        return None
    factor, unit = unit_of(Unit.BYTES, max(known))
    digits = 0 if max(known) * factor >= 100 else 2
    texts = [NO_VALUE if not size else f"{size * factor:,.{digits}f}" for size in sizes]
    return TryRow(
        label=label,
        meaning=meaning,
        server=texts[0],
        own=texts[1] if own is not None else "",
        unit=unit,
        change=_change(known),
    )


def _change(pair: Sequence[float]) -> str:
    """The first against the second, in percent of the second."""
    if len(pair) < 2 or not pair[1]:
        return ""
    percent = 100 * (pair[0] / pair[1] - 1)
    if abs(percent) < _LEAST_PERCENT:
        return "0.0 %"
    return f"{percent:+,.1f} %".replace("-", "−")


def _with_spread(values: Sequence[float], digits: int) -> str:
    if not values:
        return NO_VALUE
    middle = f"{median(values):,.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ± {spread_of(values):,.{digits}f}"


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _disturbed(server: Cell, own: Cell | None) -> str:
    cells = [cell for cell in (server, own) if cell is not None]
    count = sum(bool(each) for cell in cells for each in cell.disturbed)
    if not count:
        return ""
    first = next(each for cell in cells for each in cell.disturbed if each)
    runs = sum(len(cell.runs) for cell in cells)
    return f"{count:,} of {runs:,} runs were disturbed. {first}"
