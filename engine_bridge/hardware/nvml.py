"""The part of NVML that is used, and what its refusals mean in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pynvml

LOST = (
    pynvml.NVML_ERROR_GPU_IS_LOST,
    pynvml.NVML_ERROR_GPU_NOT_FOUND,
    pynvml.NVML_ERROR_RESET_REQUIRED,
    pynvml.NVML_ERROR_UNINITIALIZED,
)
"""With these nothing more can be asked."""

_WHY = {
    pynvml.NVML_ERROR_GPU_IS_LOST: "the GPU is lost",
    pynvml.NVML_ERROR_GPU_NOT_FOUND: "the GPU is not found",
    pynvml.NVML_ERROR_RESET_REQUIRED: "the GPU has to be reset",
    pynvml.NVML_ERROR_NOT_SUPPORTED: "this board, or this way of driving it, has none",
    pynvml.NVML_ERROR_NO_PERMISSION: "this user has no permission to read it",
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: "the driver is older than this figure",
    pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH: "the driver is older than this figure",
    pynvml.NVML_ERROR_NO_DATA: "it has no reading at the moment",
    pynvml.NVML_ERROR_TIMEOUT: "it did not answer in time",
}


class MemoryInfo(Protocol):
    """Sizes in bytes."""

    total: int
    free: int


class ProcessInfo(Protocol):
    """A process on a board; its memory is None where Windows does not tell."""

    pid: int
    usedGpuMemory: int | None


class Utilization(Protocol):
    """Busy times, percent."""

    gpu: int
    memory: int


class GpmSupport(Protocol):
    """Whether a board has GPM."""

    isSupportedDevice: int


class Nvml(Protocol):
    """The part of pynvml that is used, so that tests can replay recorded values."""

    def nvmlInit(self) -> None: ...
    def nvmlShutdown(self) -> None: ...
    def nvmlDeviceGetCount(self) -> int: ...
    def nvmlDeviceGetHandleByIndex(self, index: int) -> object: ...
    def nvmlDeviceGetName(self, handle: object) -> str: ...
    def nvmlDeviceGetMemoryInfo(self, handle: object) -> MemoryInfo: ...
    def nvmlDeviceGetMaxClockInfo(self, handle: object, kind: int) -> int: ...
    def nvmlDeviceGetMemoryBusWidth(self, handle: object) -> int: ...
    def nvmlDeviceGetComputeRunningProcesses(self, handle: object) -> Sequence[ProcessInfo]: ...
    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: object) -> Sequence[ProcessInfo]: ...
    def nvmlDeviceGetUtilizationRates(self, handle: object) -> Utilization: ...
    def nvmlDeviceGetClockInfo(self, handle: object, kind: int) -> int: ...
    def nvmlDeviceGetPowerUsage(self, handle: object) -> int: ...
    def nvmlDeviceGetEnforcedPowerLimit(self, handle: object) -> int: ...
    def nvmlDeviceGetTemperatureV(self, handle: object, sensor: int) -> int: ...
    def nvmlDeviceGetTemperature(self, handle: object, sensor: int) -> int: ...
    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: object) -> int: ...
    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: object) -> int: ...
    def nvmlDeviceGetPcieThroughput(self, handle: object, counter: int) -> int: ...
    def nvmlGpmQueryDeviceSupport(self, handle: object) -> GpmSupport: ...
    def nvmlGpmSampleAlloc(self) -> object: ...
    def nvmlGpmSampleFree(self, sample: object) -> None: ...
    def nvmlGpmSampleGet(self, handle: object, sample: object) -> object: ...
    def nvmlGpmMetricsGet(self, metrics: object) -> object: ...


def why_not(error: pynvml.NVMLError) -> str:
    """Why a driver does not report a figure; goes on after "not reported by the driver: "."""
    return _WHY.get(error.value, str(error))
