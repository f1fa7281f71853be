"""Work by the number of streams: what is recent, what is best, when it is forgotten."""

from __future__ import annotations

import pytest

from engine_bridge.metrics.work_meter import LEAST_PREFILL_TOK, WorkMeter
from engine_bridge.protocol import StepsMeasured
from engine_bridge.step_work import StepWork
from tests.widgets.synthetic import applied

SECOND = 1_000_000_000


def decode(streams: int = 1, steps: int = 4, seconds: float = 0.1) -> StepWork:
    tokens = steps * streams
    return StepWork(
        streams, steps, seconds, steps, tokens, tokens, 1e9 * steps, 1e7 * steps, 0, 1e9
    )


def prefill(tokens: int = 512, seconds: float = 1.0) -> StepWork:
    return StepWork(0, 1, seconds, 1, tokens, 1, 1e9, 0, 0, 3e9 * tokens)


def span(*work: StepWork, end_s: float = 1.0) -> StepsMeasured:
    end_ns = round(end_s * SECOND)
    return StepsMeasured(0, end_ns, 0.1, 1, 1, 0.1, 1, 1, 0, 0.0, 0.0, 1, (), work)


@pytest.fixture
def meter() -> WorkMeter:
    made = WorkMeter()
    made.note_applied(None, applied(1, "reload"))
    return made


def test_that_nothing_is_known_before_a_step(meter: WorkMeter) -> None:
    assert meter.present is None
    assert meter.prefill is None
    assert meter.best_prefill is None
    assert meter.decoding == ()


def test_that_the_present_is_what_was_decoded_last(meter: WorkMeter) -> None:
    meter.add_span(span(decode(1), end_s=1.0))
    meter.add_span(span(decode(1, steps=1), decode(4, steps=3), end_s=1.1))
    assert meter.present is not None
    assert meter.present.streams == 4
    assert meter.last_end_s == pytest.approx(1.1)
    meter.add_span(span(prefill(), end_s=2.0))
    assert meter.present.streams == 4
    assert meter.last_end_s == pytest.approx(1.1)
    assert [work.streams for work in meter.decoding] == [1, 4]


def test_that_only_the_last_seconds_of_computing_count(meter: WorkMeter) -> None:
    for _ in range(30):
        meter.add_span(span(decode(seconds=0.1)))
    for _ in range(20):
        meter.add_span(span(decode(seconds=0.2)))
    assert meter.present is not None
    assert meter.present.step_s == pytest.approx(0.05)
    assert meter.present.seconds <= 2.0 + 1e-9


def test_that_the_best_prefill_is_kept_and_a_short_one_does_not_count(meter: WorkMeter) -> None:
    meter.add_span(span(prefill(512, 1.0)))
    meter.add_span(span(prefill(512, 2.0)))
    assert meter.best_prefill == prefill(512, 1.0)
    meter.add_span(span(prefill(LEAST_PREFILL_TOK - 1, 1e-6)))
    assert meter.best_prefill == prefill(512, 1.0)
    assert meter.prefill is not None


def test_that_other_settings_end_what_was_measured_but_not_the_best_prefill(
    meter: WorkMeter,
) -> None:
    meter.add_span(span(decode(), prefill()))
    before = applied(1, "reload")
    meter.note_applied(before, applied(1, "live", temperature=0.2))
    assert meter.decoding, "which token is taken costs nothing"
    meter.note_applied(before, applied(1, "live", threads=1))
    assert meter.present is None
    assert meter.decoding == ()
    assert meter.prefill is None
    assert meter.best_prefill is not None


def test_that_another_model_or_engine_begins_anew(meter: WorkMeter) -> None:
    meter.add_span(span(decode(), prefill()))
    meter.note_applied(applied(1, "reload"), applied(1, "reload", model_path="/other.gguf"))
    assert meter.best_prefill is None
    meter.add_span(span(decode(), prefill()))
    meter.forget()
    assert meter.best_prefill is None
    assert meter.present is None
