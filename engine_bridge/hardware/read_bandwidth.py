"""How fast this machine can read its memory with a given number of threads.

Knows numpy and the processor's cache size; knows nothing of models. The peak that MBU is measured
against on a processor is a *read*, with as many threads as decode uses: a copy also writes, and one
thread alone cannot saturate the memory controller.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil

PIECE_BYTES = 4 << 20
"""Bytes of one reduction: long enough that taking the GIL between two is noise (0.1 to 1 ms of
reading), short enough that the pieces cut by the edges of the window stay below 2 %."""

_CACHE_MULTIPLE = 8  # read over eight caches' worth: at most an eighth can be a cache hit
_SMALLEST_BYTES = 256 << 20
# A virtual machine reports the whole host's cache: eight times that would be gigabytes, which a
# person sees come and go as the engine's own.
_LARGEST_BYTES = 1 << 30
_SHARE_OF_AVAILABLE = 8
# For each thread 8 MiB, four times the L2 of a large core, or the threads read their own caches.
_LEAST_PIECES = 2
# Read over less, most of what is read may still lie in the caches from the time before.
_BEYOND_CACHES = 2
_WINDOWS = 6  # the best of about six windows: one disturbed by another program does not count
# Threads that always want a core get all of it on an idle machine, but for the system's own work.
_WHOLE_CORES = 0.9


def last_level_cache_bytes(cpu_dir: Path = Path("/sys/devices/system/cpu")) -> int:
    """Bytes of all last-level caches together; 0 where the system does not tell (not Linux)."""
    level_of: dict[str, tuple[int, int]] = {}
    for index in cpu_dir.glob("cpu[0-9]*/cache/index*"):
        try:
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            shared = (index / "shared_cpu_list").read_text().strip()
            size_bytes = int(size.rstrip("KM")) << (20 if size.endswith("M") else 10)
        except (OSError, ValueError):
            continue  # a virtual machine may hide parts of this table
        if level >= level_of.get(shared, (0, 0))[0]:
            level_of[shared] = (level, size_bytes)
    deepest = max((level for level, _ in level_of.values()), default=0)
    return sum(size for level, size in level_of.values() if level == deepest)


@dataclass(frozen=True)
class PeakRead:
    """What several runs read.

    Attributes:
        bytes_per_s: The best run's.
        runs: How many there were, at least 1.
        spread: (best − worst) / best, 0 to 1; 0 for a single run.
        core_share: Of the time that the best run's threads wanted a core, what they got, 0 to 1.
        is_of_cache: Whether it was read over less than twice the caches: the memory may give less.
    """

    bytes_per_s: float
    runs: int
    spread: float
    core_share: float
    is_of_cache: bool = False

    @property
    def is_lower_bound(self) -> bool:
        """Whether other programs took the cores even from the best run: the memory gives more."""
        return self.core_share < _WHOLE_CORES


@dataclass(frozen=True)
class Run:
    """One run: when each piece had been read, and processor time against wall time."""

    ended_s: npt.NDArray[np.float64]
    core_share: float


def buffer_bytes(threads: int, cache_bytes: int, available_bytes: int) -> int:
    """Memory that all threads together read over, a multiple of ``threads`` pieces.

    Eight times the caches, but at most 1 GiB, or 8 MiB for each of very many threads, and never
    more than an eighth of what is available.

    Args:
        threads: Reading threads, at least 1.
        cache_bytes: Last-level caches together; 0 where the system does not tell.
        available_bytes: Memory that programs can have now.

    Returns:
        Bytes; less than two pieces a thread where so much cannot be spared.
    """
    wanted = min(_LARGEST_BYTES, max(_SMALLEST_BYTES, _CACHE_MULTIPLE * cache_bytes))
    wanted = max(wanted, threads * _LEAST_PIECES * PIECE_BYTES)
    whole = min(wanted, available_bytes // _SHARE_OF_AVAILABLE)
    return whole // (threads * PIECE_BYTES) * threads * PIECE_BYTES


def whole_bytes(threads: int) -> int:
    """What a measurement on this machine would read over now; see ``buffer_bytes``."""
    available_bytes = psutil.virtual_memory().available
    return buffer_bytes(threads, last_level_cache_bytes(), available_bytes)


def measure_peak_read(
    threads: int, stop: threading.Event, runs: int = 5, seconds: float = 0.2
) -> PeakRead | None:
    """Measure the best multi-threaded read of several runs in a row.

    Each thread owns memory it touched first (so it lies on its own NUMA node) and takes the largest
    of its numbers, over and over; numpy releases the GIL meanwhile. How large the whole is, is
    ``buffer_bytes``' to say; it is free again when this returns.

    Args:
        threads: Reading threads, at least 1; as many as decode uses.
        stop: Set by another thread when something else needs the processor: the run under way ends
            and does not count.
        runs: How many, at least 1.
        seconds: How long one reads, above 0. Allocating and touching the memory comes on top.

    Returns:
        None where not one run could be made to its end.

    Raises:
        ValueError: If a number is out of range.
        MemoryError: If not even two pieces a thread fit into the memory that is available.
    """
    if threads < 1 or runs < 1 or not seconds > 0:
        raise ValueError(
            f"Need a thread, a run and some time to measure, not {threads}, {runs}, {seconds} s."
        )
    size_bytes = whole_bytes(threads)
    pieces = size_bytes // threads // PIECE_BYTES
    if pieces < _LEAST_PIECES:
        raise MemoryError(
            f"Bandwidth was not measured: {threads} threads need more memory for it than can be "
            f"spared now. Close other programs, or choose fewer threads."
        )
    best = best_of(_read(threads, pieces, (runs, seconds), stop), seconds / _WINDOWS)
    if best is None:
        return None
    return replace(best, is_of_cache=size_bytes < _BEYOND_CACHES * last_level_cache_bytes())


def best_of(made: Sequence[Run], window_s: float) -> PeakRead | None:
    """What runs come to; the rate of a run is that of its best window.

    Returns:
        None where no run read anything.
    """
    rates = [(best_rate(run.ended_s, PIECE_BYTES, window_s), run.core_share) for run in made]
    best, share = max(rates, default=(0.0, 0.0))
    if best <= 0:
        return None
    return PeakRead(best, len(rates), (best - min(rates)[0]) / best, share)


def best_rate(ended_s: npt.NDArray[np.float64], piece_bytes: int, window_s: float) -> float:
    """The most bytes per second that ended within any window.

    Args:
        ended_s: (pieces,) times at which a piece had been read, seconds, in any order.
        piece_bytes: Bytes of a piece.
        window_s: Length of the window, seconds.

    Returns:
        Bytes per second; 0 below two pieces.
    """
    if ended_s.size < 2:
        return 0.0
    ordered = np.sort(ended_s)
    window_s = min(window_s, float(ordered[-1] - ordered[0]))
    if window_s <= 0:
        return 0.0
    starts = ordered[ordered <= ordered[-1] - window_s]
    # The piece that ended just at the start of the window was read before it.
    last = np.searchsorted(ordered, starts + window_s, side="right")
    in_window = last - np.searchsorted(ordered, starts, side="right")
    return float(in_window.max()) * piece_bytes / window_s


def _read(threads: int, pieces: int, plan: tuple[int, float], stop: threading.Event) -> list[Run]:
    """Read with all threads, over and over the same memory; the runs that were not stopped."""
    runs, seconds = plan
    together = threading.Barrier(threads)
    made: list[list[tuple[npt.NDArray[np.float64], float]]] = [[] for _ in range(threads)]
    failed: list[BaseException] = []

    def read(mine: list[tuple[npt.NDArray[np.float64], float]]) -> None:
        try:
            block = np.ones((pieces, PIECE_BYTES // 8), dtype=np.int64)
            for _ in range(runs):
                together.wait()
                mine.append(_read_once(block, seconds, stop))
        except BaseException as error:
            # Its traceback would hold the block, and the block lie there until Python looks for
            # circles: a quarter of a gigabyte each time that something else needs the processor.
            failed.append(error.with_traceback(None))
            together.abort()  # or the others would wait for this thread for ever

    workers = [
        threading.Thread(target=read, args=(mine,), name=f"read-bandwidth-{number}")
        for number, mine in enumerate(made)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for error in failed:
        if not isinstance(error, threading.BrokenBarrierError | _StoppedError):
            raise error
    return [
        Run(np.concatenate([ended for ended, _ in each]), float(np.mean([s for _, s in each])))
        for each in zip(*made, strict=False)  # a stopped run is missing from at least one
    ]


class _StoppedError(Exception):
    """Something else needs the processor."""


def _read_once(
    block: npt.NDArray[np.int64], seconds: float, stop: threading.Event
) -> tuple[npt.NDArray[np.float64], float]:
    """One thread's part of one run: when each piece had been read, and its share of a core."""
    ended: list[float] = []
    busy_s, begin_s = time.thread_time(), time.perf_counter()
    while (now := time.perf_counter()) < begin_s + seconds:
        if stop.is_set():
            raise _StoppedError
        block[len(ended) % len(block)].max()
        ended.append(now)
    ended.append(now)
    share = (time.thread_time() - busy_s) / (now - begin_s)
    return np.asarray(ended[1:], dtype=np.float64), min(1.0, share)
