"""Sheets of experiments of every kind and in every state."""

from __future__ import annotations

import time

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.measures import BY_FIGURE
from app.experiments.sweep_conclusion import concluded
from app.result_names import said_experiment
from app.result_sheets import sheet_of
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from tests import made_results
from widgets.experiments.result_sheet import Field, ResultSheet, Row


def row_named(sheet: ResultSheet, name: str) -> Row:
    return next(row for row in sheet.rows if row.name == name)


def field(sheet: ResultSheet, row: Row, key: str) -> Field:
    place = [column.key for column in sheet.columns].index(key)
    return row.fields[place]


@pytest.mark.parametrize("made", made_results.every_kind(), ids=lambda made: str(made.kind))
def test_that_every_kind_has_its_words_and_its_figures(made: Experiment) -> None:
    sheet = sheet_of(made)
    assert sheet.title == made.title
    said = " ".join(sheet.conclusion)
    whole = " ".join(said_experiment(made).conclusion)
    assert said == whole or made.kind is Kind.BENCH
    assert "=" not in said, "settings have the names of the window"
    assert ". " not in sheet.conclusion[0], "one sentence alone"
    assert made.subject.machine in sheet.subtitle
    assert made.subject.model in sheet.subtitle
    assert sheet.state_words == ""
    assert sheet.rows
    assert sheet.charts
    assert {row.cell for row in sheet.rows} <= set(range(len(made.cells)))
    for row in sheet.rows:
        assert len(row.fields) == len(sheet.columns)
    for chart in sheet.charts:
        for plot in chart.plots:
            points = [point for line in plot.lines for point in line.points]
            assert points, f"{chart.title}: {plot.title} is empty"
            assert all(0 <= point.cell < len(made.cells) for point in points)
            assert all(point.text for line in plot.lines if line.has_marks for point in line.points)


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("kind", list(Kind))
def test_that_an_empty_experiment_says_so(kind: Kind, state: State) -> None:
    made = made_results.experiment(kind, (), state=state, failure="It broke.")
    sheet = sheet_of(made)
    assert sheet.charts == ()
    assert sheet.rows == ()
    told = {
        State.RUNNING: "Running: the first figures appear after the warm-up and the first run.",
        State.FAILED: "Failed: It broke.",
    }
    assert sheet.state_words == told.get(state, "Nothing was measured.")


def test_that_a_running_sweep_shows_what_there_is() -> None:
    made = made_results.sweep(runs=1, state=State.RUNNING)
    first = made.cells[0]
    cells = [first, *(msgspec.structs.replace(c, runs=(), disturbed=()) for c in made.cells[1:])]
    sheet = sheet_of(msgspec.structs.replace(made, cells=tuple(cells)))
    assert sheet.state == "running"
    assert "may still change" in sheet.state_words
    assert len(sheet.rows) == len(made.cells)
    assert field(sheet, sheet.rows[1], "total_tok_s").text == "–"
    # Of a single measured configuration there is no curve.
    assert [chart.key for chart in sheet.charts] == ["prompts", "drafts"]


def test_that_one_that_was_cut_says_so_and_a_sweep_can_go_on() -> None:
    sheet = sheet_of(made_results.sweep(state=State.CUT))
    assert "The program ended in the middle" in sheet.state_words
    assert sheet.is_resumable
    assert not sheet_of(made_results.sweep()).is_resumable
    bench = msgspec.structs.replace(made_results.bench(), state=State.CUT)
    assert not sheet_of(bench).is_resumable


def test_that_figures_stand_as_the_command_line_prints_them() -> None:
    made = made_results.sweep()
    sheet = sheet_of(made)
    columns = {column.key: column for column in sheet.columns}
    assert columns["total_tok_s"].unit == "tok/s"
    assert columns["ttft_s"].unit == "ms"
    assert "all streams" in columns["total_tok_s"].tip
    total = field(sheet, sheet.rows[0], "total_tok_s")
    runs = sorted(run.total_tok_s or 0.0 for run in made.cells[0].runs)
    assert total.text.startswith(f"{runs[2]:.1f} ± ")
    assert total.number == runs[2]
    assert field(sheet, sheet.rows[0], "runs").text == "5"


def test_that_the_best_and_what_cannot_be_told_from_it_look_alike() -> None:
    sheet = sheet_of(made_results.sweep())
    standings = [field(sheet, row, "total_tok_s").standing for row in sheet.rows]
    assert standings.count("best") == 1
    assert "worse" in standings
    chart = next(chart for chart in sheet.charts if chart.key == "speed:slots")
    hollow = {p.cell for line in chart.plots[0].lines for p in line.points if p.is_hollow}
    worse = {row.cell for row, word in zip(sheet.rows, standings, strict=True) if word == "worse"}
    assert hollow == worse
    assert "Bold: the best of a column" in " ".join(sheet.notes)


def test_that_one_run_each_makes_nobody_best() -> None:
    sheet = sheet_of(made_results.sweep(runs=1))
    assert {f.standing for row in sheet.rows for f in row.fields} == {""}
    chart = next(chart for chart in sheet.charts if chart.key == "speed:slots")
    points = [point for plot in chart.plots for line in plot.lines for point in line.points]
    assert not any(point.is_hollow for point in points)
    assert all(point.low is None for point in points), "one run has no spread"


def test_that_what_was_not_measured_has_its_reason_and_cannot_be_applied() -> None:
    sheet = sheet_of(made_results.sweep())
    skipped = [row for row in sheet.rows if row.skipped]
    assert len(skipped) == 1
    assert "1.4 GiB are missing" in skipped[0].skipped
    assert skipped[0].config == {}
    assert skipped[0].settings, "but what it would have been is told"


def test_that_one_given_up_later_keeps_its_figures() -> None:
    made = made_results.sweep()
    told = "Given up after 5 runs: the engine died."
    cell = msgspec.structs.replace(made.cells[0], skipped=told)
    sheet = sheet_of(msgspec.structs.replace(made, cells=(cell, *made.cells[1:])))
    assert sheet.rows[0].skipped == ""
    assert told in sheet.rows[0].notes
    assert field(sheet, sheet.rows[0], "total_tok_s").number is not None


def test_that_disturbances_are_counted_and_told() -> None:
    sheet = sheet_of(made_results.bench())
    assert sheet.disturbances[0] == "1 of 5 runs was disturbed (* in the table):"
    assert sheet.disturbances[1] == f"Run 3: {made_results.DISTURBED}"
    cell = made_results.bench(runs=12).cells[0]
    cell = msgspec.structs.replace(cell, disturbed=(made_results.DISTURBED,) * 12)
    many = sheet_of(made_results.experiment(Kind.BENCH, [cell])).disturbances
    assert many[0].startswith("12 of 12 runs were disturbed")
    assert many[-1] == "and 6 more."
    assert len(many) == 8


def test_that_a_bench_has_a_row_for_each_figure() -> None:
    sheet = sheet_of(made_results.bench())
    assert not sheet.is_sortable
    assert [column.title for column in sheet.columns] == [
        "Figure", "Median", "±", "Lowest", "Highest", "Unit",
    ]  # fmt: skip
    ttft = next(row for row in sheet.rows if row.fields[0].text == "TTFT")
    assert ttft.fields[5].text == "ms"
    assert [row.fields[0].text for row in sheet.rows][-2:] == ["Allocated memory", "Mapped weights"]
    single = sheet_of(made_results.bench(runs=1))
    assert single.rows[0].fields[2].text == "–", "one run has no spread"


def test_that_a_bench_begins_with_its_figures() -> None:
    (said,) = sheet_of(made_results.bench()).conclusion
    assert said.startswith("Total throughput 52.")
    assert "tok/s, TTFT 19" in said
    assert said.endswith(" ms: the median of 5 runs ± their spread.")
    (single,) = sheet_of(made_results.bench(runs=1)).conclusion
    assert single.endswith(": one run.")
    assert "±" not in single


def test_that_a_sweep_has_a_column_for_each_of_its_settings() -> None:
    sheet = sheet_of(made_results.sweep())
    assert sheet.name_columns == 3
    assert [(column.title, column.unit) for column in sheet.columns[:3]] == [
        ("Parallel slots", ""), ("Context per slot", "tok"), ("KV cache", ""),
    ]  # fmt: skip
    assert [field.text for field in sheet.rows[1].fields[1:3]] == ["2,048", "q8_0"]
    assert sheet.rows[1].fields[0].text.startswith("1")
    assert sheet.rows[3].fields[0].text.endswith(" *"), "one of its runs was disturbed"
    assert sheet.rows[3].fields[0].number == 1.0
    assert sheet_of(made_results.tune()).name_columns == 1


def test_that_what_is_said_of_all_is_said_once() -> None:
    sheet = sheet_of(made_results.sweep())
    assert made_results.PEAK in sheet.notes
    assert all(made_results.PEAK not in row.notes for row in sheet.rows)
    tuned = sheet_of(made_results.tune())
    assert "7 % more, kept." in row_named(tuned, "8 slots, Micro-batch 1,024 tok").notes


def test_that_users_have_the_columns_of_their_table() -> None:
    sheet = sheet_of(made_results.users())
    assert [column.title for column in sheet.columns][:4] == ["Users", "Kept", "Between", "Of"]
    assert [row.fields[0].text for row in sheet.rows] == ["1", "2", "4", "8", "12"]
    assert [row.fields[0].number for row in sheet.rows] == [1.0, 2.0, 4.0, 8.0, 12.0]
    assert sheet.rows[3].fields[1].text == "10"
    assert "Goodput counts requests that kept" in " ".join(sheet.notes)


def test_that_caches_have_their_figures_with_errors() -> None:
    sheet = sheet_of(made_results.quality())
    q8 = row_named(sheet, "q8_0/q8_0")
    assert field(sheet, q8, "mean KLD").text == "0.001100 ± 0.000092"
    assert field(sheet, q8, "mean KLD").number == pytest.approx(0.0011)
    assert field(sheet, q8, "KV cache").number == pytest.approx(76.5)
    assert field(sheet, q8, "facts recalled").text == "18 of 20"
    assert q8.config == {"cache_type_k": "q8_0", "cache_type_v": "q8_0", "flash_attn": "auto"}
    refused = row_named(sheet, "f16/q8_0, Flash attention off")
    assert refused.skipped == "A quantised V cache needs flash attention."


def test_that_a_tuners_steps_say_what_became_of_them() -> None:
    sheet = sheet_of(made_results.tune())
    outcomes = [field(sheet, row, "outcome").text for row in sheet.rows]
    assert outcomes == ["kept", "kept", "dropped", "dropped", "best", "dropped", ""]


def test_that_a_tuners_steps_are_told_in_their_order() -> None:
    steps = sheet_of(made_results.tune()).steps
    assert steps[0] == "+ Start: 88.0 tok/s in total."
    assert steps[2] == "− No more than the spread, dropped."
    assert len(steps) == 6
    assert sheet_of(made_results.sweep()).steps == ()


def test_that_what_is_applied_makes_the_engine_run_as_it_did() -> None:
    sheet = sheet_of(made_results.tune())
    best = row_named(sheet, "8 slots, Micro-batch 1,024 tok")
    other = EngineConfig(slots=2, threads=1, temperature=0.3, model_path="/m.gguf")
    applied = other.with_values(dict(best.config))
    assert applied == EngineConfig(
        slots=8, ubatch_tok=1024, temperature=0.3, model_path="/m.gguf"
    ), "all else goes back to its default, but for the model and how answers are drawn"


def test_that_how_answers_are_drawn_is_never_applied() -> None:
    config: dict[str, Value] = {"temperature": 0.1, "slots": 2, "lora": "x.gguf"}
    cell = made_results.cell("slots=2", config, [made_results.run(50.0, 2, 1)])
    row = sheet_of(made_results.experiment(Kind.TUNE, [cell, cell])).rows[0]
    assert row.config["slots"] == 2
    assert not {"temperature", "lora", "model_path"} & set(row.config)


def test_that_a_server_has_nothing_to_apply() -> None:
    sheet = sheet_of(made_results.probe())
    assert sheet.rows[0].config == {}
    assert sheet.rows[1].config["slots"] == 1


def test_that_settings_are_told_in_words_with_what_was_made_of_them() -> None:
    settings = dict(sheet_of(made_results.bench()).rows[0].settings)
    assert settings["Parallel slots"] == "1"
    assert settings["Threads, decode"] == "auto → 2"
    assert settings["Flash attention"] == "auto → on"


def test_that_settings_of_another_version_are_told_and_not_applied() -> None:
    cell = made_results.cell("novel=3", {"novel": 3, "slots": 2}, [made_results.run(50.0, 2, 1)])
    sheet = sheet_of(made_results.experiment(Kind.TUNE, [cell, cell]))
    assert ("novel", "3") in sheet.rows[0].settings
    assert "novel" not in sheet.rows[0].config
    assert sheet.rows[0].config["slots"] == 2


@pytest.mark.parametrize("begun_at", ["once", "9999-12-31T23:59:59-12:00"])
def test_that_a_time_that_no_clock_knows_is_shown_as_it_is(begun_at: str) -> None:
    made = msgspec.structs.replace(made_results.bench(), begun_at=begun_at)
    assert f" · {begun_at} · " in sheet_of(made).subtitle


def test_that_two_hundred_configurations_are_a_matter_of_moments() -> None:
    made = made_results.large()
    assert len(made.cells) == 200
    begun_s = time.process_time()
    sheet = sheet_of(made)
    assert len(sheet.rows) == 200
    # With an interval for each figure it would be ten seconds, after every run of a sweep.
    assert time.process_time() - begun_s < 4


def test_that_of_configurations_that_are_alike_none_is_called_best() -> None:
    runs = [made_results.run(52.0, 1, seed) for seed in range(3)]
    cells = [made_results.cell(f"slots={n}", {"slots": n}, runs) for n in (1, 2)]
    made = concluded(
        made_results.experiment(Kind.SWEEP, cells, conclusion=()), BY_FIGURE["user_tok_s"]
    )
    sheet = sheet_of(made)
    assert sheet.conclusion[0] == (
        "No configuration can be told from the others in speed per user."
    )
    assert sheet.conclusion[1].startswith("Best median: ")
    assert "Best in" not in " ".join(sheet.conclusion)


def test_that_columns_that_say_less_give_way_first() -> None:
    sheet = sheet_of(made_results.sweep())
    ranks = {column.key: column.rank for column in sheet.columns}
    assert ranks["total_tok_s"] == 0
    assert ranks["user_tok_s"] < ranks["owned_bytes"] < ranks["itl_p99_s"] < ranks["runs"]
    assert all(column.rank == 0 for column in sheet.columns[: sheet.name_columns])


def test_that_a_column_is_in_the_unit_of_its_medians() -> None:
    one = made_results.run(1.5, 1, 0)
    runs = [msgspec.structs.replace(one, itl_p99_s=value_s) for value_s in (0.88, 0.89, 1.6)]
    cells = [made_results.cell(f"slots={n}", {"slots": n}, runs) for n in (1, 2)]
    sheet = sheet_of(made_results.experiment(Kind.SWEEP, cells))
    column = next(column for column in sheet.columns if column.key == "itl_p99_s")
    assert column.unit == "ms"
