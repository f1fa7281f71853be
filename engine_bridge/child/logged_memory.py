"""Memory figures from llama.cpp's log, where its C++ call cannot be read.

The log rounds to a hundredth of a MiB and says nothing of what a board's buffers are for beyond
their kind. Knows log lines; must not know the breakdown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from engine_bridge.child.allocated import effective_of, output_bytes_of
from engine_bridge.child.llama import Context
from engine_bridge.child.memory_shape import HOST, MemoryShape
from engine_bridge.host_caches import drafting_bytes
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.settings.config import EngineConfig

_LINE = re.compile(r"(\S+) +(model|KV|RS|compute) buffer size = +([\d.]+) MiB")
_MIB = 1 << 20


def memory_from_log(
    context: Context, config: EngineConfig, seconds: float, draft: Context | None = None
) -> MemoryPlan:
    """What ``context`` and its model said they allocated, and the same of a draft model's."""
    shape = _shape((*context.model.log, *context.log), output_bytes_of(context))
    if draft is not None:
        shape = shape.with_draft(_shape((*draft.model.log, *draft.log), output_bytes_of(draft)))
    if context.mtp is not None:
        mtp = context.mtp
        weights = () if mtp.model is context.model else mtp.model.log
        shape = shape.with_draft(_shape((*weights, *mtp.log), output_bytes_of(mtp)))
    shape = shape.with_drafting(drafting_bytes(config, shape.bytes.recurrent))
    effective = effective_of(context, config, context.flash_attn)
    return MemoryPlan(shape.bytes, shape.devices, effective, True, (), seconds)


def _shape(log: Iterable[str], output: int) -> MemoryShape:
    found: Counter[tuple[str, str]] = Counter()
    for line in log:
        if match := _LINE.search(line):
            found[match[1], match[2]] += round(float(match[3]) * _MIB)
    names = sorted({_device(buffer) for buffer, _ in found} - {HOST})
    devices = tuple(_device_bytes(name, found, output) for name in (*names, HOST))
    mapped = sum(size for (buffer, _), size in found.items() if buffer.endswith("_Mapped"))

    def use(kind: str) -> int:
        return sum(size for (_, of), size in found.items() if of == kind)

    host = devices[-1]
    return MemoryShape(
        BytesByUse(
            weights=use("model") - mapped,
            weights_mapped=mapped,
            kv=use("KV"),
            recurrent=use("RS"),
            compute=use("compute"),
            output=output,
            host=host.weights + host.kv + host.compute,
            total=sum(found.values()) + output,
        ),
        devices,
    )


def _device(buffer: str) -> str:
    is_host = buffer.startswith("CPU") or buffer.endswith("_Host")
    return "CPU" if is_host else buffer.removesuffix("_Mapped")


def _device_bytes(name: str, found: Counter[tuple[str, str]], output: int) -> DeviceBytes:
    own = {key: size for key, size in found.items() if _device(key[0]) == name}
    return DeviceBytes(
        name=name,
        weights=sum(size for (_, kind), size in own.items() if kind == "model"),
        kv=sum(size for (_, kind), size in own.items() if kind in ("KV", "RS")),
        compute=sum(size for (_, kind), size in own.items() if kind == "compute")
        + (output if name == "CPU" else 0),
    )
