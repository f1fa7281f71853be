"""A request to a server while it is under way, and what is told of it as events."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.experiments.probe_client import Line
from app.experiments.server_answer import Answer, timing_of
from app.experiments.server_failures import AnswerError
from engine_bridge.protocol import (
    Event,
    FinishReason,
    MemoryMeasured,
    RequestFinished,
    StepsMeasured,
)


@dataclass
class Flight:
    """A request under way; its thread writes ``moved_ns`` and ``answer``, the port the rest."""

    number: int
    line: Line
    begun_ns: int
    moved_ns: int
    answer: Answer = field(default_factory=Answer)
    is_over: bool = False
    failure: AnswerError | None = None


@dataclass(frozen=True)
class Told:
    """What is to be heard; ``flight`` is that of the thread that says it, None for the port."""

    flight: Flight | None
    event: Event
    failure: AnswerError | None = None


def finished(flight: Flight, reason: FinishReason, detail: str) -> RequestFinished:
    """The end of ``flight``, with the figures of what came of it."""
    timing = timing_of(flight.answer, flight.begun_ns)
    used_tok = timing.prompt_tok + timing.new_tok
    return RequestFinished(flight.number, reason, detail, timing, used_tok)


def with_detail(event: RequestFinished, detail: str) -> RequestFinished:
    """``event`` with another sentence."""
    return RequestFinished(event.request_id, event.reason, detail, event.timing, event.used_tok)


def empty_reports(now_ns: int) -> tuple[Event, ...]:
    """Reports with nothing in them: who plays a run waits for an engine's, a server has none."""
    steps = StepsMeasured(
        begin_ns=now_ns, end_ns=now_ns, busy_s=0.0, steps=0, decode_steps=0, decode_s=0.0,
        decode_bytes=0, decoded_tok=0, prefilled_tok=0, prefill_s=0.0, longest_step_s=0.0,
        streams=0, slots=(),
    )  # fmt: skip
    return (steps, MemoryMeasured(now_ns, owned=0, mapped=0, devices=()))
