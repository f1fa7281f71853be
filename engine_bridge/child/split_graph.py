"""Compute buffers of a dry context, of the graph as a load would really split it.

llama.cpp wants some steps of a layer on the device of that layer, and tells its scheduler so while
it builds a graph. The call by which a dry run counts bytes forgets that wish before it splits
(``ggml_backend_sched_reserve_size`` resets what ``graph_get_cb`` in src/llama-context.cpp has set):
the first norm of a board then stands on the board before, and one tensor more is handed from board
to board, four times where several steps are under way at once. The last graph that a dry context
builds is only split, with all wishes kept; what it takes is asked of ggml's allocator here.

Knows the layout of ggml's scheduler, and checks it against the calls that tell parts of it.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from engine_bridge.child.ggml import BufferType, Ggml

# llama_context::get_sched() const, as the Itanium ABI spells it.
_SYMBOL = "_ZNK13llama_context9get_schedEv"
_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_MOST_BACKENDS = 16  # GGML_SCHED_MAX_BACKENDS


class _HashSet(ctypes.Structure):
    """ggml_hash_set."""

    _fields_ = (("size", ctypes.c_size_t), ("used", _POINTER), ("keys", _POINTER))


class _Graph(ctypes.Structure):
    """ggml_cgraph."""

    _fields_ = (
        ("size", _INT),
        ("n_nodes", _INT),
        ("n_leafs", _INT),
        ("nodes", _POINTER),
        ("grads", _POINTER),
        ("grad_accs", _POINTER),
        ("leafs", _POINTER),
        ("use_counts", _POINTER),
        ("visited", _HashSet),
        ("order", _INT),
        ("uid", ctypes.c_uint64),
    )


class SchedulerHead(ctypes.Structure):
    """The head of ggml_backend_sched, as far as the number of copies of each input."""

    _fields_ = (
        ("is_reset", ctypes.c_bool),
        ("is_alloc", ctypes.c_bool),
        ("n_backends", _INT),
        ("backends", _POINTER * _MOST_BACKENDS),
        ("bufts", _POINTER * _MOST_BACKENDS),
        ("galloc", _POINTER),
        ("hash_set", _HashSet),
        ("tensor_backends", _POINTER),
        ("tensor_copies", _POINTER),
        ("node_backends", _POINTER),
        ("leaf_backends", _POINTER),
        ("prev_node_backends", _POINTER),
        ("prev_leaf_backends", _POINTER),
        ("graph", _Graph),
        ("splits", _POINTER),
        ("n_splits", _INT),
        ("splits_capacity", _INT),
        ("n_copies", _INT),
    )


class SplitGraph:
    """Asks one libllama.

    Args:
        libllama: The library.
        ggml: Its ggml.
    """

    def __init__(self, libllama: ctypes.CDLL, ggml: Ggml) -> None:
        """Look the symbols up; where one is missing, ``compute_bytes`` knows nothing."""
        self._ggml = ggml
        self._is_known = False
        if sys.platform != "linux":
            return
        try:
            self._sched_of = libllama[_SYMBOL]
            self._count = {
                field: ggml.bind(f"ggml_backend_sched_get_{field}", [_POINTER], _INT)
                for field in ("n_backends", "n_splits", "n_copies")
            }
            self._backend = ggml.bind("ggml_backend_sched_get_backend", [_POINTER, _INT], _POINTER)
            self._buft = ggml.bind(
                "ggml_backend_sched_get_buffer_type", [_POINTER, _POINTER], _POINTER
            )
            self._sizes = ggml.bind("ggml_gallocr_reserve_n_size", [_POINTER] * 5, None)
        except AttributeError:
            return
        self._sched_of.argtypes, self._sched_of.restype = [_POINTER], _POINTER
        self._is_known = True

    def compute_bytes(self, context: Any) -> dict[BufferType, int] | None:  # noqa: ANN401
        """Bytes of compute buffers by buffer type.

        Args:
            context: Handle of a dry ``llama_context``, just made.

        Returns:
            None where this build does not say, and where nothing can be misplaced since there is
            no device but the host.
        """
        address = self._sched_of(context) if self._is_known else None
        if not address or self._count["n_backends"](address) < 2:
            return None
        head = SchedulerHead.from_address(address)
        if not self.is_laid_out(head, address):
            return None
        sizes = (ctypes.c_size_t * head.n_backends)()
        graph = address + SchedulerHead.graph.offset
        self._sizes(head.galloc, graph, head.node_backends, head.leaf_backends, sizes)
        # Backends that share a buffer type share its buffers too: each counts once.
        by_type = dict(zip(head.bufts[: head.n_backends], sizes, strict=True))
        return {self._ggml.buffer_type(buft): int(size) for buft, size in by_type.items()}

    def is_laid_out(self, head: SchedulerHead, address: int) -> bool:
        """Whether ``head`` says what the calls say of the scheduler at ``address``."""
        if any(getattr(head, field) != count(address) for field, count in self._count.items()):
            return False
        backends = range(head.n_backends)
        return all(
            head.backends[number] == (backend := self._backend(address, number))
            and head.bufts[number] == self._buft(address, backend)
            for number in backends
        )
