"""The peak bandwidth that MBU is a share of, and where that figure comes from.

Main memory is measured by the engine while it is at rest; boards are computed from bus and clock by
their driver's word. Of a model that lies on both, both count by what is read of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.experiments.port import EnginePort
from engine_bridge.hardware.machine import MemoryReader, open_readers
from engine_bridge.metrics.bandwidth_meter import BandwidthMeter, Peak
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import Applied, BandwidthMeasured

_HOST = "CPU"


def peak_of(
    port: EnginePort,
    applied: Applied,
    open_boards: Callable[[], Sequence[MemoryReader]] = open_readers,
) -> Peak:
    """The peak of what decode reads with a configuration.

    Args:
        port: The engine, which has measured main memory at the threads of ``applied``.
        applied: What it runs.
        open_boards: Opens what knows the boards; asked only where the model lies on one.
    """
    meter = BandwidthMeter(1)
    meter.set_devices(port.hello.devices, 0.0)
    if port.peak_bytes_per_s > 0:
        threads = applied.effective.threads
        readers = f"{threads} threads" if threads > 1 else "one thread"
        how = f"main memory, read by {readers}"
        measured = BandwidthMeasured(
            port.peak_bytes_per_s, threads, how, is_lower_bound=port.is_peak_lower_bound
        )
        meter.set_host_peak(measured, 0.0)
    if any(not d.name.startswith(_HOST) and d.weights + d.kv > 0 for d in applied.memory.devices):
        meter.set_board_peaks(_snapshots(open_boards), 0.0)
    meter.set_applied(applied.memory, 0.0)
    return meter.peak()


def peak_sentence(peak: Peak) -> str:
    """What MBU is a share of, for a line below a table."""
    if peak.bytes_per_s is None:
        return f"MBU is not known: {peak.how or 'the peak bandwidth was not measured'}."
    sentence = f"MBU is the share of a peak of {peak.bytes_per_s / 1e9:,.1f} GB/s: {peak.how}."
    if peak.is_lower_bound:
        sentence += (
            " Other programs took the cores while it was measured: the memory can give more, and "
            "MBU is lower than shown."
        )
    return sentence


def _snapshots(open_boards: Callable[[], Sequence[MemoryReader]]) -> list[MemorySnapshot]:
    found: list[MemorySnapshot] = []
    for reader in open_boards():
        try:
            found += reader.read()
        finally:
            reader.close()
    return found
