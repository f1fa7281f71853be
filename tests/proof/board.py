"""What the driver says of the first board: memory in use, and how busy its memory is."""

from __future__ import annotations

import time
from typing import Any

_DRAM_BANDWIDTH_USED = 10  # NVML_GPM_METRIC_DRAM_BW_UTIL
_GPM_VERSION = 1


class Board:
    """The first NVIDIA board; what it cannot say is None.

    Attributes:
        name: Its name, the empty string without one.
        peak_bytes_per_s: Peak bandwidth by bus width and memory clock, None without a board.
    """

    def __init__(self) -> None:
        """Ask the driver."""
        self.name = ""
        self.peak_bytes_per_s: float | None = None
        self._nvml: Any = None
        try:
            import pynvml  # noqa: PLC0415 - a driver need not be there

            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            self.name = str(pynvml.nvmlDeviceGetName(self._handle))
            clock_mhz = pynvml.nvmlDeviceGetMaxClockInfo(self._handle, pynvml.NVML_CLOCK_MEM)
            width_bits = pynvml.nvmlDeviceGetMemoryBusWidth(self._handle)
            self.peak_bytes_per_s = clock_mhz * 1e6 * 2 * width_bits / 8
            self._nvml = pynvml
        except Exception as error:  # every kind of absence ends here, and is said
            self.why = f"{type(error).__name__}: {error}"

    def used_bytes(self) -> int | None:
        """Memory in use on the board by everybody."""
        if self._nvml is None:
            return None
        return int(self._nvml.nvmlDeviceGetMemoryInfo(self._handle).used)

    def dram_share(self, seconds: float) -> float | None:
        """Share of the memory's bandwidth used in the next ``seconds``, 0 to 1; Hopper and later.

        The board itself counts, whatever runs on it meanwhile.
        """
        nvml = self._nvml
        if nvml is None or not nvml.nvmlGpmQueryDeviceSupport(self._handle).isSupportedDevice:
            return None
        before, after = nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()
        try:
            nvml.nvmlGpmSampleGet(self._handle, before)
            time.sleep(seconds)
            nvml.nvmlGpmSampleGet(self._handle, after)
            asked = nvml.c_nvmlGpmMetricsGet_t()
            asked.version, asked.numMetrics = _GPM_VERSION, 1
            asked.sample1, asked.sample2 = before, after
            asked.metrics[0].metricId = _DRAM_BANDWIDTH_USED
            nvml.nvmlGpmMetricsGet(asked)
            return float(asked.metrics[0].value) / 100
        finally:
            nvml.nvmlGpmSampleFree(before)
            nvml.nvmlGpmSampleFree(after)
