"""Two experiments side by side as the window shows them: differences put into words. Pure."""

from __future__ import annotations

import math
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
from app.experiments.measures import BY_FIGURE
from app.experiments.scales import label_of
from app.experiments.sweep_conclusion import PARETO
from app.history_entries import title_of
from app.result_names import said, setting_label
from engine_bridge.settings.table import BY_KEY
from widgets.experiments.comparison_sheet import ComparisonPair, ComparisonRow, ComparisonSheet

_NAMES = {
    "machine": "Machine",
    "engine": "Engine",
    "model": "Model",
    "model_path": "File",
    "model_sha256": "SHA-256",
    "model_bytes": "Size",
}

_WHOLE = 100.0


def comparison_of(first: Experiment, second: Experiment) -> ComparisonSheet:
    """Compare two experiments. Draws samples for the intervals: not on the GUI thread."""
    found = difference(first, second)
    counts = [sum(1 for c in each.cells if c.runs or c.extra) for each in (first, second)]
    return ComparisonSheet(
        first_key=first.key,
        second_key=second.key,
        first=said(title_of(first.title, first.subject.model)) or str(first.kind),
        second=said(title_of(second.title, second.subject.model)) or str(second.kind),
        first_when=_when(first),
        second_when=_when(second),
        cautions=found.cautions,
        about=_changes((*found.subject, *found.workload)),
        pairs=tuple(_pair(pair, counts) for pair in found.pairs),
    )


# --- Inside -----------------------------------------------------------------------------


def _when(experiment: Experiment) -> str:
    told = (str(experiment.kind), experiment.subject.model, when_text(experiment.begun_at))
    return " · ".join(filter(None, told))


def _pair(pair: CellPair, counts: Sequence[int]) -> ComparisonPair:
    is_same = pair.first == pair.second
    first, second = said(pair.first), said(pair.second)
    shown = [figure for figure in pair.figures if figure.key != PARETO]
    common = [figure for figure in shown if not _is_of_one(figure)]
    alone = [sentence for figure in shown if (sentence := _alone(figure))]
    which = f"{_of('A', first, counts[0])} {_of('B', second, counts[1])}"
    return ComparisonPair(
        name=first if is_same else f"A {first} / B {second}",
        about="" if max(counts) < 2 or is_same else which,
        settings=_changes(pair.settings),
        figures=tuple(map(_figure, shown)),
        sentences=(*too_few_sentences(common), *alone),
    )


def _of(letter: str, name: str, count: int) -> str:
    """Which row of an experiment is compared."""
    return f"{letter}: {name}{f', one of {count:,} configurations' if count > 1 else ''}."


def _is_of_one(figure: FigurePair) -> bool:
    return (figure.first is None) != (figure.second is None)


def _alone(figure: FigurePair) -> str:
    """That a figure of runs is known of one only, so that nothing is compared."""
    if not _is_of_one(figure) or figure.runs is None:
        return ""
    letter = "B" if figure.first is None else "A"
    return f"{label_of(BY_FIGURE[figure.key])} was measured in {letter} only."


def _figure(figure: FigurePair) -> ComparisonRow:
    name, first, second, unit = figure_row(figure)
    # What is claimed of none for want of runs is said once below.
    sentence = "" if figure.has_too_few_runs else figure.sentence
    return ComparisonRow(name, first, second, unit, figure.outcome, sentence, _change(figure))


def _change(figure: FigurePair) -> str:
    """How much more or less B has than A, in per cent; empty where that cannot be said."""
    if not figure.first or figure.second is None:
        return ""
    percent = 100 * (figure.second / figure.first - 1)
    if not math.isfinite(percent):
        return ""
    text = f"{abs(percent):,.{0 if abs(percent) >= _WHOLE else 1}f} %"
    sign = "" if text in ("0.0 %", "0 %") else "+" if percent > 0 else "−"
    return f"{sign}{text}"


def _value(key: str, value: object) -> str:
    """A setting's number with its thousands apart, anything else as the history has it."""
    if key in BY_KEY and isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return shown_value(key, value)


def _changes(changes: Sequence[Changed]) -> tuple[ComparisonRow, ...]:
    return tuple(
        ComparisonRow(
            _NAMES.get(change.key) or setting_label([change.key]),
            _value(change.key, change.first),
            _value(change.key, change.second),
            BY_KEY[change.key].unit if change.key in BY_KEY else "",
        )
        for change in changes
    )
