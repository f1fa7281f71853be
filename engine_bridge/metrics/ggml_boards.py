"""What ggml tells of the boards, beside what their drivers do: which one is which, and the rest.

A board that no driver here tells of (a Mac's, a remote worker's, most under Windows) is there for
ggml: at least how full it is can be shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import DeviceFacts

ONLY_GGML = "only as full as ggml tells; no driver here tells more"
_NOT_FREE = "its backend in ggml does not tell how much of it is free"
_NOT_TOLD = "ggml tells only how full it is"
# A maker's boards are called by one of these words, by drivers and by backends.
_MAKERS = (("nvidia",), ("amd", "radeon"), ("intel",), ("apple",))
_FIGURES = (
    "busy", "memory_busy", "dram", "core_clock_mhz", "memory_clock_mhz", "power_w",
    "power_limit_w", "temperature_c", "held_back", "pcie_in_bytes_per_s", "pcie_out_bytes_per_s",
)  # fmt: skip


def is_same(board_name: str, device: DeviceFacts) -> bool:
    """Whether ggml means this board: its backends add their own words behind a board's name."""
    return device.description == board_name or device.description.startswith(f"{board_name} ")


def with_ggml(
    boards: Sequence[BoardActivity], devices: Iterable[DeviceFacts], at_ns: int
) -> tuple[BoardActivity, ...]:
    """``boards`` with what ggml adds, and after them those that only ggml sees.

    Args:
        boards: What drivers tell.
        devices: What ggml told last.
        at_ns: When, ``time.perf_counter_ns()``.
    """
    left = [device for device in devices if device.kind in {"gpu", "igpu"}]
    found: list[BoardActivity] = []
    for board in boards:
        device = _device_of(board, boards, left)
        if device is None:
            found.append(board)
            continue
        left.remove(device)
        found.append(_filled(board, device, at_ns))
    alone = [
        device
        for device in left
        if not any(_is_there(board, device) for board in (*boards, *found))
    ]
    return (*found, *(_seen_by_ggml(device, at_ns) for device in alone))


def _is_there(board: BoardActivity, device: DeviceFacts) -> bool:
    """Whether a board has its row: two backends may see it, each with words of its own."""
    if board.problem:  # may have no name but its maker's, with which many begin
        return board.name == device.description
    return is_same(board.name, device)


def _device_of(
    board: BoardActivity, boards: Sequence[BoardActivity], left: Sequence[DeviceFacts]
) -> DeviceFacts | None:
    """What ggml calls a board: the same name, or the only one of its maker on both sides."""
    if board.problem:
        return None
    by_name = next((device for device in left if is_same(board.name, device)), None)
    if by_name is not None:
        return by_name
    words = _maker(board.name)
    siblings = [other for other in boards if words and _maker(other.name) == words]
    of_maker = [device for device in left if words and _maker(device.description) == words]
    is_only = len(siblings) == 1 and len({device.description for device in of_maker}) == 1
    return of_maker[0] if is_only else None


def _maker(name: str) -> tuple[str, ...]:
    """The words of the maker that a name has; empty for none that is known."""
    lower = name.lower()
    return next((words for words in _MAKERS if any(word in lower for word in words)), ())


def _filled(board: BoardActivity, device: DeviceFacts, at_ns: int) -> BoardActivity:
    """A board whose driver does not tell how full it is, by ggml; others as they are."""
    if board.memory is not None:
        return board
    name = board.name if is_same(board.name, device) else device.description or board.name
    memory = _memory(name, device, board.engine_bytes, at_ns)
    refused = {key: why for key, why in board.refused.items() if key != "memory" or memory is None}
    return replace(board, name=name, memory=memory, refused=refused)


def _seen_by_ggml(device: DeviceFacts, at_ns: int) -> BoardActivity:
    name = device.description or device.name
    memory = _memory(name, device, None, at_ns)
    refused = dict.fromkeys(_FIGURES, _NOT_TOLD)
    if memory is None:
        refused["memory"] = _NOT_FREE
    return BoardActivity(name, memory=memory, remark=ONLY_GGML, refused=refused)


def _memory(
    name: str, device: DeviceFacts, engine_bytes: int | None, at_ns: int
) -> MemorySnapshot | None:
    """How full it is; None where all of it is said to be free, whatever is used."""
    if not 0 <= device.free < device.total:
        return None
    return MemorySnapshot(
        at_ns=at_ns,
        kind="gpu",
        name=name,
        total_bytes=device.total,
        used_bytes=device.total - device.free,
        engine_owned_bytes=engine_bytes,
        peak_how="ggml does not tell it",
    )
