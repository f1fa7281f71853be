"""An experiment as a picture: its figures with their spread, on what model and machine.

Needs a ``QGuiApplication``; the offscreen one is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QBuffer, QIODevice, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.experiments.card_chart import chart_of, draw_chart
from app.experiments.card_painter import RIGHT, CardPainter
from app.experiments.experiment import Cell, Experiment, Kind, State
from app.experiments.extra_figures import extra_figures
from app.experiments.history_rows import best_cell
from app.experiments.measures import BY_FIGURE
from app.experiments.ranking import are_alike
from app.experiments.scales import cell_values, label_of, scale_of
from app.experiments.spread import summary
from app.experiments.subject_text import settings_text
from app.experiments.tables import DISTURBED
from app.result_names import said_experiment
from resources.card_tokens import (
    BODY_PX,
    FIGURE_PX,
    FIGURES_HEIGHT_PX,
    GAP_PX,
    HEIGHT_PX,
    ICON_PX,
    MARGIN_PX,
    PADDING_PX,
    SMALL_PX,
    TITLE_PX,
    WIDTH_PX,
)
from resources.theme import ICONS
from resources.tokens import DARK, Palette

MOST_FIGURES = 4
_SPEED = "total_tok_s"
_KEYS = (
    "ttft_s", "tpot_s", "total_tok_s", "goodput_req_s", "mbu", "prefill_tok_s", "owned_bytes",
)  # fmt: skip
_HASH_CHARACTERS = 12
_STATES = {
    State.RUNNING: "not finished",
    State.STOPPED: "stopped before its end",
    State.FAILED: "failed",
    State.CUT: "cut off",
}


@dataclass(frozen=True)
class Figure:
    """A figure in large type.

    Attributes:
        label: What it is.
        value: Its number.
        unit: Behind the number; may be empty.
        note: Its spread and the runs it rests on; may be empty.
    """

    label: str
    value: str
    unit: str
    note: str


def card_png(experiment: Experiment, palette: Palette = DARK) -> bytes:
    """The card of ``experiment`` as a PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    draw_card(experiment, palette).save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def draw_card(experiment: Experiment, palette: Palette = DARK) -> QImage:
    """The card of ``experiment``, 1200 × 630 px; settings have the names of the window."""
    experiment = said_experiment(experiment)
    image = QImage(WIDTH_PX, HEIGHT_PX, QImage.Format.Format_RGB32)
    image.fill(QColor(palette.background))
    painter = QPainter(image)
    try:
        card = CardPainter(painter, palette)
        top = _draw_head(card, experiment)
        foot = _draw_foot(card, experiment)
        top = _draw_figures(card, figures_of(experiment), top)
        width = WIDTH_PX - 2 * MARGIN_PX
        draw_chart(card, chart_of(experiment), QRectF(MARGIN_PX, top, width, foot - GAP_PX - top))
    finally:
        painter.end()
    return image


def figures_of(experiment: Experiment) -> tuple[Figure, ...]:
    """At most four figures of the best configuration; of one without runs those it has alone."""
    cell = best_cell(experiment)
    if cell is None:
        return ()
    found = [figure for key in _KEYS if (figure := _figure(cell, key)) is not None]
    if not found:
        found = [
            Figure(extra.label, extra.value, extra.unit, f"± {extra.error}" if extra.error else "")
            for extra in extra_figures(cell.extra)
        ]
    return tuple(found[:MOST_FIGURES])


def subtitle_of(experiment: Experiment) -> str:
    """What was done, and which settings the figures are of."""
    cell = best_cell(experiment)
    # The model stands above it.
    model = experiment.subject.model
    title = experiment.title.removeprefix(model).lstrip(" ,:·-") if model else ""
    parts = [title]
    if cell is not None:
        measured = sum(bool(one.runs or one.extra) for one in experiment.cells)
        settings = settings_text(cell.config)
        if measured > 1:
            has_speed = any(run.total_tok_s for run in cell.runs)
            which = "highest throughput of" if has_speed else "one of"
            if experiment.kind is Kind.SWEEP and are_alike(experiment.cells, BY_FIGURE[_SPEED]):
                which = "not told apart, highest median of"
            parts.append(f"{which} {measured}: {cell.name or settings}")
        elif settings and settings not in title:
            parts.append(settings)
    return " · ".join(filter(None, parts))


# --- Inside -----------------------------------------------------------------------------


def _figure(cell: Cell, key: str) -> Figure | None:
    short = summary(cell_values(cell, key))
    if short is None:
        return None
    measure = BY_FIGURE[key]
    scale = scale_of(measure, short.median)
    runs = "1 run" if short.runs == 1 else f"{short.runs} runs"
    if any(cell.disturbed):
        runs += f" {DISTURBED}"  # said below, in the chart
    spread = f"± {scale.text(short.spread)} · " if short.runs > 1 else ""
    return Figure(label_of(measure), scale.text(short.median), scale.unit, f"{spread}{runs}")


def _draw_head(card: CardPainter, experiment: Experiment) -> float:
    """Name of the program, kind, date; model; title. Returns where the next part begins, px."""
    palette, width = card.palette, WIDTH_PX - 2 * MARGIN_PX
    line = QRectF(MARGIN_PX, MARGIN_PX - 8, width, ICON_PX)
    icon = QSvgRenderer(str(ICONS / "tunedeck.svg"))
    icon.render(card.painter, QRectF(line.x(), line.y(), ICON_PX, ICON_PX))
    name = line.adjusted(ICON_PX + 10, 0, 0, 0)
    used = card.text(name, "TuneDeck", BODY_PX, palette.text, is_bold=True)
    told = " · ".join(filter(None, (str(experiment.kind), _STATES.get(experiment.state, ""))))
    card.text(name.adjusted(used + 10, 0, -220, 0), told, BODY_PX, palette.muted)
    day = experiment.begun_at.partition("T")[0]
    card.text(line, day, BODY_PX, palette.muted, align=RIGHT)

    model = QRectF(MARGIN_PX, line.bottom() + 16, width, TITLE_PX + 12)
    head = experiment.subject.model or experiment.title
    card.text(model, head, TITLE_PX, palette.text, is_bold=True)
    title = QRectF(MARGIN_PX, model.bottom() + 2, width, BODY_PX + 8)
    card.text(title, subtitle_of(experiment), BODY_PX, palette.muted)
    return title.bottom() + GAP_PX


def _draw_figures(card: CardPainter, figures: tuple[Figure, ...], top: float) -> float:
    """A panel for each figure, side by side. Returns where the next part begins, px."""
    if not figures:
        return top
    palette, width = card.palette, WIDTH_PX - 2 * MARGIN_PX
    step = (width + GAP_PX) / len(figures)
    for number, figure in enumerate(figures):
        place = QRectF(MARGIN_PX + number * step, top, step - GAP_PX, FIGURES_HEIGHT_PX)
        card.panel(place)
        inner = place.adjusted(PADDING_PX, 14, -PADDING_PX, -14)
        label = QRectF(inner.x(), inner.y(), inner.width(), SMALL_PX + 6)
        card.text(label, figure.label, SMALL_PX, palette.muted)
        value = QRectF(inner.x(), label.bottom(), inner.width(), FIGURE_PX + 6)
        used = card.text(value, figure.value, FIGURE_PX, palette.text, is_bold=True)
        # On the line on which the number stands.
        unit = value.adjusted(used + 8, FIGURE_PX - BODY_PX - 8, 0, 0)
        card.text(unit, figure.unit, BODY_PX, palette.muted)
        note = QRectF(inner.x(), value.bottom(), inner.width(), SMALL_PX + 6)
        card.text(note, figure.note, SMALL_PX, palette.muted)
    return top + FIGURES_HEIGHT_PX + GAP_PX


def _draw_foot(card: CardPainter, experiment: Experiment) -> float:
    """Machine, and build with the model's hash. Returns where it begins, px."""
    palette, width = card.palette, WIDTH_PX - 2 * MARGIN_PX
    subject = experiment.subject
    height = SMALL_PX + 8
    top = HEIGHT_PX - MARGIN_PX + 12 - 2 * height
    card.text(QRectF(MARGIN_PX, top, width, height), subject.machine, SMALL_PX, palette.muted)
    below = QRectF(MARGIN_PX, top + height, width, height)
    digest = f"sha256 {subject.model_sha256[:_HASH_CHARACTERS]}" if subject.model_sha256 else ""
    taken = card.text(below, digest, SMALL_PX, palette.muted, align=RIGHT)
    left = below.adjusted(0, 0, -taken - GAP_PX, 0)
    card.text(left, subject.engine, SMALL_PX, palette.muted)
    return top
