"""That compute buffers are asked of a scheduler only where it is laid out as they are read."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from engine_bridge.child.ggml import BufferType, Ggml
from engine_bridge.child.split_graph import SchedulerHead, SplitGraph

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layout is that of Linux")

_FIRST_BACKEND, _GALLOC = 0x1000, 0x5000
_HOST, _BOARD = 0x2000, 0x2001


class _Function:
    """A C function, as ctypes hands them out."""

    argtypes: list[Any]
    restype: Any

    def __init__(self, answer: int) -> None:
        self._answer = answer

    def __call__(self, _: object) -> int:
        return self._answer


class _Scheduler:
    """A scheduler in memory, and a ggml that tells of it what the real one would."""

    def __init__(self, bufts: Sequence[int], sizes: Sequence[int]) -> None:
        self.head = SchedulerHead(
            n_backends=len(bufts), galloc=_GALLOC, n_splits=7, n_copies=4, node_backends=1
        )
        for number, buft in enumerate(bufts):
            self.head.backends[number] = _FIRST_BACKEND + number
            self.head.bufts[number] = buft
        self._bufts, self._sizes = bufts, sizes
        self.said = {"n_backends": len(bufts), "n_splits": 7, "n_copies": 4}
        self.asked: list[tuple[int, int]] = []

    def bind(self, name: str, _: list[Any], __: object) -> Callable[..., Any]:
        field = name.removeprefix("ggml_backend_sched_get_")
        if field in self.said:
            return lambda _: self.said[field]
        if field == "backend":
            return lambda _, number: _FIRST_BACKEND + number
        if field == "buffer_type":
            return lambda _, backend: self._bufts[backend - _FIRST_BACKEND]
        assert name == "ggml_gallocr_reserve_n_size"
        return self._measure

    def buffer_type(self, handle: int) -> BufferType:
        return BufferType(hex(handle), hex(handle), handle == _HOST)

    def _measure(self, galloc: int, graph: int, _: int, __: int, sizes: Any) -> None:
        self.asked.append((galloc, graph - ctypes.addressof(self.head)))
        sizes[:] = self._sizes

    def compute_bytes(self) -> dict[BufferType, int] | None:
        address = _Function(ctypes.addressof(self.head))
        library = cast(ctypes.CDLL, _Library(address))
        return SplitGraph(library, cast(Ggml, self)).compute_bytes(0x10)


class _Library:
    def __init__(self, function: _Function) -> None:
        self._function = function

    def __getitem__(self, _: str) -> _Function:
        return self._function


def test_that_every_device_has_what_the_allocator_says() -> None:
    scheduler = _Scheduler([_BOARD, _HOST], [900, 30])
    found = scheduler.compute_bytes()
    assert found == {scheduler.buffer_type(_BOARD): 900, scheduler.buffer_type(_HOST): 30}
    assert scheduler.asked == [(_GALLOC, SchedulerHead.graph.offset)]


def test_that_backends_with_one_buffer_type_count_once() -> None:
    scheduler = _Scheduler([_BOARD, _HOST, _HOST], [900, 30, 30])
    found = scheduler.compute_bytes()
    assert found is not None
    assert sum(found.values()) == 930


def test_that_the_host_alone_is_not_asked() -> None:
    scheduler = _Scheduler([_HOST], [30])
    assert scheduler.compute_bytes() is None
    assert not scheduler.asked


@pytest.mark.parametrize("field", ["n_backends", "n_splits", "n_copies"])
def test_that_another_layout_is_never_read(field: str) -> None:
    scheduler = _Scheduler([_BOARD, _HOST], [900, 30])
    scheduler.said[field] += 1
    assert scheduler.compute_bytes() is None
    assert not scheduler.asked


@pytest.mark.parametrize("array", ["backends", "bufts"])
def test_that_other_backends_than_told_are_never_asked(array: str) -> None:
    scheduler = _Scheduler([_BOARD, _HOST], [900, 30])
    getattr(scheduler.head, array)[1] += 1
    assert scheduler.compute_bytes() is None
    assert not scheduler.asked
