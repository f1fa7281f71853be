from __future__ import annotations

import pytest

from tests.bench import gauges_views
from tests.bench.gauges_charts import loads
from tests.bench.gauges_views import HIDDEN, Load, Result, View, shift

LOAD = Load("one core", frozenset({1}), 1)


def _result(shown_ms: tuple[float, ...], hidden_ms: tuple[float, ...]) -> Result:
    views = {
        name: [View(ms, tok_s, 4.0, 10.0) for ms in values]
        for name, values, tok_s in ((HIDDEN, hidden_ms, 100.0), ("Charts", shown_ms, 98.0))
    }
    return Result(LOAD, views)


def test_that_a_shift_is_the_mean_of_the_pairs_with_its_interval() -> None:
    found = shift([10.0, 12.0, 11.0, 13.0, 9.0])
    assert found.value == pytest.approx(11.0)
    assert found.low < 11.0 < found.high
    assert found.low > 8.0
    assert found.high < 14.0


def test_that_a_page_that_costs_nothing_has_an_interval_around_nothing() -> None:
    found = shift([1.0, -1.0, 0.5, -0.5, 0.2, -0.2])
    assert found.low < 0.0 < found.high


def test_that_one_pair_says_nothing() -> None:
    with pytest.raises(ValueError, match="two pairs"):
        shift([3.0])


def test_that_the_cost_is_paired_with_the_hidden_page() -> None:
    result = _result((60.0, 80.0), (40.0, 56.0))
    assert result.cost("Charts").value == pytest.approx(22.0)
    assert result.speed("Charts").value == pytest.approx(0.98)


def test_that_the_share_of_a_core_is_judged_beside_one_stream_alone() -> None:
    cheap, dear = _result((50.0, 51.0), (30.0, 30.0)), _result((90.0, 91.0), (30.0, 30.0))
    four = Result(Load("one core", frozenset({1}), 4), dear.views)
    said = gauges_views.verdicts([cheap, dear, four])
    assert ["MISSED" in line for line in said] == [False, True]
    assert "6.0 %" in said[1] or "6.1 %" in said[1]


def test_that_every_load_is_looked_at_on_one_core_and_on_all() -> None:
    found = loads({0, 1})
    assert [(load.name, len(load.cores), load.streams) for load in found] == [
        ("one core", 1, 1), ("one core", 1, 4), ("both cores", 2, 1), ("both cores", 2, 4),
    ]  # fmt: skip
    assert [len(load.pages) for load in found] == [3, 1, 1, 1]


def test_that_a_machine_of_one_core_has_no_second_load_of_the_same() -> None:
    assert [load.name for load in loads({0})] == ["one core", "one core"]


def test_that_the_table_and_the_file_hold_every_page() -> None:
    result = _result((60.0, 80.0), (40.0, 56.0))
    result.others = 0.3
    said = gauges_views.table([result])
    assert "Charts" in said
    assert "30%" in said
    content = gauges_views.as_json([result])
    (cell,) = content["cells"]
    assert cell["cost_ms_per_s"] == pytest.approx(22.0)
    assert (cell["gui_ms_per_s"], cell["gui_ms_per_s_hidden"]) == (70.0, 48.0)
    assert cell["pairs"] == len(cell["runs"]) == 2
