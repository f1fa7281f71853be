"""What a made-up engine reports by its clock: steps ten times a second, memory once."""

from __future__ import annotations

from engine_bridge.protocol import DeviceFacts, Event, MemoryMeasured, StepsMeasured
from engine_bridge.step_work import StepWork, merged

_STEPS_EVERY_NS = 100_000_000
_MEMORY_EVERY_NS = 1_000_000_000
DEVICE = DeviceFacts("CPU", "made up", "cpu", "CPU", 6 << 30, 8 << 30)


class FakeReports:
    """Steps since the last report, and when the next ones are due."""

    def __init__(self, now_ns: int) -> None:
        self._works: list[StepWork] = []
        self._works_ns = self._memory_ns = now_ns
        self._longest_s = 0.0

    @property
    def due_ns(self) -> int:
        """When something is due."""
        due_ns = self._memory_ns + _MEMORY_EVERY_NS
        return min(due_ns, self._works_ns + _STEPS_EVERY_NS) if self._works else due_ns

    def note(self, work: StepWork) -> None:
        """A step was computed."""
        self._works.append(work)
        self._longest_s = max(self._longest_s, work.seconds)

    def take(self, now_ns: int, owned_bytes: int) -> list[Event]:
        """What is due."""
        events: list[Event] = []
        if self._works and now_ns >= self._works_ns + _STEPS_EVERY_NS:
            events.append(self._steps(now_ns))
            self._works, self._works_ns, self._longest_s = [], now_ns, 0.0
        if now_ns >= self._memory_ns + _MEMORY_EVERY_NS:
            self._memory_ns = now_ns
            events.append(MemoryMeasured(now_ns, owned_bytes, 0, (DEVICE,)))
        return events

    def _steps(self, now_ns: int) -> StepsMeasured:
        works = merged(self._works)
        writing = [work for work in works if not work.is_prefill]
        reading = [work for work in works if work.is_prefill]
        return StepsMeasured(
            begin_ns=self._works_ns,
            end_ns=now_ns,
            busy_s=sum(work.seconds for work in works),
            steps=sum(work.steps for work in works),
            decode_steps=sum(work.steps for work in writing),
            decode_s=sum(work.seconds for work in writing),
            decode_bytes=round(sum(work.bytes for work in writing)),
            decoded_tok=sum(work.delivered_tok for work in works),
            prefilled_tok=sum(work.computed_tok for work in reading),
            prefill_s=sum(work.seconds for work in reading),
            longest_step_s=self._longest_s,
            streams=writing[-1].streams if writing else 0,
            slots=(),
            work=works,
        )
