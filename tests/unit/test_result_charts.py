"""Charts of results: which there are, what stands on their axes, and what is left out."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, RunDetail
from app.result_axes import varied_of
from app.result_charts import charts_of
from tests import made_results
from widgets.experiments.result_sheet import Chart, Plot


def chart_named(made: Experiment, key: str) -> Chart:
    return next(chart for chart in charts_of(made) if chart.key == key)


def keys(made: Experiment) -> list[str]:
    return [chart.key for chart in charts_of(made)]


def points(plot: Plot) -> list[tuple[float, float]]:
    return [(point.x, point.y) for line in plot.lines for point in line.points]


def test_that_each_kind_has_its_charts() -> None:
    assert keys(made_results.bench()) == ["runs", "prompts", "drafts"]
    assert keys(made_results.sweep()) == [
        "speed:slots", "speed:ctx_per_slot_tok", "speed:cache_type_k+cache_type_v", "memory",
        "prompts", "drafts",
    ]  # fmt: skip
    assert keys(made_results.compare()) == ["runs"]
    assert keys(made_results.users()) == ["speed:users", "goodput", "waiting"]
    assert keys(made_results.tune()) == ["path", "memory"]
    assert keys(made_results.quality()) == ["costs", "depths", "recall"]
    assert keys(made_results.probe()) == ["runs"]


def test_that_the_aggregate_stands_beside_the_speed_of_each() -> None:
    chart = chart_named(made_results.sweep(contexts=(2048,), caches=("f16", "q8_0")), "speed:slots")
    assert [plot.title for plot in chart.plots] == ["Aggregate, all streams", "Per user"]
    for plot in chart.plots:
        assert [line.name for line in plot.lines] == [
            "KV cache f16", "KV cache q8_0",
        ]  # fmt: skip
        assert plot.x.is_log
        assert plot.y.unit == "tok/s"
    total = [point.y for point in chart.plots[0].lines[0].points]
    each = [point.y for point in chart.plots[1].lines[0].points]
    assert total == sorted(total)
    assert each == sorted(each, reverse=True)


def test_that_the_knee_is_marked_and_said() -> None:
    made = made_results.sweep(contexts=(2048,), caches=("f16", "q8_0"), slots=(1, 2, 4, 8, 16))
    chart = chart_named(made, "speed:slots")
    assert "Knee at 4 slots" in chart.said
    assert chart.said.startswith("KV cache f16: "), "of which line it is said"
    for plot in chart.plots:
        assert [(mark.at, mark.text, mark.is_upright) for mark in plot.marks] == [
            (4.0, "knee", True)
        ]
    users = chart_named(made_results.users(counts=(1, 2, 4)), "speed:users")
    assert "No knee up to 4 users" in users.said
    assert not users.plots[0].marks


def test_that_points_carry_their_spread_and_their_figures() -> None:
    made = made_results.sweep()
    point = chart_named(made, "speed:slots").plots[0].lines[0].points[0]
    assert point.low is not None
    assert point.high is not None
    assert point.low < point.y < point.high
    lines = point.text.splitlines()
    assert lines[0] == made.cells[point.cell].name
    assert lines[1].startswith("Total throughput ")
    assert lines[1].endswith(" tok/s")
    assert lines[-1] == "5 runs"


def test_that_settings_that_change_together_are_one_axis() -> None:
    made = made_results.sweep()
    cells = {place: cell for place, cell in enumerate(made.cells) if cell.runs}
    found = varied_of(cells)
    assert [one.name for one in found] == [
        "slots", "ctx_per_slot_tok", "cache_type_k+cache_type_v",
    ]  # fmt: skip
    assert found[2].label == "KV cache"
    assert found[2].words(1) == "KV cache q8_0"
    axis, columns = found[2].axis()
    assert axis.names == ("f16", "q8_0")
    assert (columns[0], columns[1]) == (0.0, 1.0)


def test_that_a_setting_that_one_of_them_leaves_alone_has_its_default() -> None:
    cells = {
        0: made_results.cell("defaults", {}, []),
        1: made_results.cell("slots=8", {"slots": 8}, []),
    }
    assert dict(varied_of(cells)[0].values) == {0: 4, 1: 8}


def test_that_of_many_lines_the_fastest_are_shown_and_that_is_said() -> None:
    made = made_results.sweep(contexts=(1024, 2048, 4096, 8192), caches=("f16", "q8_0", "q4_0"))
    chart = chart_named(made, "speed:slots")
    assert len(chart.plots[0].lines) == 6
    assert "The 6 of 12 lines" in chart.note


def test_that_goodput_and_its_share_stand_against_the_load() -> None:
    chart = chart_named(made_results.users(), "goodput")
    share, goodput = chart.plots
    assert share.y.words == "Requests, %"
    assert points(share)[0] == (1.0, 100.0)
    assert points(share)[3][1] == pytest.approx(10.0)
    at_four = share.lines[0].points[2]
    assert at_four.low is not None
    assert 90 < at_four.low < 92, "Wilson's interval of 40 of 40"
    assert goodput.y.unit == "req/s"
    assert "TTFT" in chart.note


def test_that_the_limit_stands_in_the_chart_of_waiting() -> None:
    chart = chart_named(made_results.users(), "waiting")
    (mark,) = chart.plots[0].marks
    assert mark.is_limit
    assert not mark.is_upright
    assert mark.at * (1 if chart.plots[0].y.unit == "s" else 1e-3) == pytest.approx(1.0)


def test_that_memory_is_what_was_allocated_where_that_is_known() -> None:
    made = made_results.sweep()
    chart = chart_named(made, "memory")
    assert "what the engine allocated" in chart.note
    place = chart.plots[0].lines[0].points[0].cell
    mib = made.cells[place].extra["allocated_memory_bytes"] / 2**20
    assert points(chart.plots[0])[0][0] == pytest.approx(mib)
    bare = [
        msgspec.structs.replace(cell, extra={k: v for k, v in cell.extra.items() if k == "pareto"})
        for cell in made.cells
    ]
    without = msgspec.structs.replace(made, cells=tuple(bare))
    assert "most private memory" in chart_named(without, "memory").note


def test_that_what_is_worth_a_choice_is_filled() -> None:
    made = made_results.sweep()
    chart = chart_named(made, "memory")
    filled = {p.cell for p in chart.plots[0].lines[0].points if not p.is_hollow}
    assert filled == {place for place, cell in enumerate(made.cells) if cell.extra.get("pareto")}
    assert filled


def test_that_equal_memory_is_no_choice() -> None:
    made = made_results.sweep(contexts=(2048,), caches=("f16",))
    extra = {"allocated_memory_bytes": 3e8}
    same = [msgspec.structs.replace(cell, extra=extra) for cell in made.cells]
    assert "memory" not in keys(msgspec.structs.replace(made, cells=tuple(same)))


def test_that_ttft_grows_with_the_prompt() -> None:
    plot = chart_named(made_results.bench(), "prompts").plots[0]
    assert plot.x.is_log
    found = points(plot)
    assert [x for x, _ in found] == [64.0, 128.0, 256.0, 512.0, 1024.0]
    assert [y for _, y in found] == sorted(y for _, y in found)
    point = plot.lines[0].points[-1]
    assert point.low is not None
    assert "1,024 prompt tokens computed" in point.text
    assert "20 requests in 5 runs" in point.text


def test_that_prompts_of_one_length_are_no_curve() -> None:
    made = made_results.bench()
    detail = RunDetail(ttft_by_prompt=((256.0, 0.2, 8),))
    runs = tuple(msgspec.structs.replace(run, detail=detail) for run in made.cells[0].runs)
    cell = msgspec.structs.replace(made.cells[0], runs=runs)
    assert keys(made_results.experiment(Kind.BENCH, [cell])) == ["runs"]


def test_that_acceptance_falls_with_the_position() -> None:
    plot = chart_named(made_results.bench(), "drafts").plots[0]
    assert [x for x, _ in points(plot)] == [1.0, 2.0, 3.0, 4.0]
    shares = [82.0, 100 * 121 / 180, 100 * 80 / 150, 40.0]
    assert [y for _, y in points(plot)] == pytest.approx(shares)
    first = plot.lines[0].points[0]
    assert "accepted 820 of 1,000 (82 %)" in first.text, "of all five runs together"
    assert first.low is not None
    assert 79 < first.low < 80


def test_that_runs_stand_in_their_order_and_disturbed_ones_are_outlined() -> None:
    chart = chart_named(made_results.compare(), "runs")
    total = chart.plots[0]
    assert [line.name for line in total.lines] == ["A: threads=1", "B: threads=2"]
    assert [point.x for point in total.lines[0].points] == [float(n) for n in range(1, 9)]
    assert [point.is_hollow for point in total.lines[1].points].index(True) == 3
    assert made_results.DISTURBED in total.lines[1].points[3].text
    assert "Outlined: something disturbed it." in chart.note
    assert not any(line.is_joined for line in total.lines), "repeats are no trend"
    assert total.y.starts_at_zero
    assert "The scale of TTFT does not begin at zero." in chart.note


def test_that_the_scale_of_runs_begins_at_zero_unless_they_would_look_alike() -> None:
    steady = chart_named(made_results.bench(), "runs")
    assert not steady.plots[0].y.starts_at_zero
    assert "does not begin at zero" in steady.note
    apart = [made_results.run(total, 1, 0, noise=0.0, ttft_s=0.2 / total) for total in (0.88, 1.10)]
    made = made_results.experiment(Kind.BENCH, [made_results.cell("x", {}, apart)])
    chart = chart_named(made, "runs")
    assert all(plot.y.starts_at_zero for plot in chart.plots)
    assert "does not begin" not in chart.note


def test_that_a_line_of_one_point_has_no_name_in_the_legend() -> None:
    made = made_results.tune()
    tried = [cell for cell in made.cells if cell.runs][:2]
    first = msgspec.structs.replace(tried[0], extra={"kept": 0.0})
    second = msgspec.structs.replace(tried[1], extra={"kept": 1.0})
    chart = chart_named(msgspec.structs.replace(made, cells=(first, second)), "path")
    assert [line.name for line in chart.plots[0].lines] == ["", "tried"]
    assert "best so far" not in chart.note
    assert "best so far" in chart_named(made, "path").note


def test_that_one_run_has_no_chart_of_runs() -> None:
    assert "runs" not in keys(made_results.bench(runs=1))


def test_that_the_path_shows_what_was_best_so_far() -> None:
    plot = chart_named(made_results.tune(), "path").plots[0]
    best, tried = plot.lines
    assert best.is_stepped
    assert not best.has_marks
    assert [point.cell for point in best.points] == [0, 1, 1, 1, 4, 4]
    assert [point.is_hollow for point in tried.points] == [False, False, True, True, False, True]
    assert len(tried.points) == 6, "what cannot run is no point"


def test_that_what_one_person_waits_for_is_in_the_path() -> None:
    alone = made_results.WORKLOAD.replace('"users":8', '"users":1')
    made = msgspec.structs.replace(made_results.tune(), workload=alone)
    turn = chart_named(made, "path").plots[0]
    assert turn.title == "Time of a typical turn"
    run = made.cells[0].runs
    waited = sorted((each.ttft_s or 0.0) + 128 * (each.tpot_s or 0.0) for each in run)[1]
    assert turn.y.unit == "s"
    assert points(turn)[0][1] == pytest.approx(waited)
    assert chart_named(made_results.tune(), "path").plots[0].title == "Total throughput"


def test_that_caches_stand_between_what_they_cost_and_buy() -> None:
    chart = chart_named(made_results.quality(), "costs")
    memory, speed = chart.plots
    assert [line.name for line in memory.lines] == [line.name for line in speed.lines]
    assert [x for x, _ in points(memory)] == [144.0, 76.5, 40.5]
    assert [y for _, y in points(memory)] == pytest.approx([0.0, 0.0011, 0.061])
    assert points(speed)[0] == (1.0, 0.0)
    q4 = memory.lines[2].points[0]
    assert q4.low == pytest.approx(0.061 - 0.061 / 12)
    depth = chart_named(made_results.quality(), "depths").plots[0]
    assert [point.x for point in depth.lines[0].points] == [256.0, 384.0]


def test_that_without_figures_there_are_no_charts() -> None:
    for kind in Kind:
        assert charts_of(made_results.experiment(kind, ())) == ()
        lone = [made_results.cell("slots=1", {"slots": 1}, [])]
        assert charts_of(made_results.experiment(kind, lone)) == ()


def test_that_a_sweep_over_caches_shows_their_quality_where_it_was_measured() -> None:
    made, known = made_results.sweep(), made_results.quality()
    chart = next(c for c in charts_of(made, [known]) if c.key == "memory")
    quality = chart.plots[2]
    assert quality.y.words == "Mean KLD, nats"
    by_cell = {point.cell: point for point in quality.lines[0].points}
    assert by_cell[0].y == 0.0, "f16 is the base"
    assert by_cell[1].y == pytest.approx(0.0011)
    assert by_cell[1].low == pytest.approx(0.0011 - 0.0011 / 12)
    assert "0.001100 nats" in by_cell[1].text


def test_that_quality_of_another_model_or_of_some_of_them_is_none() -> None:
    made, known = made_results.sweep(), made_results.quality()
    subject = msgspec.structs.replace(known.subject, model_sha256="ff" * 32)
    other = msgspec.structs.replace(known, subject=subject)
    some = made_results.sweep(caches=("f16", "q5_1"))
    same = made_results.sweep(caches=("f16",))
    bench = made_results.bench()
    for sweep, found in ((made, [other]), (some, [known]), (same, [known]), (made, [bench])):
        chart = next(c for c in charts_of(sweep, found) if c.key == "memory")
        assert len(chart.plots) == 2
