"""The figures of a stretch of time as words: a cell each, and one line of gaps and counts. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.stretch_figures import StretchFigures
from widgets.charts.words import milliseconds, number, seconds_number, tok_per_s

NO_VALUE = "–"


@dataclass(frozen=True)
class Cell:
    """One figure.

    Attributes:
        head: What it is.
        value: Its number.
        unit: Behind the number.
        note: A second figure, or what is missing.
        tip: What it means.
        brief: The note in fewer words, for where all of them do not fit; empty for none.
    """

    head: str
    value: str
    unit: str
    note: str
    tip: str
    brief: str = ""

    @property
    def sentence(self) -> str:
        """All of it, to be read out."""
        value = "none" if self.value == NO_VALUE else f"{self.value} {self.unit}"
        return ", ".join(filter(None, (f"{self.head}: {value}", self.note)))


def cells(figures: StretchFigures) -> tuple[Cell, ...]:
    """TTFT, speed per user, speed in total and goodput."""
    return (_ttft(figures), _per_user(figures), _in_total(figures), _goodput(figures))


def gaps_text(figures: StretchFigures) -> str:
    """``ITL p50 17.1, p95 18.4, p99 31.0 ms``; a dash where there was no gap."""
    known = (
        ("p50", figures.itl_p50_s),
        ("p95", figures.itl_p95_s),
        ("p99", figures.itl_p99_s),
    )
    told = [f"{name} {number(1000 * value)}" for name, value in known if value is not None]
    return f"ITL {', '.join(told)} ms" if told else f"ITL {NO_VALUE}"


def count_text(figures: StretchFigures) -> str:
    """``12 requests in 2 min``: what the figures are made of; empty before the first request."""
    if figures.length_s <= 0:
        return ""
    what = "1 request" if figures.requests == 1 else f"{figures.requests:,} requests"
    return f"{what} in {span_text(figures.length_s)}"


def count_tip(figures: StretchFigures) -> str:
    """What the counts do not say."""
    counted = (
        "Requests whose first token came in the time shown. Goodput counts those that ended in it."
    )
    if figures.steps_length_s < figures.length_s:
        return (
            f"{counted} So many steps are not kept for so long: speeds and ITL are those of the "
            f"last {span_text(figures.steps_length_s)} of it."
        )
    return counted


def span_text(seconds: float) -> str:
    """``8 s``, ``90 s``, ``2 min``, ``2.5 min``, ``60 min``: short, and no more exact than needed.

    Seconds that are not round would change the text four times a second.
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes >= 10 else f"{round(2 * minutes) / 2:g} min"


def _ttft(figures: StretchFigures) -> Cell:
    value, p95_s = figures.ttft_p50_s, figures.ttft_p95_s
    note = "" if p95_s is None else f"p95 {seconds_number(p95_s)} s"
    shown = NO_VALUE if value is None else seconds_number(value)
    return Cell("TTFT p50", shown, "s", note, _tip("ttft", "stretch_ttft"))


def _per_user(figures: StretchFigures) -> Cell:
    note = "" if figures.tpot_p50_s is None else f"TPOT {milliseconds(figures.tpot_p50_s)}"
    value, unit = _speed(figures.stream_tok_s)
    return Cell("Per user p50", value, unit, note, _tip("tpot", "stretch_speed"))


def _in_total(figures: StretchFigures) -> Cell:
    busy, unit = _speed(figures.busy_tok_s)
    note = "" if figures.busy_tok_s is None else f"busy {busy} {unit}"
    is_known = figures.busy_tok_s is not None or figures.tokens > 0
    value, unit = _speed(figures.throughput_tok_s if is_known else None)
    brief = note.removeprefix("busy ")
    return Cell("In total", value, unit, note, _tip("stretch_throughput"), brief)


def _goodput(figures: StretchFigures) -> Cell:
    limits = figures.limits
    missing = [
        name
        for name, limit_s in (("TTFT", limits.ttft_s), ("TPOT", limits.tpot_s))
        if limit_s is None
    ]
    if missing:
        note = "no limits set" if len(missing) == 2 else f"no {missing[0]} limit"
        how = (
            f"It needs a limit of {' and of '.join(missing)}: drag the handle right of the chart, "
            "or press L in it."
        )
        return Cell("Goodput", NO_VALUE, "req/s", note, f"{DEFINITIONS['goodput']}\n\n{how}")
    value = figures.goodput_req_s
    note = "" if figures.good is None else f"{figures.good:,} of {figures.ended:,} ended"
    shown = NO_VALUE if value is None else number(value)
    return Cell("Goodput", shown, "req/s", note, _tip("goodput"))


def _speed(tok_s: float | None) -> tuple[str, str]:
    """A speed and its unit apart."""
    if tok_s is None:
        return NO_VALUE, "tok/s"
    value, unit = tok_per_s(tok_s).split(" ")
    return value, unit


def _tip(*keys: str) -> str:
    return "\n\n".join(DEFINITIONS[key] for key in keys)
