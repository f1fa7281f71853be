"""How the memory chart divides what a draft model takes from the rest."""

from __future__ import annotations

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.metrics.memory_meter import MemoryParts
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig

GIB = 1 << 30
_EFFECTIVE = EffectiveConfig(4096, 4, False, 16384, "on", 0, 2048, 512, 2, 2, 4)


def test_that_a_draft_model_is_a_part_of_its_own_and_its_mapped_weights_are_mapped() -> None:
    plan = MemoryPlan(
        BytesByUse(
            weights_mapped=2 * GIB, kv=GIB, draft=3 * GIB, draft_mapped=GIB, host=6 * GIB,
            total=6 * GIB,
        ),
        (DeviceBytes("CPU", weights=2 * GIB, kv=GIB, compute=0, draft=3 * GIB),),
        _EFFECTIVE,
        True,
        (),
        0.01,
    )  # fmt: skip
    meters = Meters()
    meters.fold(Applied(1, EngineConfig(), _EFFECTIVE, "reload", 1.0, plan), 10)
    # Owned: the KV cache and what the draft model does not map.
    meters.note_memory(
        (MemorySnapshot(10, "system", "Memory", 32 * GIB, 5 * GIB, 3 * GIB, 3 * GIB, 0),)
    )
    view = meters.view(10).memory
    assert view.parts == MemoryParts(2 * GIB, 3 * GIB, 0, GIB, 0, 2 * GIB, 0)
    assert view.unexplained == 0
