"""Experiments are kept, found, tagged, deleted and brought back."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Kind, State
from app.experiments.history_connection import BIN_S
from app.experiments.history_query import Filter, Order
from app.experiments.history_store import HistoryStore
from app.storage.storage_error import StorageError
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment, figures, sweep

OLD = "20261101-080000-000001"
NEW = "20261130-110036-3f9a2c"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HistoryStore]:
    store = HistoryStore(tmp_path / "history")
    yield store
    store.close()


def keys(store: HistoryStore, **wanted: object) -> list[str]:
    return [row.key for row in store.listing(Filter(**wanted))]  # type: ignore[arg-type]


# --- Keeping and reading ----------------------------------------------------------------


def test_that_an_experiment_comes_back_as_it_was(tmp_path: Path) -> None:
    whole = experiment(
        cells=[
            cell(
                "slots=4",
                {"slots": 4, "cache_prompt": False, "temperature": 1.0, "spec_types": ("a", "b")},
                effective={"flash_attn": "on"},
                extra={"mean_kld": 0.0006},
                notes=("kept, since it was faster",),
            ),
            cell("slots=8", runs=0, skipped="8 slots do not fit."),
        ],
        conclusion=("4 slots.",),
        tags=("Laptop", "battery"),
        note="On battery.\nLid closed.",
    )
    first = HistoryStore(tmp_path / "history")
    first.keep(whole)
    first.close()
    second = HistoryStore(tmp_path / "history")
    assert second.experiment(whole.key) == whole
    assert isinstance(second.experiment(whole.key).cells[0].config["temperature"], float)
    second.close()


def test_that_a_row_tells_the_medians_of_the_best_cell(store: HistoryStore) -> None:
    made = sweep()
    store.keep(made)
    (row,) = store.listing()
    assert row.best == "slots=32"
    assert row.cells == 6
    assert row.runs == 30
    speeds = sorted(run.total_tok_s or 0.0 for run in made.cells[-1].runs)
    assert row.total_tok_s == speeds[2]
    assert row.model == SUBJECT.model
    assert row.model_sha256 == SUBJECT.model_sha256
    assert row.kind is Kind.SWEEP
    assert row.state is State.DONE


def test_that_an_experiment_without_runs_has_the_figures_it_has(store: HistoryStore) -> None:
    store.keep(
        experiment(cells=[cell("q8_0", runs=0, extra={"mean_kld": 0.002})], kind=Kind.QUALITY)
    )
    (row,) = store.listing()
    assert row.extra == {"mean_kld": 0.002}
    assert row.ttft_s is None
    assert (row.cells, row.runs) == (1, 0)


def test_that_a_later_part_replaces_the_earlier_one(store: HistoryStore) -> None:
    store.keep(experiment(cells=[], state=State.RUNNING))
    store.keep(experiment(cells=[cell("a")], state=State.RUNNING))
    store.keep(experiment(cells=[cell("a"), cell("b")]))
    (row,) = store.listing()
    assert (row.cells, row.state) == (2, State.DONE)
    assert len(store.experiment(NEW).cells) == 2


def test_that_tags_and_note_outlast_the_parts_that_follow(store: HistoryStore) -> None:
    store.keep(experiment(state=State.RUNNING, tags=("begun",)))
    store.set_tags(NEW, ["mine"])
    store.set_note(NEW, "Fan was on.")
    store.keep(experiment(tags=("begun",)))
    kept = store.experiment(NEW)
    assert (kept.tags, kept.note, kept.state) == (("mine",), "Fan was on.", State.DONE)
    assert keys(store, tag="MINE") == [NEW]
    assert keys(store, tag="begun") == []


def test_that_what_a_file_cannot_hold_is_left_out_and_the_rest_kept(store: HistoryStore) -> None:
    odd = experiment(
        title="caf\udce9",
        cells=[cell("a", extra={"mean_kld": math.nan, "p99_kld": 0.1})],
        subject=msgspec.structs.replace(SUBJECT, model_path="/models/\udcff.gguf"),
    )
    store.keep(odd)
    kept = store.experiment(NEW)
    assert kept.title == "caf\ufffd"
    assert kept.subject.model_path == "/models/\ufffd.gguf"
    assert kept.cells[0].extra == {"p99_kld": 0.1}
    assert kept.cells[0].runs == odd.cells[0].runs


def test_that_an_unknown_key_is_a_sentence(store: HistoryStore) -> None:
    for ask in (store.experiment, store.delete, store.restore):
        with pytest.raises(StorageError, match="There is no experiment 2026 in the history"):
            ask("2026")
    with pytest.raises(StorageError, match="There is no experiment"):
        store.set_note("2026", "text")
    with pytest.raises(StorageError, match="There is no experiment"):
        store.set_tags("2026", ["tag"])


# --- Lists ------------------------------------------------------------------------------


@pytest.fixture
def filled(store: HistoryStore) -> HistoryStore:
    store.keep(
        experiment(
            OLD,
            [cell("", {"cache_type_k": "q8_0"}, speed=2.0)],
            begun_at="2026-11-01T08:00:00+00:00",
            title="Überprüfung",
            subject=msgspec.structs.replace(SUBJECT, model="Qwen3 4B Q8_0"),
            tags=("KV", "night"),
            note="Plugged in.",
        )
    )
    store.keep(experiment(NEW, state=State.STOPPED, tags=("kv",)))
    store.keep(sweep("20261130-120000-aa00aa"))
    return store


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["20261130-120000-aa00aa", NEW, OLD]),
        ("ÜBERPRÜFUNG", [OLD]),
        ("uberpr", [OLD]),
        ("qwen", [OLD]),
        ("cache_type_k=q8_0", [OLD]),
        ("plugged night", [OLD]),
        ("plugged sweep", []),
        ("slots=32", ["20261130-120000-aa00aa"]),
        ("gemma bench", [NEW]),
        ("ryzen", ["20261130-120000-aa00aa", NEW, OLD]),
        ("100%", []),
        ("slots_1", []),  # no pattern: the sign stands for itself
        ("'; DROP TABLE experiments; --", []),
    ],
)
def test_that_every_word_must_stand_somewhere(
    filled: HistoryStore, text: str, found: list[str]
) -> None:
    assert keys(filled, text=text) == found


def test_that_a_note_is_found_by_its_new_words_only(filled: HistoryStore) -> None:
    filled.set_note(OLD, "On battery.")
    assert keys(filled, text="battery") == [OLD]
    assert keys(filled, text="plugged") == []


def test_that_filters_narrow_each_other(filled: HistoryStore) -> None:
    assert keys(filled, kinds=(Kind.SWEEP,)) == ["20261130-120000-aa00aa"]
    assert keys(filled, kinds=(Kind.SWEEP, Kind.BENCH)) == ["20261130-120000-aa00aa", NEW, OLD]
    assert keys(filled, states=(State.STOPPED,)) == [NEW]
    assert keys(filled, models=("Qwen3 4B Q8_0",)) == [OLD]
    assert keys(filled, tag="kv") == [NEW, OLD]
    assert keys(filled, tag="kv", kinds=(Kind.BENCH,), models=(SUBJECT.model,)) == [NEW]
    assert keys(filled, limit=1) == ["20261130-120000-aa00aa"]


def test_that_a_span_takes_its_beginning_and_not_its_end(filled: HistoryStore) -> None:
    begun = datetime(2026, 11, 1, 8, 0, 0, tzinfo=UTC)
    later = datetime(2026, 11, 30, 11, 0, 36, tzinfo=UTC)
    assert keys(filled, since=begun, until=later) == [OLD]
    assert OLD not in keys(filled, since=datetime(2026, 11, 1, 8, 0, 1, tzinfo=UTC))
    assert keys(filled, until=begun) == []


def test_that_a_list_is_ordered_by_any_figure_with_unknown_ones_last(filled: HistoryStore) -> None:
    filled.keep(experiment("20261201-000000-bbbbbb", [cell("q", runs=0)], title="a"))
    by_ttft = keys(filled, order=Order.TTFT, is_descending=False)
    assert by_ttft == ["20261130-120000-aa00aa", OLD, NEW, "20261201-000000-bbbbbb"]
    assert keys(filled, order=Order.TTFT)[-1] == "20261201-000000-bbbbbb"
    assert keys(filled, is_descending=False)[0] == OLD
    assert keys(filled, order=Order.TITLE, is_descending=False)[0] == "20261201-000000-bbbbbb"


def test_that_every_order_is_a_column(filled: HistoryStore) -> None:
    for order in Order:
        assert len(keys(filled, order=order)) == 3


def test_that_models_and_tags_are_told_for_a_choice(filled: HistoryStore) -> None:
    assert filled.models() == (SUBJECT.model, "Qwen3 4B Q8_0")
    assert filled.tags() == ("kv", "night")


# --- Tags -------------------------------------------------------------------------------


def test_that_tags_are_kept_once_and_on_one_line(store: HistoryStore) -> None:
    store.keep(experiment())
    assert store.set_tags(NEW, ["  two\nwords ", "Fast", "fast", "", "x" * 200]) == (
        "two words",
        "Fast",
        "x" * 60,
    )
    assert store.experiment(NEW).tags[0] == "two words"
    assert keys(store, tag="Two  Words") == [NEW]


# --- Deleting ---------------------------------------------------------------------------


def test_that_what_was_deleted_can_be_brought_back(filled: HistoryStore) -> None:
    before = filled.experiment(OLD)
    filled.delete(OLD)
    assert OLD not in keys(filled)
    assert keys(filled, is_of_bin=True) == [OLD]
    assert "Qwen3 4B Q8_0" not in filled.models()
    assert "night" not in filled.tags()
    filled.restore(OLD)
    assert OLD in keys(filled)
    assert filled.experiment(OLD) == before


def test_that_a_deleted_one_that_runs_on_stays_deleted_and_is_complete(
    store: HistoryStore,
) -> None:
    store.keep(experiment(cells=[], state=State.RUNNING))
    store.delete(NEW)
    store.keep(experiment(cells=[cell("a"), cell("b")]))
    assert keys(store) == []
    store.restore(NEW)
    assert len(store.experiment(NEW).cells) == 2


def test_that_the_bin_is_emptied_after_thirty_days(tmp_path: Path) -> None:
    now_s = 1_000_000.0
    first = HistoryStore(tmp_path, lambda: now_s)
    first.keep(experiment(OLD))
    first.keep(experiment(NEW))
    first.delete(OLD)
    first.close()
    early = HistoryStore(tmp_path, lambda: now_s + BIN_S - 1)
    assert keys(early, is_of_bin=True) == [OLD]
    early.close()
    late = HistoryStore(tmp_path, lambda: now_s + BIN_S + 1)
    assert keys(late, is_of_bin=True) == []
    assert keys(late) == [NEW]
    assert keys(late, tag="") == [NEW]
    with pytest.raises(StorageError, match="no experiment"):
        late.experiment(OLD)
    late.close()


# --- Keys -------------------------------------------------------------------------------


def test_that_a_part_of_a_key_is_enough_where_it_is_the_only_one(filled: HistoryStore) -> None:
    assert filled.resolve("20261101") == OLD
    assert filled.resolve(" 3f9a2c ") == NEW
    assert filled.resolve(NEW) == NEW
    with pytest.raises(StorageError, match="3 experiments begin or end with “2026”"):
        filled.resolve("2026")
    with pytest.raises(StorageError, match="No experiment of the history begins or ends with “x”"):
        filled.resolve("x")
    with pytest.raises(StorageError, match="named by its key"):
        filled.resolve(" ")


def test_that_a_whole_key_wins_over_longer_ones(store: HistoryStore) -> None:
    store.keep(experiment("a"))
    store.keep(experiment("ab"))
    assert store.resolve("a") == "a"


# --- Threads ----------------------------------------------------------------------------


def test_that_threads_keep_and_list_at_the_same_time(store: HistoryStore) -> None:
    failures: list[Exception] = []

    def fill(name: str) -> None:
        try:
            for number in range(20):
                store.keep(experiment(f"{name}-{number}", [cell("a", runs=1)]))
                store.listing()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=fill, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(store.listing()) == 60


def test_that_figures_of_zero_runs_do_not_stop_a_row(store: HistoryStore) -> None:
    none = figures(ttft_s=None, tpot_s=None, total_tok_s=None)
    store.keep(
        experiment(cells=[cell("a", runs=1), msgspec.structs.replace(cell("b"), runs=(none,))])
    )
    (row,) = store.listing()
    assert row.best == "a"
