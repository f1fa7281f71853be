"""What the engine did and occupied during a run, added up from its reports.

Pure: events in, sums and maxima out.
"""

from __future__ import annotations

from engine_bridge.protocol import Event, MemoryMeasured, StepsMeasured
from engine_bridge.step_work import StepWork, merged


class RunMeter:
    """Sums of one run.

    Attributes:
        work: What the steps read and computed, by what they were for.
        longest_step_s: The longest step.
        owned_bytes: Most private memory of the engine process; 0 before the first report.
        device_bytes: Most memory used on each device, by name.

    Args:
        begun_ns: When the run began, by the engine's clock; what ended before is not in it.
    """

    def __init__(self, begun_ns: int) -> None:
        """Begin with nothing."""
        self.work: tuple[StepWork, ...] = ()
        self.longest_step_s = 0.0
        self.owned_bytes = 0
        self.device_bytes: dict[str, int] = {}
        self._begun_ns = begun_ns
        self._told_ns = begun_ns
        self._has_memory = False

    def is_complete(self, end_ns: int) -> bool:
        """Whether it has heard of every step until ``end_ns``, and of memory."""
        return self._told_ns >= end_ns and self._has_memory

    def fold(self, event: Event) -> None:
        """Take an event; others than reports count for nothing."""
        match event:
            case StepsMeasured() if event.end_ns > self._begun_ns:
                self.work = merged((*self.work, *event.work))
                self.longest_step_s = max(self.longest_step_s, event.longest_step_s)
                self._told_ns = event.end_ns
            case MemoryMeasured() if event.at_ns >= self._begun_ns:
                self._take_memory(event)
            case _:
                pass

    def _take_memory(self, event: MemoryMeasured) -> None:
        self._has_memory = True
        self.owned_bytes = max(self.owned_bytes, event.owned)
        for device in event.devices:
            used = max(0, device.total - device.free)
            self.device_bytes[device.name] = max(self.device_bytes.get(device.name, 0), used)
