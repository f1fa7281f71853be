"""Loads with ``auto`` on a remote device that is too small; a process of its own, as devices stay.

``python -m tests.engine.children.place_on_board MODEL ENDPOINT PLACEMENT`` lends the engine as much
of the device as that placement (settings as JSON) takes, whatever the device says, and prints a
``Report`` as JSON.
"""

from __future__ import annotations

import sys

import msgspec

from engine_bridge.child import planner as planning
from engine_bridge.child.allocated import memory_now
from engine_bridge.child.planner import Planner
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import Applied, DeviceFacts
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, tiny_config

MOST_BYTES = 2**40


class Report(msgspec.Struct):
    """What was planned, and what came of it: first as asked, then with a longer context.

    Attributes:
        planned: By the planner, before.
        loaded: By the engine.
        replanned: The longer context, by the planner, while the first runs.
        replaced: The engine's answer to it.
    """

    planned: MemoryPlan
    loaded: Applied
    replanned: MemoryPlan
    replaced: Applied


class Board:
    """The device as it would be if it held no more than ``most`` bytes."""

    def __init__(self, desk: InProcess) -> None:
        self.most = MOST_BYTES
        self._desk = desk

    def memory(self) -> tuple[DeviceFacts, ...]:
        board, host = memory_now()
        engine = self._desk.loop._requests.engine
        held = 0
        if engine is not None:
            held = sum(d.needed for d in engine.memory.devices if d.name == board.name)
        free = self.most - held
        return msgspec.structs.replace(board, free=free, total=MOST_BYTES), host


def main(path: str, endpoint: str, placement: str) -> None:
    workers: dict[str, object] = {"rpc_servers": (endpoint,)}
    config = tiny_config(path, fit_margin_mib=0, load_mode="none").with_values(workers)
    longer = config.with_values({"ctx_per_slot_tok": 65_536, "slots": 4})
    with InProcess() as desk:
        board = Board(desk)
        setattr(planning, "memory_now", board.memory)  # noqa: B010 - no name of its own there
        planner = Planner()
        given = msgspec.json.decode(placement, type=dict[str, object])
        board.most = board_bytes(planner, config.with_values(given))
        planned = planner.plan(config)
        loaded = desk.load(config)
        replanned = planner.plan(longer, loaded.memory, keeps_model=True)
        replaced = desk.apply(longer)
        planner.close()
    assert isinstance(replaced, Applied), replaced
    report = Report(planned, loaded, replanned, replaced)
    sys.stdout.buffer.write(msgspec.json.encode(report))


def board_bytes(planner: Planner, config: EngineConfig) -> int:
    """What ``config`` takes of the board."""
    return planner.plan(config).devices[0].needed


if __name__ == "__main__":
    main(*sys.argv[1:])
