"""Two experiments side by side: which settings differ, and whether their figures do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from app.experiments.experiment import Cell, Experiment, Subject
from app.experiments.extra_figures import ERROR
from app.experiments.history_rows import best_cell
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.scales import cell_values
from app.experiments.spread import LEAST_RUNS, summary
from app.experiments.tables import keys_of
from app.experiments.verdict import too_few_sentence, verdict_of_runs
from engine_bridge.settings.config import EngineConfig

COMPARED = (
    "ttft_s", "tpot_s", "itl_p99_s", "prefill_tok_s", "total_tok_s", "goodput_req_s", "mbu",
    "owned_bytes", "acceptance",
)  # fmt: skip
"""Figures that are set side by side, in this order."""

_SUBJECT_WORDS = {
    "machine": "machines",
    "engine": "engines",
    "model": "models",
    "model_sha256": "model files",
}
_DEFAULTS = EngineConfig().values()


class Changed(msgspec.Struct, frozen=True):
    """Something that is not the same in both.

    Attributes:
        key: Of the setting, or the field of the subject or the workload.
        first: Its value in the first; None where it has none.
        second: Its value in the second.
    """

    key: str
    first: Any
    second: Any


class FigurePair(msgspec.Struct, frozen=True):
    """A figure of both.

    Attributes:
        key: Field of ``Figures``, or name of an extra figure.
        first: Median over the runs of the first; None if it has none.
        first_spread: Its spread, in the figure's unit; of extra figures the standard error.
        second: Median of the second.
        second_spread: Its spread.
        outcome: What is claimed of the second: better, worse, none, unknown.
        sentence: The claim with its interval; empty for extra figures, which have no runs.
        runs: Runs that have it, of the one with fewer of them; None for extra figures.
    """

    key: str
    first: float | None
    first_spread: float | None
    second: float | None
    second_spread: float | None
    outcome: str = "unknown"
    sentence: str = ""
    runs: int | None = None

    @property
    def has_too_few_runs(self) -> bool:
        """Whether nothing is claimed for want of runs."""
        return self.runs is not None and self.runs < LEAST_RUNS


class CellPair(msgspec.Struct, frozen=True):
    """A configuration of the first and one of the second.

    Attributes:
        first: Name of the first.
        second: Name of the second.
        settings: What differs between them, as the engine ran it.
        figures: Side by side.
    """

    first: str
    second: str
    settings: tuple[Changed, ...]
    figures: tuple[FigurePair, ...]


class Difference(msgspec.Struct, frozen=True):
    """Two experiments.

    Attributes:
        first: Key of the first.
        second: Key of the second.
        subject: What differs in what was measured.
        workload: What differs in the work.
        cautions: Sentences: why the figures may not be comparable.
        pairs: Configurations that are compared.
    """

    first: str
    second: str
    subject: tuple[Changed, ...]
    workload: tuple[Changed, ...]
    cautions: tuple[str, ...]
    pairs: tuple[CellPair, ...]


def difference(first: Experiment, second: Experiment) -> Difference:
    """Compare two experiments.

    Configurations of the same name are compared; where there are none, the only ones of both, or
    else the best of each.
    """
    subject = _changed(
        msgspec.structs.asdict(first.subject), msgspec.structs.asdict(second.subject),
        keys=Subject.__struct_fields__,
    )  # fmt: skip
    workload = _changed(_workload(first), _workload(second))
    cells, sentence = _paired(first, second)
    cautions = [
        f"They ran on different {_SUBJECT_WORDS[change.key]}: what differs need not come from the "
        "settings."
        for change in subject
        if change.key in _SUBJECT_WORDS and change.first and change.second
    ]
    if workload:
        names = ", ".join(change.key for change in workload)
        cautions.append(f"They did different work ({names}): figures are those of the work too.")
    cautions += [sentence] if sentence else []
    cautions += _disturbances(cells)
    return Difference(
        first.key,
        second.key,
        subject,
        workload,
        tuple(cautions),
        tuple(_cell_pair(mine, theirs) for mine, theirs in cells),
    )


def too_few_sentences(figures: Sequence[FigurePair]) -> tuple[str, ...]:
    """For want of runs nothing is claimed of these: a sentence for all with as many of them."""
    labels: dict[int, list[str]] = {}
    for figure in figures:
        if figure.has_too_few_runs:
            labels.setdefault(figure.runs or 0, []).append(BY_FIGURE[figure.key].label)
    return tuple(
        too_few_sentence(count, "runs", LEAST_RUNS, named) for count, named in labels.items()
    )


# --- Inside -----------------------------------------------------------------------------


def _paired(first: Experiment, second: Experiment) -> tuple[list[tuple[Cell, Cell]], str]:
    """Cells to be compared, and a sentence on those that are not."""
    mine, theirs = _measured(first), _measured(second)
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])], ""
    by_name = {cell.name: cell for cell in theirs}
    common = [(cell, by_name[cell.name]) for cell in mine if cell.name in by_name]
    if common:
        left = len(mine) + len(theirs) - 2 * len(common)
        if not left:
            return common, ""
        noun = "configuration is" if left == 1 else "configurations are"
        return common, f"{left} {noun} in one of them only and not compared."
    best, their_best = best_cell(first), best_cell(second)
    if best is None or their_best is None:
        return [], "One of them has no figures: nothing was measured in it."
    return [(best, their_best)], (
        "They have no configuration in common: the one with the highest throughput of each is "
        "compared."
    )


def _measured(experiment: Experiment) -> list[Cell]:
    return [cell for cell in experiment.cells if cell.runs or cell.extra]


def _cell_pair(first: Cell, second: Cell) -> CellPair:
    keys = keys_of([first, second])
    figures = [_figure_pair(BY_FIGURE[key], first, second) for key in COMPARED if key in keys]
    extra, other = first.extra, second.extra
    figures += [
        FigurePair(
            name, extra.get(name), extra.get(name + ERROR), other.get(name), other.get(name + ERROR)
        )
        for name in dict.fromkeys((*extra, *other))
        if not name.endswith(ERROR)
    ]
    settings = _changed(_ran(first), _ran(second), without=("model_path",))
    return CellPair(first.name, second.name, settings, tuple(figures))


def _ran(cell: Cell) -> dict[str, Any]:
    """Settings as the engine ran them, defaults included where one is known."""
    return {**_DEFAULTS, **cell.config, **cell.effective}


def _figure_pair(measure: Measure, first: Cell, second: Cell) -> FigurePair:
    values, others = cell_values(first, measure.key), cell_values(second, measure.key)
    mine, theirs = summary(values), summary(others)
    verdict = verdict_of_runs(values, others, measure)
    return FigurePair(
        measure.key,
        None if mine is None else mine.median,
        None if mine is None else mine.spread,
        None if theirs is None else theirs.median,
        None if theirs is None else theirs.spread,
        str(verdict.outcome),
        verdict.sentence,
        min(_known(values), _known(others)),
    )


def _known(values: Sequence[float | None]) -> int:
    """How many of them a verdict can use, see ``verdict_of_runs``."""
    return sum(value is not None and value > 0 for value in values)


def _changed(
    first: dict[str, Any],
    second: dict[str, Any],
    *,
    keys: Iterable[str] = (),
    without: Sequence[str] = (),
) -> tuple[Changed, ...]:
    return tuple(
        Changed(key, first.get(key), second.get(key))
        for key in tuple(keys) or dict.fromkeys((*first, *second))
        if key not in without and first.get(key) != second.get(key)
    )


def _workload(experiment: Experiment) -> dict[str, Any]:
    """Its fields; of text that is no JSON object the text itself."""
    if not experiment.workload:
        return {}
    try:
        fields = msgspec.json.decode(experiment.workload)
    except msgspec.DecodeError:
        fields = None
    return fields if isinstance(fields, dict) else {"workload": experiment.workload}


def _disturbances(cells: Sequence[tuple[Cell, Cell]]) -> list[str]:
    count = sum(bool(said) for pair in cells for cell in pair for said in cell.disturbed)
    if not count:
        return []
    runs = "1 run was" if count == 1 else f"{count} runs were"
    return [f"{runs} disturbed, as its experiment says: a difference may come from that."]
