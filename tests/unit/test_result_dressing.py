"""Sheets with what the history knows besides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Experiment
from app.experiments.history_store import HistoryStore
from app.result_dressing import dressed_sheet
from tests import made_results


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HistoryStore]:
    made = HistoryStore(tmp_path)
    yield made
    made.close()


def plots_of_memory(store: HistoryStore, experiment: Experiment) -> list[str]:
    charts = dressed_sheet(store, experiment).charts
    return [plot.title for chart in charts if chart.key == "memory" for plot in chart.plots]


def test_that_the_quality_of_caches_comes_from_the_history(store: HistoryStore) -> None:
    made = made_results.sweep()
    assert plots_of_memory(store, made) == ["Aggregate, all streams", "Per user"]
    store.keep(made_results.quality())
    store.flush()
    assert plots_of_memory(store, made) == ["Aggregate, all streams", "Per user", "Quality"]


def test_that_another_file_of_the_same_name_is_another_model(store: HistoryStore) -> None:
    known = made_results.quality()
    subject = msgspec.structs.replace(known.subject, model_sha256="ff" * 32)
    store.keep(msgspec.structs.replace(known, subject=subject))
    store.flush()
    assert len(plots_of_memory(store, made_results.sweep())) == 2


def test_that_a_history_that_cannot_be_read_takes_no_result_away(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    broken = HistoryStore(tmp_path / "file")
    assert len(plots_of_memory(broken, made_results.sweep())) == 2
