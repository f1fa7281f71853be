"""The made-up engine keeps to what it says: others measure their code by it."""

from __future__ import annotations

import pytest

from app.experiments.port import ConfigRefusedError, EngineGoneError, StoppedError
from engine_bridge.protocol import (
    ChatMessage,
    Event,
    Forget,
    Generate,
    MemoryMeasured,
    RequestFinished,
    RequestQueued,
    RequestStarted,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.fake_port import FakeEngine, FakePort, config_with

QUIET = config_with(cache_ram_mib=0)


def ask(port: FakePort, text: str, new_tok: int = 10, name: str = "a") -> int:
    number = port.next_id()
    port.send(
        Generate(
            number, name, (ChatMessage("user", text),), as_completion=True, ignore_eog=True,
            max_new_tok=new_tok,
        )
    )  # fmt: skip
    return number


def all_events(port: FakePort) -> list[Event]:
    """Whatever comes until nothing is under way."""
    events: list[Event] = []
    while (event := port.next_event(0.2)) is not None or not port.is_idle:
        events += [event] if event is not None else []
    return events


def finished(events: list[Event]) -> list[RequestFinished]:
    return [event for event in events if isinstance(event, RequestFinished)]


def test_that_a_lonely_request_takes_the_times_it_is_told_to_take() -> None:
    port = FakePort(FakeEngine(prefill_tok_s=100.0, step_s=lambda streams: 0.05))
    port.apply(QUIET)
    ask(port, "x" * 400)
    (ended,) = finished(all_events(port))
    timing = ended.timing
    assert (timing.prompt_tok, timing.new_tok) == (100, 10)
    assert timing.queue_s == 0.0
    assert timing.prefill_s == pytest.approx(1.0)
    assert timing.tpot_s == pytest.approx(0.05)
    assert timing.itl_p99_s == pytest.approx(0.05)


def test_that_steps_of_several_streams_take_longer() -> None:
    port = FakePort(FakeEngine(step_s=lambda streams: 0.01 * streams, prefill_tok_s=1e6))
    port.apply(QUIET)
    for name in "abc":
        ask(port, "x" * 40, name=name)
    assert [ended.timing.tpot_s for ended in finished(all_events(port))] == pytest.approx(
        [0.03] * 3, rel=0.01
    )


def test_that_who_finds_no_slot_is_told_its_place_and_waits() -> None:
    port = FakePort()
    port.apply(config_with(slots=1))
    first, second = ask(port, "x" * 40), ask(port, "y" * 40, name="b")
    events = all_events(port)
    assert RequestQueued(second, 1) in events
    ends = {event.request_id: event.timing for event in finished(events)}
    assert ends[first].queue_s == 0.0
    assert ends[second].queue_s == pytest.approx(
        ends[first].prefill_s + 9 * (ends[first].tpot_s or 0)
    )


def test_that_a_long_prompt_holds_up_those_who_write() -> None:
    port = FakePort(FakeEngine(prefill_tok_s=512.0, step_s=lambda streams: 0.02))
    port.apply(QUIET)
    writer = ask(port, "x" * 4, new_tok=60)
    while not isinstance(port.next_event(0.1), TokensDelivered):
        pass
    ask(port, "y" * 2048, name="b")
    timing = {event.request_id: event.timing for event in finished(all_events(port))}[writer]
    assert timing.itl_p50_s == pytest.approx(0.02)
    assert (timing.itl_p99_s or 0) > 0.4


def test_that_what_was_said_before_is_not_read_again_until_it_is_forgotten() -> None:
    port = FakePort()
    port.apply(QUIET)
    reused = []
    for name in ("a", "b"):
        ask(port, "x" * 400, name=name)
        reused += [e.reused_tok for e in all_events(port) if isinstance(e, RequestStarted)]
    port.send(Forget("b"))
    ask(port, "x" * 400)
    reused += [e.reused_tok for e in all_events(port) if isinstance(e, RequestStarted)]
    assert reused == [0, 99, 0]


def test_that_reports_add_up() -> None:
    port = FakePort(FakeEngine(owned_bytes=123))
    port.apply(QUIET)
    ask(port, "x" * 400, new_tok=100)
    events = all_events(port)
    work = [work for event in events if isinstance(event, StepsMeasured) for work in event.work]
    assert sum(each.delivered_tok for each in work) == 100
    assert sum(each.computed_tok for each in work if each.is_prefill) == 100
    assert {event.owned for event in events if isinstance(event, MemoryMeasured)} == {123}
    assert sum(
        sum(event.step_tok) for event in events if isinstance(event, TokensDelivered)
    ) == 100  # fmt: skip


def test_that_the_same_seed_brings_the_same_noise() -> None:
    def tpot(seed: int) -> float | None:
        port = FakePort(FakeEngine(noise=0.1), seed=seed)
        port.apply(QUIET)
        ask(port, "x" * 40, new_tok=50)
        return finished(all_events(port))[0].timing.tpot_s

    assert tpot(1) == tpot(1)
    assert tpot(1) != tpot(2)


def test_that_the_configuration_may_decide() -> None:
    def engine(config: EngineConfig) -> FakeEngine:
        slow = 2.0 if config.cache_type_k == "q8_0" else 1.0
        return FakeEngine(
            step_s=lambda streams: 0.01 * slow,
            refusal="No such threads." if config.threads == 7 else "",
            kills=config.threads == 13,
        )

    port = FakePort(engine)
    speeds = []
    for kind in ("f16", "q8_0"):
        port.apply(config_with(cache_type_k=kind))
        ask(port, "x" * 40)
        speeds.append(finished(all_events(port))[0].timing.tpot_s)
    assert speeds == pytest.approx([0.01, 0.02])
    with pytest.raises(ConfigRefusedError, match="No such threads"):
        port.apply(config_with(threads=7))
    with pytest.raises(EngineGoneError):
        port.apply(config_with(threads=13))
    with pytest.raises(EngineGoneError):
        ask(port, "x")
    assert port.apply(QUIET).model is not None
    assert port.starts == 2


def test_that_it_dies_and_falls_silent_when_told() -> None:
    port = FakePort(FakeEngine(dies_after=1))
    port.apply(QUIET)
    ask(port, "x" * 40)
    all_events(port)
    ask(port, "x" * 40)
    with pytest.raises(EngineGoneError):
        all_events(port)
    port = FakePort(FakeEngine(silent_after=0))
    port.apply(QUIET)
    ask(port, "x" * 40)
    with pytest.raises(EngineGoneError, match="seems to hang"):
        all_events(port)


def test_that_a_stop_is_said_once_and_new_work_refused_from_then_on() -> None:
    port = FakePort()
    port.apply(QUIET)
    port.stop_at_s = port.now_ns / 1e9 + 0.1
    ask(port, "x" * 40, new_tok=100)
    with pytest.raises(StoppedError):
        all_events(port)
    assert port.next_event(0.1) is not None
    with pytest.raises(StoppedError):
        ask(port, "x" * 40)
    with pytest.raises(StoppedError):
        port.apply(QUIET)
