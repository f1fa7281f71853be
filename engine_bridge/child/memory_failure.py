"""An allocation that really failed: what it tells of the memory, and how to say it.

The dry run had promised room, or nobody had asked it: whatever the device says of itself, it had
less than was taken until then and the failed buffer together. Pure arithmetic and words.
"""

from __future__ import annotations

from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import Room, gib_text, keys_to_move
from engine_bridge.memory_fault import MemoryFault
from engine_bridge.memory_plan import DeviceBytes
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem

_ADVICE = "Shorten the context, use a q8_0 cache or fewer slots, or close other programs."


def room_after(fault: MemoryFault, shape: MemoryShape, room: Room) -> Room:
    """The room that the failure leaves to believe in."""
    need = _need(fault, shape)
    return room if need is None else room.limited_to(need.name, bytes_tried(fault, need))


def bytes_tried(fault: MemoryFault, need: DeviceBytes) -> int:
    """Bytes of a device that were taken, the failed buffer included.

    Weights come first, those of a draft model among them, then caches, then compute buffers.
    """
    if fault.use == "weights":
        return need.weights + need.draft
    if fault.use in ("kv", "recurrent"):
        return need.weights + need.draft + need.kv
    return need.needed


def failure_problem(
    fault: MemoryFault, shape: MemoryShape, room: Room, config: EngineConfig
) -> Problem:
    """The failure in a sentence: which buffer, by how much, and what helps.

    Args:
        fault: What failed.
        shape: What the configuration needs by the dry run.
        room: Free memory as the devices say it, now that nothing of it is taken.
        config: What was to run.
    """
    what = fault.sentence
    need = _need(fault, shape)
    if need is None:
        return Problem(keys_to_move(fault.device, config), f"{what} {_ADVICE}")
    tried = bytes_tried(fault, need)
    free = next((d.free for d in room.memory if d.name == need.name and d.total > 0), None)
    if free is not None and free < tried:
        why = f"{gib_text(tried)} were needed until then and {gib_text(free)} are free: "
        why += f"{gib_text(tried - free)} are missing."
    else:
        why = f"{gib_text(tried)} were needed until then"
        why += "." if free is None else f", and {gib_text(free)} seem free but cannot be had."
    return Problem(keys_to_move(need.name, config), f"{what} {why} {_ADVICE}")


def _need(fault: MemoryFault, shape: MemoryShape) -> DeviceBytes | None:
    return next((need for need in shape.devices if need.name == fault.device), None)
