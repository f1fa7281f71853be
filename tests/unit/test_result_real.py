"""Sheets of experiments that a made-up engine really ran: nothing in them was put in by hand."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Experiment, State
from app.experiments.grid import grid_of
from app.experiments.lengths import Uniform
from app.experiments.measures import BY_FIGURE
from app.experiments.sweep import Sweep, sweep
from app.experiments.sweep_resume import begun
from app.result_charts import charts_of
from app.result_sheets import sheet_of
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.fake_port import FakeEngine, FakePort
from tests.unit.experiments.made_up import SMALL, SUBJECT, Listener, small_runner

# Half a step more for each stream: the total of many is worth little more than that of few.
ENGINE = FakeEngine(
    step_s=lambda streams: 0.010 + 0.010 * streams, noise=0.01, drafted=3, accepted=1
)
WORKLOAD = msgspec.structs.replace(SMALL, prompt_tok=Uniform(32, 512), requests=16, users=8)
# Both runs of a cell, and the ends of the last one.
ROUNDS = 2


@pytest.fixture(scope="module")
def kept() -> list[Experiment]:
    """Every state of a sweep over slots, as the history is handed it."""
    base = EngineConfig(model_path="/m.gguf", ctx_per_slot_tok=2048)
    asked = Sweep(grid_of(base, ["slots=1,2,4,8"]), BY_FIGURE["total_tok_s"], ROUNDS)
    port, listener = FakePort(ENGINE), Listener()
    experiment = begun(asked, SUBJECT, WORKLOAD, key="k", begun_at="2026-11-30", title="Slots")
    runner = small_runner(WORKLOAD)
    sweep(port, asked, runner, listener, experiment, clock=lambda: port.now_ns / 1e9)
    return listener.kept_ones


def test_that_every_state_on_the_way_can_be_shown(kept: list[Experiment]) -> None:
    assert len(kept) > 8
    for experiment in kept:
        sheet = sheet_of(experiment)
        assert len(sheet.rows) == 4
        assert sheet.state == ("done" if experiment is kept[-1] else "running")
    assert kept[-1].state is State.DONE


def test_that_its_charts_are_made_of_what_was_measured(kept: list[Experiment]) -> None:
    charts = {chart.key: chart for chart in charts_of(kept[-1])}
    assert {"speed:slots", "prompts", "drafts"} <= set(charts)
    total, each = charts["speed:slots"].plots
    assert [point.x for point in total.lines[0].points] == [1.0, 2.0, 4.0, 8.0]
    speeds = [point.y for point in total.lines[0].points]
    assert speeds[-1] > speeds[0]
    alone = [point.y for point in each.lines[0].points]
    assert alone == sorted(alone, reverse=True)
    assert "total" in charts["speed:slots"].said
    # One of three drafted tokens is accepted, always the first.
    drafts = charts["drafts"].plots[0].lines[0].points
    assert [(point.x, point.y) for point in drafts] == [(1.0, 100.0), (2.0, 0.0), (3.0, 0.0)]
    lengths = [point.x for point in charts["prompts"].plots[0].lines[0].points]
    assert len(lengths) > 3
    assert lengths == sorted(lengths)
