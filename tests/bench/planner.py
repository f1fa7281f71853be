"""The planner: how long an answer takes, and whether it comes true.

Every prediction is held against the real load in the engine and against what ``llama-server``
logs when it is started with the exported line. Knows the protocol and the export.
"""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.export.targets import TARGETS
from engine_bridge import protocol
from engine_bridge.memory_plan import BytesByUse, MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from tests.bench.buffer_log import LoggedBuffers, read_buffers
from tests.bench.engine import EngineProcess
from tests.bench.peer import ServerProcess

PLANS = 200
TARGET_P95_S = 0.010
_ANSWER_S = 30.0
_LOAD_S = 120.0
_MIB = 2**20

# What changes the buffers: pool, slots, sharing, types, flash attention, batches, drafts.
PARITY_SETTINGS: tuple[dict[str, object], ...] = (
    {},
    {"slots": 1, "ctx_per_slot_tok": 8192},
    {"slots": 3, "ctx_per_slot_tok": 2700},
    {"slots": 4, "ctx_per_slot_tok": 4096, "kv_unified": True},
    {"slots": 2, "ctx_per_slot_tok": 4096, "cache_type_k": "q8_0", "cache_type_v": "q8_0"},
    {"slots": 2, "ctx_per_slot_tok": 4096, "cache_type_k": "q4_0", "flash_attn": "off"},
    {"slots": 8, "ctx_per_slot_tok": 1024, "batch_tok": 512, "ubatch_tok": 128},
    {"slots": 4, "ctx_per_slot_tok": 2048, "swa_full": True},
    {"slots": 4, "ctx_per_slot_tok": 2048, "spec_types": ["ngram-simple"]},
)


@dataclass(frozen=True)
class Latency:
    """How long plans took, in seconds.

    Attributes:
        own_s: As the planner timed itself, ``(plans,)``.
        seen_s: From sending the question to reading the answer, ``(plans,)``.
    """

    own_s: NDArray[np.float64]
    seen_s: NDArray[np.float64]

    @property
    def p95_s(self) -> float:
        """95th percentile of what the asker sees."""
        return float(np.quantile(self.seen_s, 0.95))


@dataclass(frozen=True)
class Parity:
    """One configuration, three times.

    Attributes:
        model: Name of the model.
        settings: What differs from the defaults.
        planned: What the dry run said.
        loaded: What the engine really allocated.
        logged: What ``llama-server`` logged with the exported line.
        line: That line.
    """

    model: str
    settings: dict[str, object]
    planned: BytesByUse
    loaded: BytesByUse
    logged: LoggedBuffers
    line: str

    @property
    def faults(self) -> tuple[str, ...]:
        """Uses in which the three differ, in words; empty if all agree."""
        found = []
        for use in ("kv", "recurrent", "compute"):
            planned, loaded = getattr(self.planned, use), getattr(self.loaded, use)
            logged = getattr(self.logged, use)
            if planned != loaded:
                found.append(f"{use}: engine {loaded / _MIB:.2f} MiB")
            if not logged.agrees_with(planned):
                found.append(f"{use}: llama-server {logged.size_bytes / _MIB:.2f} MiB")
        return tuple(found)


def measure_latency(model: Path, plans: int = PLANS) -> Latency:
    """Ask an idle engine that runs ``model`` for ``plans`` plans, one after another.

    Context and slots wander as under dragged faders; no two plans are alike.

    Args:
        model: The GGUF file.
        plans: 1 to 255.

    Raises:
        ContenderError: If the engine dies, refuses or is too slow.
    """
    engine = EngineProcess()
    try:
        config = EngineConfig(model_path=str(model))
        _load(engine, config)
        # After its first load the engine measures the memory's bandwidth, with all cores.
        engine.wait_for(protocol.BandwidthMeasured, _ANSWER_S)
        places = list(itertools.product(range(256, 16_384 + 1, 256), (1, 2, 3, 4)))
        own, seen = [], []
        for number, place in enumerate(np.random.default_rng(1).permutation(places)[: plans + 1]):
            context, slots = (int(value) for value in place)
            candidate = config.with_values({"ctx_per_slot_tok": context, "slots": slots})
            begun = time.perf_counter()
            plan = _plan(engine, candidate)
            # The first one builds the dry model, which all later ones share.
            if number:
                seen.append(time.perf_counter() - begun)
                own.append(plan.seconds)
        return Latency(np.array(own), np.array(seen))
    finally:
        engine.close()


def measure_parity(name: str, model: Path, binary: Path) -> list[Parity]:
    """Predict, apply and start ``llama-server`` for each of ``PARITY_SETTINGS``.

    Raises:
        ContenderError: If a program does not do its part.
    """
    engine = EngineProcess()
    try:
        facts = _load(engine, EngineConfig(model_path=str(model))).model
        assert facts is not None
        return [_compare(engine, name, facts, binary, settings) for settings in PARITY_SETTINGS]
    finally:
        engine.close()


def _compare(
    engine: EngineProcess,
    name: str,
    facts: ModelFacts,
    binary: Path,
    settings: dict[str, object],
) -> Parity:
    config = EngineConfig(model_path=facts.path).with_values(settings)
    plan = _plan(engine, config)
    engine.send(protocol.Apply(request_id=engine.next_id(), config=config))
    applied = engine.wait_for(protocol.Applied, _LOAD_S)
    export = TARGETS["llama-server"](config, applied.effective, facts)
    _, *arguments = shlex.split(export.text)
    if arguments[:1] == ["serve"]:  # the same program under its newer name
        arguments = arguments[1:]
    server = ServerProcess(binary, [*arguments, "-lv", "4"])
    server.close()
    return Parity(
        model=name,
        settings=settings,
        planned=plan.bytes,
        loaded=applied.memory.bytes,
        logged=read_buffers(server.lines),
        line=export.text,
    )


def _load(engine: EngineProcess, config: EngineConfig) -> protocol.Applied:
    engine.send(protocol.Load(request_id=engine.next_id(), config=config))
    return engine.wait_for(protocol.Applied, _LOAD_S)


def _plan(engine: EngineProcess, config: EngineConfig) -> MemoryPlan:
    engine.send(protocol.Plan(plan_id=engine.next_id(), config=config))
    return engine.wait_for(protocol.PlanReady, _ANSWER_S).plan


def as_json(latency: Latency, parity: Sequence[Parity], machine: str) -> dict[str, Any]:
    """The content of ``planner.json``: milliseconds and bytes."""
    return {
        "machine": machine,
        "plans": len(latency.own_s),
        "own_ms": _quantiles_ms(latency.own_s),
        "seen_ms": _quantiles_ms(latency.seen_s),
        "parity": [
            {
                "model": row.model,
                "settings": row.settings,
                "planned": _uses(row.planned),
                "loaded": _uses(row.loaded),
                "llama_server": {
                    use: getattr(row.logged, use).size_bytes
                    for use in ("kv", "recurrent", "compute")
                },
                "equal": not row.faults,
                "line": row.line,
            }
            for row in parity
        ],
    }


def _uses(size: BytesByUse) -> dict[str, int]:
    return {"kv": size.kv, "recurrent": size.recurrent, "compute": size.compute}


def _quantiles_ms(seconds: NDArray[np.float64]) -> dict[str, float]:
    p50, p95 = np.quantile(seconds, [0.5, 0.95]) * 1e3
    return {"p50": float(p50), "p95": float(p95), "max": float(seconds.max() * 1e3)}


def table(latency: Latency, parity: Sequence[Parity]) -> str:
    """The figures as text."""
    own, seen = _quantiles_ms(latency.own_s), _quantiles_ms(latency.seen_s)
    verdict = "met" if latency.p95_s <= TARGET_P95_S else "MISSED"
    lines = [
        f"plans on an idle engine: {len(latency.own_s)}",
        f"  planner's own clock  p50 {own['p50']:.2f} ms  p95 {own['p95']:.2f} ms",
        f"  as the asker sees it p50 {seen['p50']:.2f} ms  p95 {seen['p95']:.2f} ms",
        f"  target: p95 at most {TARGET_P95_S * 1e3:.0f} ms: {verdict}",
        "",
        f"{'model':<20} {'KV MiB':>8} {'state':>7} {'compute':>8}  "
        "predicted = loaded = llama-server?",
    ]
    for row in parity:
        sizes = row.planned
        said = "equal" if not row.faults else "; ".join(row.faults)
        lines.append(
            f"{row.model:<20} {sizes.kv / _MIB:>8.2f} {sizes.recurrent / _MIB:>7.2f} "
            f"{sizes.compute / _MIB:>8.2f}  {said}  {_settings_text(row.settings)}"
        )
    return "\n".join(lines)


def _settings_text(settings: dict[str, object]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"
