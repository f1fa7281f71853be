"""What the runs of ``gauges_mbu`` come to: spreads, verdicts, and why the rest is not reading.

Pure: knows figures, no engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from engine_bridge.metrics.bandwidth import decode_ceiling_steps_per_s, mbu
from tests.bench.gauges_mbu import STREAMS, Decode
from tests.bench.machine import QUIET_SHARE

TARGET_SPREAD = 0.05
# Two counts of the same bytes that differ by more do not count the same.
TARGET_COUNT = 0.005


@dataclass(frozen=True)
class Cell:
    """All rounds of one number of threads and streams.

    Attributes:
        runs: Some of every process.
        best_peak: The most that was read with so many threads at any time, bytes per second: the
            machine's peak, as far as it is known.
    """

    runs: tuple[Decode, ...]
    best_peak: float

    @property
    def threads(self) -> int:
        """Threads that decoded."""
        return self.runs[0].threads

    @property
    def streams(self) -> int:
        """Streams at once."""
        return self.runs[0].streams

    @property
    def shown(self) -> list[float]:
        """MBU of each process against the peak it read itself at its start."""
        return self._by_process(lambda run: run.mbu)

    @property
    def mbus(self) -> list[float]:
        """MBU of each process against the machine's peak."""
        return self._by_process(lambda run: mbu(run.bytes_per_s, self.best_peak) or 0.0)

    @property
    def beside(self) -> list[float]:
        """MBU of each process against the peaks read beside its runs."""
        return self._by_process(lambda run: run.mbu_beside)

    def _by_process(self, figure: Callable[[Decode], float]) -> list[float]:
        """The median of each process."""
        numbers = sorted({run.process for run in self.runs})
        return [
            float(median(figure(run) for run in self.runs if run.process == number))
            for number in numbers
        ]

    @property
    def highest_shown(self) -> float | None:
        """The highest point of any chart against the peak it was drawn under.

        A peak that was read while others had the cores counts for nothing; None without another.
        """
        sure = [run.highest_mbu for run in self.runs if not run.peak.is_lower_bound]
        return max(sure, default=None)

    def median_of(self, name: str) -> float:
        """Median of an attribute of the runs."""
        return float(median(getattr(run, name) for run in self.runs))

    @property
    def count_error(self) -> float:
        """Largest difference between the two counts of bytes, as a share of ours."""
        return max(abs(r.step_bytes / r.counted_step_bytes - 1) for r in self.runs)

    @property
    def ceiling_steps_per_s(self) -> float:
        """Steps a second that the machine's peak allows."""
        return decode_ceiling_steps_per_s(self.best_peak, self.median_of("step_bytes")) or 0.0


def spread(values: Sequence[float]) -> float:
    """(max − min) / median."""
    return (max(values) - min(values)) / float(median(values))


def farthest(values: Sequence[float]) -> float:
    """How far the farthest value is from the median, as a share of it.

    What a figure being reproducible within so much means here: whoever measures it again is at
    most so far from what is usual. The spread, from the lowest to the highest, is told beside it.
    """
    middle = float(median(values))
    return max(abs(value / middle - 1) for value in values)


def cells_of(runs: Sequence[Decode]) -> list[Cell]:
    """The runs by threads, then streams."""
    found = []
    for threads, streams in sorted({(run.threads, run.streams) for run in runs}):
        alike = [run for run in runs if run.threads == threads]
        mine = tuple(run for run in alike if run.streams == streams)
        peaks = [max(run.peak.bytes_per_s, run.beside_bytes_per_s) for run in alike]
        found.append(Cell(mine, max(peaks)))
    return found


def table(model: str, runs: Sequence[Decode]) -> str:
    """The figures, the verdicts and the explanation, for a person."""
    cells = cells_of(runs)
    lines = [
        f"Bandwidth of decode, {model}, {len(cells[0].mbus)} fresh processes, the window's meters",
        f"{'threads':>7} {'streams':>7} {'peak GB/s':>10} {'reads GB/s':>11} {'MB a step':>10} "
        f"{'steps/s':>8} {'ceiling':>8} {'MBU':>6} {'spread':>7} {'beside':>7} {'own peak':>9} "
        f"{'highest':>8}",
    ]
    lines += [_row(cell) for cell in cells]
    lines += [
        "  MBU and ceiling: against the best peak of all times. beside: spread of the MBU, each",
        "  run against the peak read just before or after it. own peak: the same, each process",
        "  against the peak it read at its start. highest: tallest point of any chart so.",
        "",
    ]
    lines += verdicts(cells)
    lines.append("")
    lines += [explanation(cell, cells) for cell in cells]
    return "\n".join(lines + remarks(runs))


def _row(cell: Cell) -> str:
    return (
        f"{cell.threads:>7} {cell.streams:>7} {cell.best_peak / 1e9:>10.1f} "
        f"{cell.median_of('bytes_per_s') / 1e9:>11.2f} {cell.median_of('step_bytes') / 1e6:>10.1f} "
        f"{1 / cell.median_of('step_s'):>8.1f} {cell.ceiling_steps_per_s:>8.1f} "
        f"{median(cell.mbus):>6.1%} {spread(cell.mbus):>7.1%} {spread(cell.beside):>7.1%} "
        f"{spread(cell.shown):>9.1%} "
        + (f"{'none':>8}" if cell.highest_shown is None else f"{cell.highest_shown:>8.1%}")
    )


def verdicts(cells: Sequence[Cell]) -> list[str]:
    """Whether the targets are met, each with the worst figure."""
    highest = max((c.highest_shown for c in cells if c.highest_shown is not None), default=None)
    error = max(cell.count_error for cell in cells)
    return [
        "target: MBU of every process within "
        f"{TARGET_SPREAD:.0%} of the median, against the machine's peak: "
        + _reproduced([cell.mbus for cell in cells]),
        "target: the same, each run against the peak read beside it: "
        + _reproduced([cell.beside for cell in cells]),
        "target: the same, each process against the peak it read at its start: "
        + _reproduced([cell.shown for cell in cells]),
        "target: never above 100 % of the read peak: "
        + (
            "NOT JUDGED (every peak is a lower bound)"
            if highest is None
            else f"{_verdict(highest <= 1)} (highest point {highest:.1%})"
        ),
        f"target: bytes a step agree with our own count within {TARGET_COUNT:.1%}: "
        f"{_verdict(error <= TARGET_COUNT)} (worst {error:.2%})",
    ]


def _reproduced(values: Sequence[Sequence[float]]) -> str:
    far, whole = max(map(farthest, values)), max(map(spread, values))
    return f"{_verdict(far <= TARGET_SPREAD)} (farthest {far:.1%}, lowest to highest {whole:.1%})"


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "MISSED"


def explanation(cell: Cell, cells: Sequence[Cell]) -> str:
    """In words: what a step reads, what that allows, and what the rest of its time is."""
    step_bytes, weights = cell.median_of("step_bytes"), cell.median_of("weight_bytes")
    step_ms = cell.median_of("step_s") * 1e3
    reading_ms = step_bytes / cell.best_peak * 1e3
    threads = f"{cell.threads} thread{'s' * (cell.threads > 1)}"
    streams = f"{cell.streams} stream{'s' * (cell.streams > 1)}"
    return (
        f"{threads}, {streams}: a step reads {step_bytes / 1e6:.1f} MB (weights "
        f"{weights / 1e6:.1f}, KV and embedding rows {(step_bytes - weights) / 1e6:.1f}). "
        f"{cell.best_peak / 1e9:.1f} GB/s ÷ {step_bytes / 1e9:.3f} GB = "
        f"{cell.ceiling_steps_per_s:.1f} steps/s at most; measured {1e3 / step_ms:.1f}. "
        f"Of a step's {step_ms:.1f} ms reading takes {reading_ms:.1f} ms at the least, and "
        f"{max(0.0, step_ms - reading_ms):.1f} ms are what reading does not hide: "
        f"arithmetic, and threads that wait for each other. "
        f"{_evidence(cell, cells)}The loop outside llama_decode adds "
        f"{cell.median_of('outside_s') * 1e3:.2f} ms a step, which is in no MBU."
    )


def _evidence(cell: Cell, cells: Sequence[Cell]) -> str:
    """What a further stream costs says how much of a step is computation."""
    row_s = row_compute_s(cell.threads, cells)
    if row_s is None or row_s <= 0:  # below zero: other programs were louder
        return ""
    return (
        f"Of the arithmetic a measure: {max(STREAMS)} streams read the same weights, and each "
        f"further one adds {row_s * 1e3:.1f} ms beyond the reading of its KV. "
    )


def row_compute_s(threads: int, cells: Sequence[Cell]) -> float | None:
    """Seconds a further stream adds to a step beyond what it reads; None for a single cell."""
    by_streams = {cell.streams: cell for cell in cells if cell.threads == threads}
    few, many = min(by_streams), max(by_streams)
    if few == many:
        return None
    low, high = by_streams[few], by_streams[many]
    more_s = high.median_of("step_s") - low.median_of("step_s")
    more_bytes = high.median_of("step_bytes") - low.median_of("step_bytes")
    return (more_s - more_bytes / low.best_peak) / (many - few)


def remarks(runs: Sequence[Decode]) -> list[str]:
    """What makes the figures worth less."""
    found = []
    worst = max(run.others for run in runs)
    if worst > QUIET_SHARE:
        found.append(f"Other programs used up to {worst:.0%} of this machine meanwhile.")
    low = len({run.peak.bytes_per_s for run in runs if run.peak.is_lower_bound})
    if low:
        found.append(
            f"{low} of the peaks are lower bounds: other programs had the cores while it was read."
        )
    return found


def as_json(model: str, runs: Sequence[Decode]) -> dict[str, Any]:
    """The content of the part ``mbu``: bytes, seconds, shares."""
    cells = cells_of(runs)
    return {
        "model": model,
        "cells": [
            {
                "threads": cell.threads,
                "streams": cell.streams,
                "peak_bytes_per_s": cell.best_peak,
                "achieved_bytes_per_s": cell.median_of("bytes_per_s"),
                "step_bytes": cell.median_of("step_bytes"),
                "counted_step_bytes": cell.median_of("counted_step_bytes"),
                "weight_bytes": cell.median_of("weight_bytes"),
                "step_s": cell.median_of("step_s"),
                "outside_s": cell.median_of("outside_s"),
                "ceiling_steps_per_s": cell.ceiling_steps_per_s,
                "mbu": median(cell.mbus),
                "mbu_farthest": farthest(cell.mbus),
                "mbu_spread": spread(cell.mbus),
                "mbu_beside": median(cell.beside),
                "mbu_farthest_beside": farthest(cell.beside),
                "mbu_spread_beside": spread(cell.beside),
                "mbu_spread_own_peaks": spread(cell.shown),
                "mbu_highest": cell.highest_shown,
                "row_compute_s": row_compute_s(cell.threads, cells),
                "explanation": explanation(cell, cells),
            }
            for cell in cells
        ],
        "targets": verdicts(cells),
        "remarks": remarks(runs),
        "runs": [
            dataclasses.asdict(run) | {"mbu": run.mbu, "mbu_beside": run.mbu_beside} for run in runs
        ],
    }
