"""Which readers this machine has, and a thread that reads them.

Reading can take longer than a frame (NVML: 10 ms and more; a first contact with a driver: seconds),
so none of it happens on the window's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

import psutil

from engine_bridge.hardware.amd import AmdReader
from engine_bridge.hardware.apple import AppleReader
from engine_bridge.hardware.borrowed import NOTHING, Borrowed, without_borrowed
from engine_bridge.hardware.cores import CoreReader
from engine_bridge.hardware.intel import IntelReader
from engine_bridge.hardware.nvidia import NvidiaError, NvidiaReader, SilentDriver
from engine_bridge.hardware.ram import RamReader
from engine_bridge.hardware.windows_gpu import AdapterCounters, WithSharedMemory
from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.core_crowding import CoreUse
from engine_bridge.metrics.snapshot import MemorySnapshot


class MemoryReader(Protocol):
    """A source of snapshots.

    Attributes:
        engine_pid: Process id of the engine, None while there is none.
        activity: What each board of this source did, by the last reading; empty without boards.
        problem: Why the last reading is incomplete, a sentence; empty when it is complete.
    """

    engine_pid: int | None
    activity: tuple[BoardActivity, ...]
    problem: str

    def read(self) -> tuple[MemorySnapshot, ...]:
        """Snapshots of every memory this source knows; may take tens of milliseconds."""
        ...

    def close(self) -> None:
        """Let go of the source."""
        ...


def open_readers() -> tuple[MemoryReader, ...]:
    """What can be read here, main memory first; a driver that does not work tells its sentence."""
    others = (AmdReader.open(), IntelReader.open(), AppleReader.open())
    found: tuple[MemoryReader | None, ...] = (RamReader(), _nvidia(), *others)
    return tuple(reader for reader in found if reader is not None)


def _nvidia() -> MemoryReader | None:
    try:
        reader = NvidiaReader.open()
    except NvidiaError as error:
        return SilentDriver(str(error))
    counters = None if reader is None else AdapterCounters.open()
    return reader if reader is None or counters is None else WithSharedMemory(reader, counters)


class Sampler:
    """Reads the hardware in a thread of its own, at a fixed period.

    Whoever draws takes ``latest``; nothing is pushed.
    """

    def __init__(
        self,
        period_s: float = 1.0,
        open_all: Callable[[], Sequence[MemoryReader]] = open_readers,
    ) -> None:
        """Prepare; ``start`` begins.

        Args:
            period_s: Time between readings, above 0.
            open_all: Opens the readers, on the sampler's thread.
        """
        self._period_s = period_s
        self._open_all = open_all
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._engine_pid: int | None = None
        self._borrowed = NOTHING
        self._latest: tuple[MemorySnapshot, ...] = ()
        self._activity: tuple[BoardActivity, ...] = ()
        self._problems: tuple[str, ...] = ()
        self._idle_cores: float | None = None
        self._core_use: CoreUse | None = None
        self._cores = CoreReader()
        self._thread = threading.Thread(target=self._run, name="hardware-sampler", daemon=True)

    def start(self) -> None:
        """Begin to read; once only.

        Raises:
            RuntimeError: If it was started before.
        """
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it, at most as long as one reading takes."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def watch(self, engine_pid: int | None) -> None:
        """Tell the readers which process is the engine; from the next reading on."""
        with self._lock:
            self._engine_pid = engine_pid
            self._borrowed = NOTHING

    def note_borrowed(self, borrowed: Borrowed) -> None:
        """Tell what the engine has for a moment: it is taken out of what is read from now on."""
        with self._lock:
            self._borrowed = borrowed

    @property
    def latest(self) -> tuple[MemorySnapshot, ...]:
        """The newest snapshots, main memory first; empty before the first reading."""
        with self._lock:
            return self._latest

    @property
    def activity(self) -> tuple[BoardActivity, ...]:
        """What each board did, also of those that do not answer any more."""
        with self._lock:
            return self._activity

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about sources that do not work now."""
        with self._lock:
            return self._problems

    @property
    def idle_cores(self) -> float | None:
        """Processor cores without work over the last period; None before the second reading."""
        with self._lock:
            return self._idle_cores

    @property
    def core_use(self) -> CoreUse | None:
        """Whose work kept the cores busy over the last period; None where that is not known."""
        with self._lock:
            return self._core_use

    def _run(self) -> None:
        readers = self._open_all()
        psutil.cpu_percent(percpu=True)  # the first call has nothing to compare with
        try:
            self._read(readers, None)
            while not self._stopping.wait(self._period_s):
                busy_percent: Sequence[float] = psutil.cpu_percent(percpu=True)
                idle = sum(100.0 - percent for percent in busy_percent) / 100.0
                self._read(readers, idle)
        finally:
            for reader in readers:
                reader.close()

    def _read(self, readers: Sequence[MemoryReader], idle_cores: float | None) -> None:
        with self._lock:
            engine_pid, borrowed = self._engine_pid, self._borrowed
        found: list[MemorySnapshot] = []
        activity: list[BoardActivity] = []
        problems: list[str] = []
        for reader in readers:
            reader.engine_pid = engine_pid
            found += reader.read()
            activity += reader.activity
            problems.append(reader.problem)
        core_use = self._cores.read(engine_pid)
        with self._lock:
            # It may have been borrowed, or given back, while this was read.
            borrowed = self._borrowed if self._borrowed.size_bytes else borrowed
            self._latest = tuple(without_borrowed(snapshot, borrowed) for snapshot in found)
            self._activity = tuple(activity)
            self._problems = tuple(filter(None, problems))
            self._idle_cores = idle_cores
            self._core_use = core_use
