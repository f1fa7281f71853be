"""That memory ran out, as llama.cpp, ggml or the C++ library word it.

Pure text; serves the engine, which hears its library's log, and the window, which has the last
lines of an engine that died.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

HOST = "CPU"
Use = Literal["weights", "kv", "recurrent", "compute", "output", ""]

# ggml/src/ggml-alloc.c, for weights and caches as for compute buffers.
_BUFFER = re.compile(r"failed to allocate (?!output)(\S+) buffer of size (\d+)")
# ggml/src/ggml.c, for whatever lies in host memory; the line above follows where it is a buffer.
_HOST_BYTES = re.compile(r"insufficient memory \(attempted to allocate +([\d.]+) MB\)")
_OUTPUT = re.compile(r"failed to allocate output buffer of size ([\d.]+) MiB")
# ggml_cuda_error in ggml/src/ggml-cuda/ggml-cuda.cu, which aborts.
_CURRENT = re.compile(r"current device: (\d+)")
# What the buffer was for, from the lines of src/llama-*.cpp that follow.
_USES: tuple[tuple[str, Use], ...] = (
    ("buffer for kv cache", "kv"),
    ("buffer for rs cache", "recurrent"),
    ("failed to allocate compute", "compute"),
    ("failed to allocate graph", "compute"),
    ("gallocr_reserve", "compute"),
    ("output buffer of size", "output"),
    ("unable to allocate", "weights"),
    ("mmap failed", "weights"),
)
_OTHER_WORDS = (
    "std::bad_alloc",
    "out of memory",
    "cannot allocate memory",
    "insufficient memory",
    "failed to allocate",
    "unable to allocate",
    "thread creation failed",
    "can't start new thread",
    "memoryerror",
)
_MIB = 2**20
_WORDS: dict[Use, str] = {
    "weights": "the weights",
    "kv": "the KV cache",
    "recurrent": "the recurrent state",
    "compute": "the compute buffer",
    "output": "the output buffer",
    "": "a buffer",
}


class MemoryFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An allocation that failed.

    Attributes:
        device: As ggml calls it, ``CPU`` for host memory.
        use: What the buffer was for; empty if nobody said.
        bytes: Its size, 0 if nobody said.
    """

    device: str = HOST
    use: Use = ""
    bytes: int = 0

    @property
    def use_words(self) -> str:
        """What the buffer was for, to follow "for"."""
        return _WORDS[self.use]

    @property
    def sentence(self) -> str:
        """What happened: ``Memory ran out: the KV cache of 1.5 GiB did not fit into …``."""
        size = f" of {_size_text(self.bytes)}" if self.bytes else ""
        return f"Memory ran out: {self.use_words}{size} did not fit into {self.device_words}."

    @property
    def device_words(self) -> str:
        """Where it was to lie, to follow "in"."""
        return "system memory" if self.device == HOST else f"the memory of {self.device}"


def fault_in(lines: Sequence[str]) -> MemoryFault | None:
    """The allocation that failed by these lines of a log, None if they tell of none."""
    if not any(word in line.lower() for line in lines for word in _OTHER_WORDS):
        return None
    use: Use = next((use for line in lines for words, use in _USES if words in line), "")
    for line in lines:
        if found := _BUFFER.search(line):
            return MemoryFault(_device_of(found[1]), use, int(found[2]))
    for pattern in (_OUTPUT, _HOST_BYTES):
        for line in lines:
            if found := pattern.search(line):
                return MemoryFault(HOST, use, round(float(found[1]) * _MIB))
    return MemoryFault(_board_in(lines) or HOST, use)


def _board_in(lines: Sequence[str]) -> str:
    """The board whose driver ended the process, or the empty string."""
    if not any("cuda" in line.lower() for line in lines):
        return ""
    found = next((found for line in lines if (found := _CURRENT.search(line))), None)
    return f"CUDA{found[1] if found else 0}"


def _size_text(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 // 10 else f"{size / _MIB:.0f} MiB"


def _device_of(buffer: str) -> str:
    """The device of ``CUDA0``, ``RPC0[host:port]``, ``CPU_REPACK`` or ``CUDA_Host``."""
    name = buffer.partition("[")[0]
    return HOST if name.startswith(HOST) or name.endswith("_Host") else name
