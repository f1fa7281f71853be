"""Plans and really loads placements; a process of its own, since devices stay once added.

``python -m tests.engine.children.place_models`` reads a JSON list of settings from its input and
prints one JSON list: for each the planned and the real ``MemoryPlan``.
"""

from __future__ import annotations

import sys

import msgspec

from engine_bridge.child.llama import GGML
from engine_bridge.child.planner import Planner
from engine_bridge.settings.config import EngineConfig
from tests.engine.children.plan_on_boards import really


def main() -> None:
    """Answer the placements on standard input."""
    placements = msgspec.json.decode(sys.stdin.buffer.read(), type=list[dict[str, object]])
    planner = Planner()
    pairs = []
    for placement in placements:
        config = EngineConfig.from_values(placement)
        planned = planner.plan(config)
        assert planned.effective is not None, planned.problems
        assert GGML.used_workers == config.rpc_servers
        pairs.append((planned, really(config)))
    planner.close()
    sys.stdout.buffer.write(msgspec.json.encode(pairs))


if __name__ == "__main__":
    main()
