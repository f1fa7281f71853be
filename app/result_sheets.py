"""Any experiment as the sheet that the result view shows. Pure; takes too long for the GUI thread.

Also of one that is running, was stopped or cut, failed, or has nothing in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.experiment import Cell, Experiment, Kind, State
from app.experiments.history_lines import when_text
from app.experiments.measures import BY_FIGURE
from app.experiments.scales import cell_values, label_of, scale_of, with_spread
from app.experiments.subject_text import limits_of, subject_told
from app.experiments.sweep_conclusion import PARETO
from app.experiments.sweep_resume import can_go_on
from app.experiments.tables import DISTURBED, spread_sentence
from app.experiments.tune_result import KEPT
from app.experiments.users_table import work_words
from app.result_charts import charts_of
from app.result_names import said, said_experiment
from app.result_points import short_of
from app.result_tables import CHOICE, is_of_figures, name_columns, shared_notes, table_of
from widgets.experiments.result_sheet import ResultSheet
from widgets.experiments.result_sheet import State as SheetState

_KINDS = {
    Kind.BENCH: "Bench",
    Kind.SWEEP: "Sweep",
    Kind.COMPARE: "Comparison",
    Kind.USERS: "Simulated users",
    Kind.TUNE: "Tuning",
    Kind.QUALITY: "Quality of KV caches",
    Kind.PROBE: "Probe of a server",
}
_STATES: dict[State, SheetState] = {
    State.RUNNING: "running",
    State.DONE: "done",
    State.STOPPED: "stopped",
    State.FAILED: "failed",
    State.CUT: "cut",
}
_STATE_WORDS = {
    State.RUNNING: "Running: what is measured so far is shown, and may still change.",
    State.STOPPED: "Stopped before its end; what was measured until then is shown.",
    State.CUT: "The program ended in the middle; what was measured until then is shown.",
}
_HEADLINES = ("total_tok_s", "ttft_s", "tpot_s")
_NOTHING = "Nothing was measured."
# Of a busy machine they are as many as there are runs.
_MOST_DISTURBED = 6
_CHOICE_WORDS = (
    f"{CHOICE} No other is better in speed per user, total throughput or memory and worse in none."
)
_BOLD_WORDS = (
    "Bold: the best of a column and what cannot be told from it by runs of the same rounds, where "
    "most others are worse."
)


def sheet_of(experiment: Experiment, known: Sequence[Experiment] = ()) -> ResultSheet:
    """All that is shown of ``experiment``.

    Args:
        experiment: Of any kind, in any state.
        known: Experiments on KV caches of the same model, the newest first: with them a sweep over
            cache types shows what quality they cost.
    """
    experiment = said_experiment(experiment)
    columns, rows = table_of(experiment)
    return ResultSheet(
        key=experiment.key,
        kind=str(experiment.kind),
        title=experiment.title or _KINDS[experiment.kind],
        subtitle=_subtitle(experiment),
        state=_STATES[experiment.state],
        state_words=_state_words(experiment),
        conclusion=_parted(experiment.conclusion or _headline(experiment)),
        steps=_steps(experiment),
        disturbances=_disturbances(experiment.cells),
        notes=_notes(
            experiment, has_bold=any(f.standing == "best" for r in rows for f in r.fields)
        ),
        subject=_subject(experiment),
        columns=columns,
        name_columns=name_columns(columns),
        rows=rows,
        is_sortable=not is_of_figures(experiment),
        charts=charts_of(experiment, known),
        is_resumable=can_go_on(experiment.kind, experiment.state),
    )


# --- Inside -----------------------------------------------------------------------------


def _subtitle(experiment: Experiment) -> str:
    subject = experiment.subject
    parts = (
        _KINDS[experiment.kind],
        when_text(experiment.begun_at),
        subject.model,
        subject.engine,
        subject.machine,
    )
    return " · ".join(filter(None, parts))


def _subject(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """On what it was done, with which settings and with what work."""
    told = subject_told(experiment)
    if experiment.kind is Kind.USERS and "workload" in told:
        told["workload"] = work_words(experiment)
    for name in ("settings", "effective"):
        if name in told:
            told[name] = said(told[name])
    return tuple(told.items())


def _state_words(experiment: Experiment) -> str:
    is_empty = not any(cell.runs or cell.extra for cell in experiment.cells)
    match experiment.state:
        case State.FAILED:
            return f"Failed: {experiment.failure}" if experiment.failure else "Failed."
        case State.RUNNING if is_empty:
            return "Running: the first figures appear after the warm-up and the first run."
        case State.DONE:
            return _NOTHING if is_empty else ""
    return _NOTHING if is_empty else _STATE_WORDS[experiment.state]


def _parted(conclusion: tuple[str, ...]) -> tuple[str, ...]:
    """The very first sentence alone, for it is shown larger than what follows."""
    if not conclusion:
        return ()
    first, found, rest = conclusion[0].partition(". ")
    return (f"{first}.", rest, *conclusion[1:]) if found else conclusion


def _headline(experiment: Experiment) -> tuple[str, ...]:
    """The figures of the only configuration, where nobody has drawn a conclusion yet."""
    if not is_of_figures(experiment):
        return ()
    cell = experiment.cells[0]
    told = []
    for key in _HEADLINES:
        short = short_of(cell, key)
        if short is not None:
            scale = scale_of(BY_FIGURE[key], short.median)
            told.append(f"{label_of(BY_FIGURE[key])} {with_spread(short, scale)} {scale.unit}")
    if not told:
        return ()
    runs = len(cell.runs)
    of = "one run" if runs == 1 else f"the median of {runs} runs ± their spread"
    return (f"{', '.join(told)}: {of}.",)


def _steps(experiment: Experiment) -> tuple[str, ...]:
    """What a tuner says of each configuration, in the order in which it tried them."""
    if experiment.kind is not Kind.TUNE:
        return ()
    return tuple(
        f"{'+' if cell.extra.get(KEPT) else '−'} {note}"
        for cell in experiment.cells
        for note in cell.notes
    )


def _disturbances(cells: Sequence[Cell]) -> tuple[str, ...]:
    """How many runs were disturbed, and by what; of many the first few."""
    runs = sum(len(cell.runs) for cell in cells)
    told = [
        f"{cell.name}, run {number}: {sentence}" if len(cells) > 1 else f"Run {number}: {sentence}"
        for cell in cells
        for number, sentence in enumerate(cell.disturbed, start=1)
        if sentence
    ]
    if not told:
        return ()
    were = "was" if len(told) == 1 else "were"
    more = len(told) - _MOST_DISTURBED
    return (
        f"{len(told):,} of {runs:,} runs {were} disturbed ({DISTURBED} in the table):",
        *told[:_MOST_DISTURBED],
        *([f"and {more:,} more."] if more > 0 else []),
    )


def _notes(experiment: Experiment, *, has_bold: bool) -> tuple[str, ...]:
    measured = [cell for cell in experiment.cells if cell.runs]
    notes = list(shared_notes(experiment))
    if measured:
        notes.append(spread_sentence(measured))
    limits = limits_of(experiment)
    if limits and any(cell_values(cell, "goodput_req_s") for cell in measured):
        notes.append(f"Goodput counts requests that kept {limits}.")
    if has_bold:
        notes.append(_BOLD_WORDS)
    if any(cell.extra.get(PARETO) for cell in experiment.cells):
        notes.append(_CHOICE_WORDS)
    return tuple(notes)
