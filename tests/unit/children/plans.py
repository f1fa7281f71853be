"""Plans without llama.cpp: what fits is up to the file's name.

``tight.gguf`` fits at 1,024 tokens or with a q8_0 cache, and not at all where an allocation
failed; ``never.gguf`` with nothing, of ``hangs.gguf`` nothing is answered, ``dies.gguf`` ends the
process, ``bad.gguf`` is refused.
"""

from __future__ import annotations

import os
import sys
import time

import msgspec

from app.fit_check import PlanRequest
from app.planning import PlanAnswer, PlanRefusal
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, EffectiveConfig, MemoryPlan
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import Problem

GIB = 1 << 30


def main() -> None:
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=PlanRequest)
    config = request.config
    name = config.model_path.rpartition("/")[2]
    if name == "hangs.gguf":
        time.sleep(600)
    if name == "dies.gguf":
        sys.stderr.write("ggml_abort: no\n")
        sys.stderr.flush()
        os._exit(3)
    answer: PlanAnswer | PlanRefusal = PlanAnswer(plan_of(request, name))
    if name == "bad.gguf":
        answer = PlanRefusal("bad.gguf is no model.")
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def plan_of(request: PlanRequest, name: str) -> MemoryPlan:
    fits = name == "fits.gguf"
    ways: tuple[dict[str, Value], ...] = ()
    if name == "tight.gguf":
        coarse: dict[str, Value] = {"cache_type_k": "q8_0", "cache_type_v": "q8_0"}
        ways = ({"ctx_per_slot_tok": 1024}, coarse)
        if request.failed is not None:
            ways = ({"ctx_per_slot_tok": 768},)
    kv = GIB if fits else 8 * GIB
    problem = Problem(("ctx_per_slot_tok",), "Too large.", {"ctx_per_slot_tok": 1024})
    return MemoryPlan(
        BytesByUse(weights=GIB, kv=kv, total=GIB + kv),
        (DeviceBytes("CPU", GIB, kv, 0, 4 * GIB, 8 * GIB),),
        EffectiveConfig(4096, 4, False, 16384, "on", 0, 2048, 512, 2, 2, 4),
        fits,
        () if fits else (problem,),
        0.1,
        ways,
    )


if __name__ == "__main__":
    main()
