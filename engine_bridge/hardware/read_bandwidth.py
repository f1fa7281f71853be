"""How fast this machine can read its memory with a given number of threads.

Knows numpy and the processor's cache size; knows nothing of models. The peak that MBU is measured
against on a processor is a *read*, with as many threads as decode uses: a copy also writes, and one
thread alone cannot saturate the memory controller.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import psutil

PIECE_BYTES = 4 << 20
"""Bytes of one reduction: long enough that taking the GIL between two is noise (0.1 to 1 ms of
reading), short enough that the pieces cut by the edges of the window stay below 2 %."""

_CACHE_MULTIPLE = 8  # read over eight caches' worth: at most an eighth can be a cache hit
_SMALLEST_BYTES = 256 << 20
_SHARE_OF_AVAILABLE = 8
_WINDOWS = 6  # the best of about six windows: one disturbed by another program does not count


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


def measure_read_bandwidth(threads: int, seconds: float = 0.3) -> float:
    """Measure the best multi-threaded read.

    Each thread owns memory it touched first (so it lies on its own NUMA node) and takes the largest
    of its numbers, over and over; numpy releases the GIL meanwhile. The whole is at least eight
    times the last-level cache, but never more than an eighth of the available memory.

    Args:
        threads: Reading threads, at least 1; as many as decode uses.
        seconds: How long to read, above 0. Allocating and touching the memory comes on top.

    Returns:
        Bytes per second in the best sixth of the time.

    Raises:
        ValueError: If ``threads`` or ``seconds`` is out of range.
        MemoryError: If not even two pieces a thread fit into the memory that is available.
    """
    if threads < 1 or not seconds > 0:
        raise ValueError(f"Need a thread and some time to measure, not {threads} and {seconds} s.")
    wanted = max(_SMALLEST_BYTES, _CACHE_MULTIPLE * last_level_cache_bytes())
    whole_bytes = min(wanted, psutil.virtual_memory().available // _SHARE_OF_AVAILABLE)
    pieces = whole_bytes // threads // PIECE_BYTES
    if pieces < 2:
        raise MemoryError(
            f"Bandwidth was not measured: {threads} threads need {threads * 2 * PIECE_BYTES >> 20} "
            f"MiB and only {whole_bytes >> 20} MiB can be spared now. Close other programs, or "
            f"choose fewer threads."
        )
    ended_s = _read_for(threads, pieces, seconds)
    return best_rate(ended_s, PIECE_BYTES, seconds / _WINDOWS)


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


def _read_for(threads: int, pieces: int, seconds: float) -> npt.NDArray[np.float64]:
    """Read with all threads; when each piece ended, in seconds."""
    ready = threading.Barrier(threads)
    ended: list[list[float]] = [[] for _ in range(threads)]
    failed: list[BaseException] = []

    def read(mine: list[float]) -> None:
        try:
            block = np.ones((pieces, PIECE_BYTES // 8), dtype=np.int64)
            ready.wait()
            until = time.perf_counter() + seconds
            while (now := time.perf_counter()) < until:
                block[len(mine) % pieces].max()
                mine.append(now)
            mine.append(time.perf_counter())
        except BaseException as error:
            failed.append(error)
            ready.abort()  # or the others would wait for this thread for ever

    workers = [
        threading.Thread(target=read, args=(mine,), name=f"read-bandwidth-{number}")
        for number, mine in enumerate(ended)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for error in failed:
        if not isinstance(error, threading.BrokenBarrierError):
            raise error
    return np.concatenate([np.asarray(mine[1:], dtype=np.float64) for mine in ended])
