"""Plans and really loads placements, and asks the workers what that took.

``python -m tests.engine.children.place_on_workers LOG…`` reads a JSON list of settings from its
input and prints one JSON list: for each the planned and the real ``MemoryPlan`` and the bytes that
the worker of each log holds meanwhile.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from engine_bridge.child.allocated import allocated
from engine_bridge.child.llama import Context, Model
from engine_bridge.child.nextn import attach_mtp
from engine_bridge.child.planner import Planner
from engine_bridge.settings.config import EngineConfig
from tests.engine.workers import held_bytes


def main(*logs: str) -> None:
    """Answer the placements on standard input."""
    placements = msgspec.json.decode(sys.stdin.buffer.read(), type=list[dict[str, object]])
    planner = Planner()
    found = []
    for placement in placements:
        config = EngineConfig.from_values(placement)
        planned = planner.plan(config)
        assert planned.effective is not None, planned.problems
        model = Model.load(config.model_path, config)
        context = Context.create(model, config)
        attach_mtp(context, config)
        real = allocated(context, config, 0.0)
        found.append((planned, real, [held_bytes(Path(log)) for log in logs]))
        context.close()
        model.close()
    planner.close()
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
