"""Bytes of every buffer type of a context, out of a C++ map.

Knows the layout of libstdc++'s ``std::map``; must not know llama.cpp's headers beyond one symbol.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, replace

from engine_bridge.child.ggml import BufferType, Ggml
from engine_bridge.child.split_graph import SplitGraph

# llama_get_memory_breakdown of src/llama-ext.h, as the Itanium ABI spells it.
_SYMBOL = "_Z26llama_get_memory_breakdownPK13llama_context"
_DELETE = "_ZdlPv"  # operator delete(void *)


class NotSupportedError(RuntimeError):
    """This platform's C++ library cannot be read; the message is a sentence for the user."""


@dataclass(frozen=True)
class BufferBytes:
    """Bytes of one buffer type.

    Attributes:
        buffer: The buffer type.
        model: Bytes of weights.
        context: Bytes of KV cache and recurrent state.
        compute: Bytes of compute buffers.
    """

    buffer: BufferType
    model: int
    context: int
    compute: int


class _Map(ctypes.Structure):
    """std::map of libstdc++: comparator, red-black header (colour, root, ends), size."""

    _fields_ = (
        ("comparator", ctypes.c_size_t),
        ("colour", ctypes.c_size_t),
        ("root", ctypes.c_void_p),
        ("leftmost", ctypes.c_void_p),
        ("rightmost", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
    )


class _Node(ctypes.Structure):
    """A node of it holding (buffer type, model, context, compute)."""

    _fields_ = (
        ("colour", ctypes.c_size_t),
        ("parent", ctypes.c_void_p),
        ("left", ctypes.c_void_p),
        ("right", ctypes.c_void_p),
        ("buffer", ctypes.c_void_p),
        ("model", ctypes.c_size_t),
        ("context", ctypes.c_size_t),
        ("compute", ctypes.c_size_t),
    )


class Breakdown:
    """Reads breakdowns through one symbol of libllama.

    Args:
        libllama: The library that exports it.
        ggml: Names the buffer types.
    """

    def __init__(self, libllama: ctypes.CDLL, ggml: Ggml) -> None:
        """Look the symbol up; where it is missing, ``read`` says so."""
        self._ggml = ggml
        self._split_graph = SplitGraph(libllama, ggml)
        self._function = None
        if sys.platform != "linux":
            return
        try:
            self._function = libllama[_SYMBOL]
            self._delete = ctypes.CDLL("libstdc++.so.6")[_DELETE]
        except (AttributeError, OSError):
            self._function = None
            return
        # Larger than two registers, so it comes back through memory the caller owns, on every
        # 64-bit ABI; only child pointers are followed, since the parent ones name a stale header.
        self._function.argtypes, self._function.restype = [ctypes.c_void_p], _Map
        self._delete.argtypes, self._delete.restype = [ctypes.c_void_p], None

    @property
    def is_supported(self) -> bool:
        """Whether this platform's map can be read."""
        return self._function is not None

    def read(self, context: int, *, of_last_graph: bool) -> tuple[BufferBytes, ...]:
        """Bytes by buffer type of the ``llama_context`` at ``context``.

        Args:
            context: A context.
            of_last_graph: It is dry, and compute buffers shall be those of the graph it built last,
                as a load splits it; llama.cpp's own figures are those of the first, and too high
                where layers lie on several boards (``split_graph``).

        Raises:
            NotSupportedError: On other platforms than Linux with libstdc++.
        """
        if self._function is None:
            raise NotSupportedError(
                "Exact memory figures come from a C++ call that is only read on Linux so far; "
                "on this system the log is the source."
            )
        found: list[BufferBytes] = []
        self._walk(self._function(context).root, found)
        compute = self._split_graph.compute_bytes(context) if of_last_graph else None
        if compute is not None:
            found = [replace(row, compute=compute.get(row.buffer, row.compute)) for row in found]
        return tuple(sorted(found, key=lambda row: row.buffer.name))

    def _walk(self, address: int | None, found: list[BufferBytes]) -> None:
        if not address:
            return
        node = _Node.from_address(address)
        self._walk(node.left, found)
        self._walk(node.right, found)
        buffer = self._ggml.buffer_type(node.buffer)
        found.append(BufferBytes(buffer, node.model, node.context, node.compute))
        self._delete(address)
