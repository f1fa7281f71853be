"""The history as text for a terminal of 80 columns. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from app.experiments.difference import (
    CellPair,
    Changed,
    Difference,
    FigurePair,
    too_few_sentences,
)
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.extra_figures import ERROR, extra_figures, extra_label
from app.experiments.history_rows import Row, figures_in, marks_of
from app.experiments.measures import BY_FIGURE
from app.experiments.quality_words import quality_lines
from app.experiments.scales import NO_VALUE, Scale, label_of, scale_of, value_text
from app.experiments.subject_text import settings_text
from app.experiments.sweep_table import sweep_lines
from app.experiments.tables import CELL_KEYS, PROBE_KEYS, experiment_lines
from app.experiments.text_layout import text_table, wrapped
from app.experiments.users_table import users_lines

_HEADLINES = ("ttft_s", "tpot_s", "total_tok_s")
_INDENT = "    "
_NO_BREAK = "\u00a0"
_MOST_EXTRAS = 3
_HASH_CHARACTERS = 16
# As wide as the names that tables tell the subject by.
_MARK = 11


def list_lines(rows: Sequence[Row]) -> list[str]:
    """Key, kind and title of each, and below that its figures."""
    if not rows:
        return ["No experiments."]
    lines: list[str] = []
    for row in rows:
        state = "" if row.state is State.DONE else f" · {row.state}"
        lines += wrapped(f"{row.title or row.model}", mark=f"{row.key}  {row.kind}{state}  ")
        # A figure stays on one line with its name and unit.
        about = " · ".join(part.replace(" ", _NO_BREAK) for part in _about(row))
        lines += [line.replace(_NO_BREAK, " ") for line in wrapped(about, mark=_INDENT)]
    return lines


def when_text(begun_at: str) -> str:
    """A time as the clock on the wall had it; what is none stays as it is."""
    try:
        return datetime.fromisoformat(begun_at).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # years that no clock knows
        return begun_at


def whole_lines(experiment: Experiment, *, explain: bool = False) -> list[str]:
    """All there is to say of one, and the user's words for it.

    As its own command says it, but for what is not kept: the command line of a tuner's best, say.

    Args:
        experiment: Of any kind.
        explain: Whether each figure's definition is added.
    """
    match experiment.kind:
        case Kind.SWEEP:
            lines = sweep_lines(experiment, explain=explain)
        case Kind.QUALITY:
            lines = quality_lines(experiment)
        case Kind.USERS:
            lines = users_lines(experiment, explain=explain)
        case kind:
            keys = PROBE_KEYS if kind is Kind.PROBE else CELL_KEYS
            lines = experiment_lines(experiment, keys=keys, explain=explain)
    if experiment.failure:
        lines += wrapped(experiment.failure, mark=f"{'failed':<{_MARK}}")
    if experiment.tags:
        lines += wrapped(", ".join(experiment.tags), mark=f"{'tags':<{_MARK}}")
    for number, text in enumerate(experiment.note.splitlines()):
        mark = "" if number else "note"
        lines += wrapped(text, mark=f"{mark:<{_MARK}}") or [""]
    return lines


def difference_lines(first: Experiment, second: Experiment, found: Difference) -> list[str]:
    """Both experiments, what differs in them, and what their figures say of it."""
    lines = [
        line
        for name, experiment in (("A", first), ("B", second))
        for line in wrapped(f"{experiment.key}  {experiment.title}", mark=f"{name}  ")
    ]
    changes = (*found.subject, *found.workload)
    if changes:
        lines += ["", *_changes(changes)]
    for pair in found.pairs:
        lines += [
            "",
            *_pair_lines(pair, is_named=len(found.pairs) > 1 or pair.first != pair.second),
        ]
    for caution in found.cautions:
        lines += ["", *wrapped(caution)]
    return lines


def said_of(figures: Sequence[FigurePair]) -> tuple[str, ...]:
    """What is claimed of each, and in one sentence of which nothing is for want of runs."""
    claims = [f.sentence for f in figures if f.sentence and not f.has_too_few_runs]
    return (*claims, *too_few_sentences(figures))


def shown_value(key: str, value: object) -> str:
    """What has changed, of a setting, the subject or the workload, as text; a dash for nothing."""
    if value is None or value == "":
        return NO_VALUE
    if key == "model_sha256":
        return f"{str(value)[:_HASH_CHARACTERS]}…"
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    text = settings_text({key: value}).partition("=")[2] or str(value)
    return text.replace(",", ", ")  # a list can be broken into lines there


def figure_row(figure: FigurePair) -> list[str]:
    """A figure's name, what both have with its spread, and the unit."""
    measure = BY_FIGURE.get(figure.key)
    if measure is None:
        first = _extra_text(figure.key, figure.first, figure.first_spread)
        second = _extra_text(figure.key, figure.second, figure.second_spread)
        return [extra_label(figure.key), first, second, ""]
    known = [value for value in (figure.first, figure.second) if value is not None]
    scale = scale_of(measure, max(known, key=abs, default=0.0))
    return [
        label_of(measure),
        _spread_text(scale, figure.first, figure.first_spread),
        _spread_text(scale, figure.second, figure.second_spread),
        scale.unit,
    ]


# --- Inside -----------------------------------------------------------------------------


def _about(row: Row) -> list[str]:
    parts = [
        f"{BY_FIGURE[key].label} {value_text(BY_FIGURE[key], getattr(row, key))}"
        for key in _HEADLINES
        if getattr(row, key) is not None
    ]
    if not parts:
        extras = extra_figures(figures_in(row))[:_MOST_EXTRAS]
        parts += [f"{extra.label} {extra.text}" for extra in extras]
    if not row.cells:
        return ["nothing was measured", *(f"#{tag}" for tag in row.tags)]
    runs = "1 run" if row.runs == 1 else f"{row.runs:,} runs" if row.runs else ""
    if row.cells > 1:
        which = "one" if row.total_tok_s is None else "fastest"
        which = "not told apart, one" if marks_of(row)[0] else which
        of = "loads" if row.kind is Kind.USERS else "configurations"
        cells = f"{which} of {row.cells:,} {of}"
        runs = f"{cells}, {runs}" if runs else cells
    return [*parts, *filter(None, [runs]), *(f"#{tag}" for tag in row.tags)]


def _pair_lines(pair: CellPair, *, is_named: bool) -> list[str]:
    lines: list[str] = []
    if is_named:
        same = pair.first == pair.second
        lines += wrapped(pair.first if same else f"A {pair.first} / B {pair.second}")
    if pair.settings:
        lines += _changes(pair.settings)
    else:
        lines.append("The same settings.")
    rows = [figure_row(figure) for figure in pair.figures]
    if rows:
        lines += ["", *text_table(("", "A", "B", ""), rows, left=(0, 3))]
    for sentence in said_of(pair.figures):
        lines += wrapped(sentence, mark="* ")
    return lines


def _changes(changes: Sequence[Changed]) -> list[str]:
    """A line for each; of values that are too long for a table one below the other."""
    rows = [[change.key, shown_value(change.key, change.first),
             shown_value(change.key, change.second)] for change in changes]  # fmt: skip
    lines = []
    short = [row for row in rows if max(map(len, row)) <= 24]
    if short:
        lines += text_table(("", "A", "B"), short, left=(0, 1, 2))
    for key, first, second in (row for row in rows if row not in short):
        lines += [key, *wrapped(first, mark="  A  "), *wrapped(second, mark="  B  ")]
    return lines


def _spread_text(scale: Scale, value: float | None, spread: float | None) -> str:
    if value is None:
        return NO_VALUE
    return f"{scale.text(value)} ± {scale.text(spread)}" if spread else scale.text(value)


def _extra_text(name: str, value: float | None, error: float | None) -> str:
    if value is None:
        return NO_VALUE
    errors = {} if error is None else {name + ERROR: error}
    return extra_figures({name: value, **errors})[0].text
