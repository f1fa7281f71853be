"""Sheets of results with what else the history knows: the quality that KV caches of a sweep cost.

Reads the file; not for the GUI thread.
"""

from __future__ import annotations

from app.experiments.experiment import Experiment, Kind
from app.experiments.history_query import Filter
from app.experiments.history_store import HistoryStore
from app.result_known_quality import has_several_caches
from app.result_sheets import sheet_of
from app.storage.storage_error import StorageError
from widgets.experiments.result_sheet import ResultSheet

_VARYING = (Kind.SWEEP, Kind.TUNE)
# The newest say enough, and the history may hold hundreds.
_MOST_READ = 5


def dressed_sheet(store: HistoryStore, experiment: Experiment) -> ResultSheet:
    """All that is shown of ``experiment``.

    Args:
        store: The history it may be in.
        experiment: Of any kind, in any state.
    """
    return sheet_of(experiment, _quality_experiments(store, experiment))


def _quality_experiments(store: HistoryStore, experiment: Experiment) -> tuple[Experiment, ...]:
    """Experiments on KV caches of a model of that name, the newest first."""
    model = experiment.subject.model
    if experiment.kind not in _VARYING or not model or not has_several_caches(experiment.cells):
        return ()
    wanted = Filter(kinds=(Kind.QUALITY,), models=(model,), limit=_MOST_READ)
    try:
        return tuple(store.experiment(row.key) for row in store.listing(wanted))
    except StorageError:
        return ()  # its own figures are there, and the list says what is wrong with the file
