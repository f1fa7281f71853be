"""Experiments of the history as the window lists them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.extra_figures import extra_figures
from app.experiments.history_rows import ROW_COLUMNS, Row, row_of, seconds_of, values_of
from app.experiments.measures import BY_FIGURE
from app.experiments.tables import label_of, value_text
from widgets.experiments.history_entry import EntryList, HistoryEntry

# The figure that stands for an experiment: the first one that it has.
_HEADLINES = ("total_tok_s", "tpot_s", "prefill_tok_s", "ttft_s")
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
    label, figure = _headline(row)
    return HistoryEntry(
        key=row.key,
        kind=str(row.kind),
        title=title_of(row.title, row.model),
        begun_s=seconds_of(row.begun_at),
        model=row.model,
        state=str(row.state),
        figure=figure,
        figure_label=label,
        about=_about(row),
        place=" · ".join(filter(None, (row.machine, row.engine))),
        tags=row.tags,
        note=row.note,
        can_resume=row.kind is Kind.SWEEP and row.state in (State.STOPPED, State.CUT),
        is_unkept=is_unkept,
    )


def title_of(title: str, model: str) -> str:
    """``title`` without the model, which stands beside it: what differs comes first."""
    rest = title.removeprefix(model).lstrip(" ,:·-") if model else title
    return rest or title


# --- Inside -----------------------------------------------------------------------------


def _headline(row: Row) -> tuple[str, str]:
    """The figure that stands for it: its name, and its value with the unit."""
    extras = extra_figures(row.extra)
    if row.kind in _BY_EXTRA and extras:
        return "", f"{extras[0].label} {extras[0].text}"
    for key in _HEADLINES:
        value = getattr(row, key)
        if value is not None:
            return label_of(BY_FIGURE[key]), value_text(BY_FIGURE[key], value)
    return ("", f"{extras[0].label} {extras[0].text}") if extras else ("", "")


def _about(row: Row) -> str:
    """What the figure rests on."""
    if not row.cells:
        return "nothing was measured"
    runs = "1 run" if row.runs == 1 else f"{row.runs:,} runs" if row.runs else ""
    if row.cells == 1:
        return runs
    of = "loads" if row.kind is Kind.USERS else "configurations"
    which = "one" if row.total_tok_s is None else "fastest"
    cells = f"{which} of {row.cells:,} {of}" + (f": {row.best}" if row.best else "")
    return " · ".join(filter(None, (cells, runs)))
