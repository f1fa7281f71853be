"""The small chart of a picture card: a bar for each configuration, a point for each run of one.

All bars begin at zero; whiskers are the spread. Runs are points around their median, the band is
the spread.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF

from app.experiments.card_painter import CENTRE, RIGHT, CardPainter
from app.experiments.experiment import Cell, Experiment, Kind
from app.experiments.extra_figures import ERROR, extra_figures, extra_label
from app.experiments.measures import BY_FIGURE
from app.experiments.ranking import are_alike
from app.experiments.scales import cell_values, common_scale, label_of, with_spread
from app.experiments.spread import spread_of, summary
from app.experiments.tables import DISTURBED
from resources.card_tokens import (
    BAR_PX,
    BAR_RADIUS_PX,
    BODY_PX,
    DOT_PX,
    GAP_PX,
    NAME_WIDTH_PX,
    PADDING_PX,
    ROW_PX,
    SMALL_PX,
    VALUE_WIDTH_PX,
    WHISKER_PX,
)
from resources.theme import mixed

MOST_ROWS = 5
"""More configurations than that: the best of them are shown."""

_MOST_RUNS = 24
# So many runs have room for their number and value.
_MOST_LABELS = 6
# The scale of runs reaches at least so far to both sides, as a share of their median: what scatters
# by a thousandth must not look as if it scattered.
_LEAST_REACH = 0.05
# A shorter one looks like a fault; the number beside the bar tells it.
_LEAST_WHISKER_PX = 3.0
_AND_SCALE = " · each run on a scale from "
# Of a hollow point.
_RING_PX = 2.5
# What bars are made of, the first one that there is.
_KEYS = ("total_tok_s", "user_tok_s", "decode_tok_s", "prefill_tok_s", "tpot_s", "ttft_s")


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        name: What it is of.
        value: Its length, 0 or more.
        spread: Half the length of its whisker, in the same unit; 0 for none.
        label: The value in words.
        is_best: Whether it stands out.
        is_disturbed: Whether something disturbed it, or a run of it.
    """

    name: str
    value: float
    spread: float
    label: str
    is_best: bool
    is_disturbed: bool = False


@dataclass(frozen=True)
class Chart:
    """What is drawn.

    Attributes:
        title: Figure and unit.
        note: What a bar is, and what is not shown.
        bars: In the order in which they are shown; empty where there is nothing to draw.
        is_of_runs: Whether they are runs of one configuration, drawn as points.
    """

    title: str
    note: str
    bars: tuple[Bar, ...]
    is_of_runs: bool = False


def chart_of(experiment: Experiment) -> Chart:
    """What the card of ``experiment`` shows as bars."""
    measured = [cell for cell in experiment.cells if cell.runs]
    key = next((key for key in _KEYS if _has(measured, key)), None)
    if key is None:
        return _chart_of_extras(experiment)
    if len(measured) == 1:
        return _chart_of_runs(measured[0], key)
    return _chart_of_cells(measured, key, is_sweep=experiment.kind is Kind.SWEEP)


def draw_chart(card: CardPainter, chart: Chart, place: QRectF) -> None:
    """Draw ``chart`` with its title into ``place``, a panel."""
    card.panel(place)
    if not chart.bars:
        _draw_empty(card, chart, place)
        return
    inner = place.adjusted(PADDING_PX, PADDING_PX - 4, -PADDING_PX, -PADDING_PX + 4)
    head = QRectF(inner.x(), inner.y(), inner.width(), BODY_PX + 6)
    used = card.text(head, chart.title, BODY_PX, card.palette.text, is_bold=True)
    card.text(
        head.adjusted(used + GAP_PX, 0, 0, 0), chart.note, SMALL_PX, card.palette.muted, align=RIGHT
    )
    body = inner.adjusted(0, head.height() + 8, 0, 0)
    if chart.is_of_runs:
        _draw_runs(card, chart.bars, body)
    else:
        _draw_rows(card, chart.bars, body)


# --- Inside -----------------------------------------------------------------------------


def _has(cells: Sequence[Cell], key: str) -> bool:
    return any(cell_values(cell, key) for cell in cells)


def _chart_of_runs(cell: Cell, key: str) -> Chart:
    measure = BY_FIGURE[key]
    scale = common_scale(measure, [cell])
    known = [(n, v) for n, v in enumerate(cell_values(cell, key), start=1) if v is not None]
    bars = tuple(
        Bar(
            f"run {number}", value, 0.0, scale.text(value), is_best=True,
            is_disturbed=any(cell.disturbed[number - 1 : number]),
        )
        for number, value in known[:_MOST_RUNS]
    )  # fmt: skip
    short = summary([value for _, value in known])
    low, high = _ends([value for _, value in known])
    note = (
        f"median ± spread {with_spread(short, scale)}"
        f"{_AND_SCALE}{scale.text(low)} to {scale.text(high)}"
    )
    if len(known) == 1:
        note = "a single run shows no spread"
    if len(known) > _MOST_RUNS:
        note = f"the first {_MOST_RUNS} of {len(known)} runs · {note}"
    if disturbed := sum(bar.is_disturbed for bar in bars):
        # All of it would be longer than the card is wide.
        middle = note.partition(_AND_SCALE)[0]
        note = f"{DISTURBED} {disturbed} disturbed, hollow · {middle}"
    return Chart(_titled(label_of(measure), scale.unit), note, bars, is_of_runs=True)


def _chart_of_cells(cells: Sequence[Cell], key: str, *, is_sweep: bool) -> Chart:
    measure = BY_FIGURE[key]
    scale = common_scale(measure, cells)
    rated = [
        (short.median, cell, short)
        for cell in cells
        if (short := summary(cell_values(cell, key))) is not None
    ]
    # Of a sweep none stands out where none can be told from the others.
    is_alike = is_sweep and are_alike(cells, measure)
    best = (max if measure.is_more_better else min)(value for value, _, _ in rated)
    shown = rated
    if len(rated) > MOST_ROWS:
        order = sorted(rated, key=lambda one: one[0], reverse=measure.is_more_better)
        shown = order[:MOST_ROWS]
    bars = tuple(
        Bar(
            cell.name, value, short.spread, with_spread(short, scale),
            is_best=is_alike or value == best,
            is_disturbed=any(cell.disturbed),
        )
        for value, cell, short in shown
    )  # fmt: skip
    note = "median of the runs ± spread"
    if len(shown) < len(rated):
        note = f"the best {len(shown)} of {len(rated)} · {note}"
    if any(bar.is_disturbed for bar in bars):
        note = f"{DISTURBED} a run was disturbed · {note}"
    return Chart(_titled(label_of(measure), scale.unit), note, bars)


def _chart_of_extras(experiment: Experiment) -> Chart:
    """Of experiments without runs: their first figure, of each configuration that has it."""
    cells = experiment.cells
    richest = max(cells, key=lambda cell: len(cell.extra), default=None)
    name = next(iter(richest.extra), "") if richest is not None else ""
    rated = [
        (cell, cell.extra[name])
        for cell in cells
        if name in cell.extra and math.isfinite(cell.extra[name]) and cell.extra[name] >= 0
    ]
    if not rated:
        return Chart("Nothing was measured", experiment.failure, ())
    shown = [(cell, value, extra_figures(cell.extra)) for cell, value in rated[:MOST_ROWS]]
    bars = tuple(
        Bar(
            cell.name,
            value,
            cell.extra.get(name + ERROR, 0.0),
            next(figure.text for figure in figures if figure.key == name),
            is_best=True,
        )
        for cell, value, figures in shown
    )
    has_error = any(bar.spread for bar in bars)
    notes = ["± standard error"] if has_error else []
    notes += [f"the first {len(bars)} of {len(rated)}"] if len(bars) < len(rated) else []
    return Chart(extra_label(name), " · ".join(notes), bars)


def _titled(label: str, unit: str) -> str:
    return f"{label}, {unit}" if unit else label


def _draw_empty(card: CardPainter, chart: Chart, place: QRectF) -> None:
    inner = place.adjusted(PADDING_PX, 0, -PADDING_PX, 0)
    middle, height = place.center().y(), BODY_PX + 12
    title = QRectF(inner.x(), middle - height, inner.width(), height)
    card.text(title, chart.title, BODY_PX, card.palette.text, is_bold=True, align=CENTRE)
    note = title.translated(0, height)
    card.text(note, chart.note, SMALL_PX, card.palette.muted, align=CENTRE)


def _draw_rows(card: CardPainter, bars: Sequence[Bar], place: QRectF) -> None:
    palette = card.palette
    height = min(ROW_PX, place.height() / len(bars))
    top = place.center().y() - height * len(bars) / 2
    span = max(bar.value + bar.spread for bar in bars) or 1.0
    name_px = min(NAME_WIDTH_PX, max(card.width(bar.name, SMALL_PX) for bar in bars) + 1)
    labels = list(map(_marked, bars))
    value_px = min(
        VALUE_WIDTH_PX, max(card.width(label, SMALL_PX, is_bold=True) for label in labels) + 1
    )
    left, right = place.x() + name_px + GAP_PX, place.right() - value_px - GAP_PX
    for number, bar in enumerate(bars):
        row = QRectF(place.x(), top + number * height, place.width(), height)
        ink = palette.text if bar.is_best else palette.muted
        card.text(QRectF(row.x(), row.y(), name_px, height), bar.name, SMALL_PX, ink)
        thick = min(BAR_PX, height * 0.6)
        length = (right - left) * bar.value / span
        tone = palette.accent if bar.is_best else mixed(palette.accent, palette.panel, 0.55)
        middle = row.center().y()
        card.fill(QRectF(left, middle - thick / 2, max(1.0, length), thick), tone, BAR_RADIUS_PX)
        half = (right - left) * bar.spread / span
        if half >= _LEAST_WHISKER_PX:
            _draw_whisker(card, left + length, half, middle)
        beside = QRectF(place.right() - value_px, row.y(), value_px, height)
        card.text(beside, labels[number], SMALL_PX, ink, is_bold=bar.is_best, align=RIGHT)


def _draw_whisker(card: CardPainter, x: float, half: float, middle: float) -> None:
    ink, high = card.palette.text, WHISKER_PX / 2
    card.stroke(x - half, middle, x + half, middle, ink)
    for end in (x - half, x + half):
        card.stroke(end, middle - high, end, middle + high, ink)


def _draw_runs(card: CardPainter, bars: Sequence[Bar], place: QRectF) -> None:
    """A point for each run, from the first to the last, on a scale that shows how they scatter."""
    palette = card.palette
    values = [bar.value for bar in bars]
    low, high = _ends(values)
    has_labels = len(bars) <= _MOST_LABELS
    name_px = max(card.width(bar.name, SMALL_PX) for bar in bars) + 1 + GAP_PX if has_labels else 0
    value_px = (
        max(card.width(_marked(bar), SMALL_PX) for bar in bars) + 1 + GAP_PX if has_labels else 0
    )
    left, right = place.x() + name_px, place.right() - value_px
    height = place.height() / len(bars)

    def x_of(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    rows = [
        QRectF(place.x(), place.y() + number * height, place.width(), height)
        for number in range(len(bars))
    ]
    if has_labels:
        for row in rows:
            card.stroke(left, row.center().y(), right, row.center().y(), palette.line)
    middle, spread = statistics.median(values), spread_of(values)
    begin, end = max(left, x_of(middle - spread)), min(right, x_of(middle + spread))
    band = QRectF(begin, place.y(), max(1.0, end - begin), place.height())
    card.fill(band, mixed(palette.panel, palette.accent, 0.22), BAR_RADIUS_PX)
    card.stroke(x_of(middle), place.y(), x_of(middle), place.bottom(), palette.accent)
    dot_px = min(DOT_PX, height)
    for bar, row in zip(bars, rows, strict=True):
        x, y = x_of(bar.value), row.center().y()
        dot = QRectF(x - dot_px / 2, y - dot_px / 2, dot_px, dot_px)
        card.fill(dot, palette.warning if bar.is_disturbed else palette.text, dot_px / 2)
        if bar.is_disturbed:
            hole = dot.adjusted(_RING_PX, _RING_PX, -_RING_PX, -_RING_PX)
            card.fill(hole, palette.panel, dot_px / 2)
        if has_labels:
            card.text(row, bar.name, SMALL_PX, palette.muted)
            card.text(row, _marked(bar), SMALL_PX, palette.text, align=RIGHT)


def _marked(bar: Bar) -> str:
    return f"{bar.label} {DISTURBED}" if bar.is_disturbed else bar.label


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest value of the scale: 5 % around the median, or more if they need it."""
    middle = statistics.median(values)
    reach = max(_LEAST_REACH * middle, *(1.1 * abs(value - middle) for value in values)) or 1.0
    return middle - reach, middle + reach
