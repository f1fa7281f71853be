"""NVIDIA's GPM: what a board's memory and its PCIe link really moved, on Hopper and newer.

A figure is made of two samples of the hardware's counters; it is the mean of the time between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import pynvml

from engine_bridge.hardware.nvml import Nvml, why_not

_MIB = 1 << 20
_FIGURES = {
    # Percent of the peak; MiB/s, seen from the board.
    "dram": (pynvml.NVML_GPM_METRIC_DRAM_BW_UTIL, 0.01),
    "pcie_in_bytes_per_s": (pynvml.NVML_GPM_METRIC_PCIE_RX_PER_SEC, _MIB),
    "pcie_out_bytes_per_s": (pynvml.NVML_GPM_METRIC_PCIE_TX_PER_SEC, _MIB),
}


class Gpm:
    """The counters of one board.

    Attributes:
        refused: Why a figure is missing, by its name in ``BoardActivity``.
    """

    def __init__(self, nvml: Nvml, handle: object) -> None:
        """Watch a board that ``has_gpm``; the first reading only begins."""
        self.refused: dict[str, str] = {}
        self._nvml = nvml
        self._handle = handle
        self._newest: object | None = None
        self._spare: object | None = None

    def read(self) -> Mapping[str, float]:
        """Means since the last reading: ``dram`` a share, the two of PCIe bytes per second.

        Raises:
            pynvml.NVMLError: If the board gives no sample.
        """
        self.refused = {}
        sample = self._spare if self._spare is not None else self._nvml.nvmlGpmSampleAlloc()
        self._spare = sample  # ours to free, whatever comes of it
        self._nvml.nvmlGpmSampleGet(self._handle, sample)
        before, self._newest, self._spare = self._newest, sample, self._newest
        return {} if before is None else self._between(before, sample)

    def close(self) -> None:
        """Give the samples back.

        Raises:
            pynvml.NVMLError: If NVML takes one of them no longer.
        """
        samples, self._newest, self._spare = (self._newest, self._spare), None, None
        for sample in samples:
            if sample is not None:
                self._nvml.nvmlGpmSampleFree(sample)

    def _between(self, before: object, after: object) -> Mapping[str, float]:
        asked = pynvml.c_nvmlGpmMetricsGet_t()
        asked.version = pynvml.NVML_GPM_METRICS_GET_VERSION
        asked.numMetrics = len(_FIGURES)
        asked.sample1, asked.sample2 = before, after
        for place, (metric, _) in enumerate(_FIGURES.values()):
            asked.metrics[place].metricId = metric
        self._nvml.nvmlGpmMetricsGet(asked)
        found = {}
        for place, (name, (_, factor)) in enumerate(_FIGURES.items()):
            answer = asked.metrics[place]
            if answer.nvmlReturn != pynvml.NVML_SUCCESS:
                self.refused[name] = why_not(pynvml.NVMLError(answer.nvmlReturn))
            elif math.isfinite(answer.value):
                found[name] = answer.value * factor
        return found


def has_gpm(nvml: Nvml, handle: object) -> bool:
    """Whether a board has GPM: Hopper and newer, and a driver that knows it."""
    try:
        return bool(nvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice)
    except pynvml.NVMLError:
        return False  # older driver
