"""Experiments of the history as the window lists them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.experiment import Experiment, Kind
from app.experiments.extra_figures import ExtraFigure, extra_figures
from app.experiments.history_rows import (
    ROW_COLUMNS,
    Row,
    figures_in,
    marks_of,
    row_of,
    seconds_of,
    values_of,
)
from app.experiments.measures import BY_FIGURE
from app.experiments.scales import label_of, value_text
from app.experiments.sweep_resume import can_go_on
from app.result_names import said
from widgets.experiments.history_entry import EntryList, HistoryEntry

# The figure that stands for an experiment is the first of these that it has. Alone at the end of a
# line it says what it is.
_HEADLINES = {
    "total_tok_s": "{} in total",
    "tpot_s": "TPOT {}",
    "prefill_tok_s": "prefill {}",
    "ttft_s": "TTFT {}",
}
# What such a kind is done for goes before speeds.
_BY_EXTRA = (Kind.QUALITY,)


def listed(rows: Sequence[Row], unkept: Sequence[Experiment] = ()) -> EntryList:
    """Entries for ``rows``, each made when it is looked at.

    Args:
        rows: Of the history, in their order.
        unkept: What is in memory only, or a part of it; those without a row come first.
    """
    unwritten = {experiment.key for experiment in unkept}
    known = {row.key for row in rows} if unwritten else set()
    newest = sorted(unkept, key=lambda experiment: experiment.key, reverse=True)
    new = [row_of_experiment(each) for each in newest if each.key not in known]
    shown = [*new, *rows]
    return EntryList(
        (row.key for row in shown),
        lambda place: entry_of(shown[place], is_unkept=shown[place].key in unwritten),
    )


def row_of_experiment(experiment: Experiment) -> Row:
    """The row that the history would have of ``experiment``."""
    values = values_of(experiment)
    return row_of(tuple(values[name] for name in ROW_COLUMNS))


def entry_of(row: Row, *, is_unkept: bool = False) -> HistoryEntry:
    """What the list shows of ``row``."""
    label, figure, short = _headline(row)
    return HistoryEntry(
        key=row.key,
        kind=str(row.kind),
        title=said(title_of(row.title, row.model)),
        begun_s=seconds_of(row.begun_at),
        model=row.model,
        state=str(row.state),
        figure=figure,
        figure_label=label,
        short_figure=short,
        about=_about(row),
        place=" · ".join(filter(None, (row.machine, row.engine))),
        tags=row.tags,
        note=row.note,
        disturbed_runs=marks_of(row)[1],
        can_resume=can_go_on(row.kind, row.state),
        is_unkept=is_unkept,
    )


def title_of(title: str, model: str) -> str:
    """``title`` without the model, which stands beside it: what differs comes first."""
    rest = title.removeprefix(model).lstrip(" ,:·-") if model else title
    return rest or title


# --- Inside -----------------------------------------------------------------------------


def _headline(row: Row) -> tuple[str, str, str]:
    """The figure that stands for it: its name, its value with the unit, and both in few words."""
    extras = extra_figures(figures_in(row))
    if row.kind in _BY_EXTRA and extras:
        return _named(extras[0])
    for key, words in _HEADLINES.items():
        value = getattr(row, key)
        if value is not None:
            label, figure = label_of(BY_FIGURE[key]), value_text(BY_FIGURE[key], value)
            return label, figure, words.format(figure)
    return _named(extras[0]) if extras else ("", "", "")


def _named(extra: ExtraFigure) -> tuple[str, str, str]:
    text = f"{extra.label} {extra.text}"
    return "", text, text


def _about(row: Row) -> str:
    """What the figure rests on."""
    if not row.cells:
        return "nothing was measured"
    runs = "1 run" if row.runs == 1 else f"{row.runs:,} runs" if row.runs else ""
    if row.cells == 1:
        return " · ".join(filter(None, (runs, _disturbed(marks_of(row)[1]))))
    of = "loads" if row.kind is Kind.USERS else "configurations"
    is_alike, disturbed = marks_of(row)
    which = "one" if row.total_tok_s is None else "fastest"
    which = "not told apart, highest median" if is_alike else which
    cells = f"{which} of {row.cells:,} {of}" + (f": {said(row.best)}" if row.best else "")
    return " · ".join(filter(None, (cells, runs, _disturbed(disturbed))))


def _disturbed(runs: int) -> str:
    return f"{runs:,} disturbed" if runs else ""
