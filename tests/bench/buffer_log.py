"""What llama.cpp's log says about buffers.

Knows the lines "KV / RS / compute buffer size"; must not know who wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LINE = re.compile(
    r":\s+(?P<buffer>\S+)\s+(?P<use>KV|RS|compute) buffer size = +(?P<mib>[\d.]+) MiB"
)
_MIB = 2**20
# The log rounds every buffer to a hundredth of a MiB.
_ROUNDING_BYTES = 0.005 * _MIB + 1


@dataclass(frozen=True)
class LoggedBytes:
    """Bytes of one use in all buffers.

    Attributes:
        size_bytes: As logged, in bytes.
        lines: Lines it is the sum of, each of them rounded.
    """

    size_bytes: float = 0.0
    lines: int = 0

    def agrees_with(self, exact_bytes: int) -> bool:
        """Whether ``exact_bytes`` would have been logged like this."""
        return abs(exact_bytes - self.size_bytes) <= self.lines * _ROUNDING_BYTES


@dataclass(frozen=True)
class LoggedBuffers:
    """The buffers of one context: KV cache, recurrent state, compute."""

    kv: LoggedBytes
    recurrent: LoggedBytes
    compute: LoggedBytes


def read_buffers(lines: Iterable[str]) -> LoggedBuffers:
    """Sum up the log of one context.

    A cache logs one line per part (layers with and without a window). Compute buffers are logged
    again whenever they are reserved again, so the last line of each device counts.
    """
    caches: dict[str, list[float]] = {"KV": [], "RS": []}
    compute: dict[str, float] = {}
    for line in lines:
        if found := _LINE.search(line):
            size = float(found["mib"]) * _MIB
            if found["use"] == "compute":
                compute[found["buffer"]] = size
            else:
                caches[found["use"]].append(size)
    return LoggedBuffers(
        kv=_sum(caches["KV"]), recurrent=_sum(caches["RS"]), compute=_sum(list(compute.values()))
    )


def _sum(sizes: list[float]) -> LoggedBytes:
    return LoggedBytes(sum(sizes), len(sizes))
