"""The chart of bandwidth and the page "Ceiling" tell one MBU, of one stretch of decoding."""

from __future__ import annotations

import pytest

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.metrics.ceiling import CeilingView
from engine_bridge.metrics.meters import Meters
from engine_bridge.protocol import BandwidthMeasured, StepsMeasured
from engine_bridge.settings.config import EngineConfig
from engine_bridge.step_work import StepWork
from tests.unit import fake_client

SECOND = 10**9
T0 = 1000 * SECOND
GIB = 1 << 30
PLAN = MemoryPlan(
    BytesByUse(weights=GIB, total=GIB), (DeviceBytes("CPU", GIB, 0, 0),), None, True, (), 0.0
)


def span(end_ns: int, streams: int, seconds: float, steps: int = 4) -> StepsMeasured:
    """Steps of a gigabyte each, which took ``seconds`` together."""
    work = StepWork(streams, steps, seconds, steps, steps, steps, steps * 1e9)
    return StepsMeasured(
        end_ns - SECOND // 10, end_ns, seconds, steps, steps, seconds, round(work.bytes), steps, 0,
        0.0, 0.0, streams, (), work=(work,),
    )  # fmt: skip


@pytest.fixture
def meters() -> Meters:
    made = Meters()
    made.memory.set_applied(PLAN)
    made.bandwidth.set_applied(PLAN, T0 / 1e9)
    made.fold(BandwidthMeasured(60e9, 2, "read by 2 threads", runs=5), T0)
    return made


def ceiling(meters: Meters) -> CeilingView:
    """As the page's wiring makes it."""
    return CeilingView(True, meters.bandwidth.peak(), meters.work.present)


def test_that_chart_and_page_tell_the_same_share_of_the_same_peak(meters: Meters) -> None:
    for number, seconds in enumerate((0.1, 0.1, 0.16)):
        meters.fold(span(T0 + number * SECOND // 10, 1, seconds), T0 + SECOND)
    chart, page = meters.view(T0 + SECOND).bandwidth, ceiling(meters)
    assert chart.mbu == page.mbu == pytest.approx(12e9 / 0.36 / 60e9)
    assert chart.ceiling_steps_per_s == page.ceiling_steps_per_s == 60
    assert page.present is not None
    assert chart.last_bytes_per_s == page.present.bytes_per_s
    # The line keeps each tenth of a second.
    assert chart.bytes_per_s[-1] == pytest.approx(4e9 / 0.16)


def test_that_both_go_over_to_another_number_of_streams_together(meters: Meters) -> None:
    meters.fold(span(T0, 1, 0.1), T0)
    meters.fold(span(T0 + SECOND // 10, 4, 0.2), T0 + SECOND)
    chart, page = meters.view(T0 + SECOND).bandwidth, ceiling(meters)
    assert chart.mbu == page.mbu == pytest.approx(4e9 / 0.2 / 60e9)


def test_that_with_other_settings_the_last_figure_stays_until_there_is_a_new_one(
    meters: Meters,
) -> None:
    meters.fold(fake_client.applied(EngineConfig()), T0)
    meters.fold(span(T0, 1, 0.1), T0)
    meters.fold(fake_client.applied(EngineConfig().with_values({"threads": 1})), T0)
    assert meters.work.present is None
    assert meters.view(T0 + SECOND).bandwidth.last_bytes_per_s == pytest.approx(4e10)
