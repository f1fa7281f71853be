"""Two experiments side by side as the window shows them: differences put into words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.experiments.difference import (
    CellPair,
    Changed,
    FigurePair,
    difference,
    too_few_sentences,
)
from app.experiments.experiment import Experiment
from app.experiments.history_lines import figure_row, shown_value, when_text
from app.history_entries import title_of
from widgets.experiments.comparison_sheet import ComparisonPair, ComparisonRow, ComparisonSheet

_NAMES = {
    "machine": "Machine",
    "engine": "Engine",
    "model": "Model",
    "model_path": "File",
    "model_sha256": "SHA-256",
    "model_bytes": "Size",
}


def comparison_of(first: Experiment, second: Experiment) -> ComparisonSheet:
    """Compare two experiments. Draws samples for the intervals: not on the GUI thread."""
    found = difference(first, second)
    return ComparisonSheet(
        first_key=first.key,
        second_key=second.key,
        first=title_of(first.title, first.subject.model) or str(first.kind),
        second=title_of(second.title, second.subject.model) or str(second.kind),
        first_when=_when(first),
        second_when=_when(second),
        cautions=found.cautions,
        about=_changes((*found.subject, *found.workload)),
        pairs=tuple(map(_pair, found.pairs)),
    )


# --- Inside -----------------------------------------------------------------------------


def _when(experiment: Experiment) -> str:
    told = (str(experiment.kind), experiment.subject.model, when_text(experiment.begun_at))
    return " · ".join(filter(None, told))


def _pair(pair: CellPair) -> ComparisonPair:
    is_same = pair.first == pair.second
    return ComparisonPair(
        name=pair.first if is_same else f"A {pair.first} / B {pair.second}",
        settings=_changes(pair.settings),
        figures=tuple(map(_figure, pair.figures)),
        sentences=too_few_sentences(pair.figures),
    )


def _figure(figure: FigurePair) -> ComparisonRow:
    name, first, second, unit = figure_row(figure)
    # What is claimed of none for want of runs is said once below.
    sentence = "" if figure.has_too_few_runs else figure.sentence
    return ComparisonRow(name, first, second, unit, figure.outcome, sentence)


def _changes(changes: Sequence[Changed]) -> tuple[ComparisonRow, ...]:
    return tuple(
        ComparisonRow(
            _NAMES.get(change.key, change.key),
            shown_value(change.key, change.first),
            shown_value(change.key, change.second),
        )
        for change in changes
    )
