"""An NVML that answers with recorded values, and the boards they belong to.

Bus widths and highest memory clocks as NVML reports them; published bandwidths from the makers'
data sheets.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pynvml

ENGINE = 4242
GIB = 1 << 30


@dataclass
class Memory:
    total: int
    free: int


@dataclass
class Process:
    pid: int
    usedGpuMemory: int | None  # noqa: N815 - NVML's name


@dataclass
class Rates:
    gpu: int
    memory: int


@dataclass
class Support:
    isSupportedDevice: int  # noqa: N815 - NVML's name


@dataclass
class Board:
    """One board, by values as NVML reports them. An ``int`` in ``fails`` is NVML's error."""

    name: str
    width_bit: int
    max_memory_clock_mhz: int
    memory: Memory
    published_bytes_per_s: float = 0.0
    compute: list[Process] = field(default_factory=list)
    graphics: list[Process] = field(default_factory=list)
    rates: Rates = field(default_factory=lambda: Rates(87, 64))
    clocks_mhz: tuple[int, int] = (1695, 9501)
    power_mw: int = 312_400
    limit_mw: int = 350_000
    temperature_c: int = 71
    reasons: int = pynvml.nvmlClocksThrottleReasonSwPowerCap
    pcie_kb_per_s: tuple[int, int] = (1_200_000, 34_000)  # to the board, from it
    gpm: tuple[float, float, float] | None = None  # DRAM in percent, PCIe in and out in MiB/s
    fails: dict[str, int] = field(default_factory=dict)


def rtx_3090(**values: Any) -> Board:
    return Board(
        "NVIDIA GeForce RTX 3090",
        384,
        9751,
        Memory(total=24 * GIB, free=17 * GIB),
        936.2e9,
        compute=[Process(ENGINE, 5 * GIB), Process(77, GIB)],
        **values,
    )


def rtx_4090() -> Board:
    return Board("NVIDIA GeForce RTX 4090", 384, 10501, Memory(24 * GIB, 23 * GIB), 1008e9)


def rtx_5090() -> Board:
    return Board("NVIDIA GeForce RTX 5090", 512, 14001, Memory(32 * GIB, 31 * GIB), 1792e9)


def a100_80g() -> Board:
    return Board("NVIDIA A100-SXM4-80GB", 5120, 1593, Memory(80 * GIB, 79 * GIB), 2039e9)


def h200(**values: Any) -> Board:
    return Board(
        "NVIDIA H200",
        6144,
        3201,
        Memory(141 * GIB, 60 * GIB),
        4.8e12,
        clocks_mhz=(1980, 3201),
        power_mw=512_000,
        limit_mw=700_000,
        temperature_c=54,
        reasons=0,
        gpm=(61.5, 2048.0, 12.0),
        **values,
    )


def laptop_4060() -> Board:
    """A laptop whose firmware, not NVML, knows the power limit; at rest."""
    return Board(
        "NVIDIA GeForce RTX 4060 Laptop GPU",
        128,
        8001,
        Memory(8 * GIB, 7 * GIB),
        256e9,
        rates=Rates(0, 0),
        clocks_mhz=(210, 405),
        power_mw=3_210,
        temperature_c=42,
        reasons=pynvml.nvmlClocksThrottleReasonGpuIdle,
        fails={"nvmlDeviceGetEnforcedPowerLimit": pynvml.NVML_ERROR_NOT_SUPPORTED},
    )


@dataclass
class Replay:
    """The part of pynvml that is used; it counts what is asked."""

    boards: list[Board]
    fails_with: int | None = None
    is_open: bool = False
    asked: list[str] = field(default_factory=list)
    samples: dict[int, Board | None] = field(default_factory=dict)
    missing_handles: dict[int, int] = field(default_factory=dict)

    def nvmlInit(self) -> None:  # noqa: N802
        if self.fails_with is not None:
            raise pynvml.NVMLError(self.fails_with)
        self.is_open = True

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.is_open = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.boards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> object:  # noqa: N802
        if index in self.missing_handles:
            raise pynvml.NVMLError(self.missing_handles[index])
        return self.boards[index]

    def nvmlDeviceGetName(self, handle: object) -> str:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetName").name

    def nvmlDeviceGetMemoryInfo(self, handle: object) -> Memory:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetMemoryInfo").memory

    def nvmlDeviceGetMaxClockInfo(self, handle: object, kind: int) -> int:  # noqa: N802
        assert kind == pynvml.NVML_CLOCK_MEM
        return self._of(handle, "nvmlDeviceGetMaxClockInfo").max_memory_clock_mhz

    def nvmlDeviceGetMemoryBusWidth(self, handle: object) -> int:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetMemoryBusWidth").width_bit

    def nvmlDeviceGetComputeRunningProcesses(  # noqa: N802
        self, handle: object
    ) -> Sequence[Process]:
        return self._of(handle, "nvmlDeviceGetComputeRunningProcesses").compute

    def nvmlDeviceGetGraphicsRunningProcesses(  # noqa: N802
        self, handle: object
    ) -> Sequence[Process]:
        return self._of(handle, "nvmlDeviceGetGraphicsRunningProcesses").graphics

    def nvmlDeviceGetUtilizationRates(self, handle: object) -> Rates:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetUtilizationRates").rates

    def nvmlDeviceGetClockInfo(self, handle: object, kind: int) -> int:  # noqa: N802
        board = self._of(handle, "nvmlDeviceGetClockInfo")
        return board.clocks_mhz[(pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM).index(kind)]

    def nvmlDeviceGetPowerUsage(self, handle: object) -> int:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetPowerUsage").power_mw

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: object) -> int:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetEnforcedPowerLimit").limit_mw

    def nvmlDeviceGetTemperatureV(self, handle: object, sensor: int) -> int:  # noqa: N802
        assert sensor == pynvml.NVML_TEMPERATURE_GPU
        return self._of(handle, "nvmlDeviceGetTemperatureV").temperature_c

    def nvmlDeviceGetTemperature(self, handle: object, sensor: int) -> int:  # noqa: N802
        assert sensor == pynvml.NVML_TEMPERATURE_GPU
        return self._of(handle, "nvmlDeviceGetTemperature").temperature_c

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: object) -> int:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetCurrentClocksEventReasons").reasons

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: object) -> int:  # noqa: N802
        return self._of(handle, "nvmlDeviceGetCurrentClocksThrottleReasons").reasons

    def nvmlDeviceGetPcieThroughput(self, handle: object, counter: int) -> int:  # noqa: N802
        board = self._of(handle, "nvmlDeviceGetPcieThroughput")
        order = (pynvml.NVML_PCIE_UTIL_RX_BYTES, pynvml.NVML_PCIE_UTIL_TX_BYTES)
        return board.pcie_kb_per_s[order.index(counter)]

    def nvmlGpmQueryDeviceSupport(self, handle: object) -> Support:  # noqa: N802
        return Support(int(self._of(handle, "nvmlGpmQueryDeviceSupport").gpm is not None))

    def nvmlGpmSampleAlloc(self) -> Any:  # noqa: N802
        address = 16 * (len(self.samples) + 1)
        self.samples[address] = None
        return ctypes.cast(ctypes.c_void_p(address), pynvml.c_nvmlGpmSample_t)

    def nvmlGpmSampleFree(self, sample: Any) -> None:  # noqa: N802
        del self.samples[_address(sample)]

    def nvmlGpmSampleGet(self, handle: object, sample: Any) -> object:  # noqa: N802
        board = self._of(handle, "nvmlGpmSampleGet")
        assert _address(sample) in self.samples
        self.samples[_address(sample)] = board
        return sample

    def nvmlGpmMetricsGet(self, metrics: Any) -> object:  # noqa: N802
        assert metrics.version == pynvml.NVML_GPM_METRICS_GET_VERSION
        first, second = _address(metrics.sample1), _address(metrics.sample2)
        assert first != second
        board = self.samples[second]
        assert board is not None
        assert self.samples[first] is board
        assert board.gpm is not None
        order = (
            pynvml.NVML_GPM_METRIC_DRAM_BW_UTIL,
            pynvml.NVML_GPM_METRIC_PCIE_RX_PER_SEC,
            pynvml.NVML_GPM_METRIC_PCIE_TX_PER_SEC,
        )
        for metric in metrics.metrics[: metrics.numMetrics]:
            metric.nvmlReturn = board.fails.get(f"gpm {metric.metricId}", pynvml.NVML_SUCCESS)
            metric.value = board.gpm[order.index(metric.metricId)]
        return metrics

    def _of(self, handle: object, asked: str) -> Board:
        assert isinstance(handle, Board)
        self.asked.append(asked)
        error = handle.fails.get(asked, handle.fails.get("all"))
        if error is not None:
            raise pynvml.NVMLError(error)
        return handle


def _address(sample: Any) -> int:
    address = ctypes.cast(sample, ctypes.c_void_p).value
    assert address is not None
    return address


BOARDS: tuple[Callable[[], Board], ...] = (
    rtx_3090,
    rtx_4090,
    rtx_5090,
    a100_80g,
    h200,
    laptop_4060,
)
