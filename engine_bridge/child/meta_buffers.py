"""Split mode tensor: what ggml says of the one device that stands for several, said of each.

ggml joins the devices to a "Meta" device whose buffers are as large as the largest part in a loaded
model, and as large as all parts together in a pretended one (``ggml-backend-meta.cpp``). Every
device computes on all tokens, so compute buffers stand in each whole. What is copied to all of them
(norms) is counted with the rest, which is off by less than a percent.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.ggml import BufferType
from engine_bridge.child.placement import ModelParams
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import proportion

_META = "Meta("


def said_of_each(rows: Iterable[BufferBytes], native: ModelParams) -> tuple[BufferBytes, ...]:
    """``rows`` with those of a Meta device said of its parts.

    Args:
        rows: Bytes by buffer type.
        native: What the model was loaded with: the devices, their shares, pretended or not.
    """
    devices = native.device_names
    shares = _shares(native.config, len(devices))
    found: list[BufferBytes] = []
    for row in rows:
        if not row.buffer.device.startswith(_META) or not devices:
            found.append(row)
            continue
        whole = 1.0 if native.is_dry else max(shares)
        for name, share in zip(devices, shares, strict=True):
            part = share / whole
            buffer = BufferType(name, name, False)
            size = (round(row.model * part), round(row.context * part), row.compute)
            found.append(BufferBytes(buffer, *size))
    return tuple(found)


def _shares(config: EngineConfig, count: int) -> list[float]:
    """Shares that add up to 1; equal ones where none are asked for."""
    asked = [proportion(text) for text in config.tensor_split[:count]]
    asked += [0.0] * (count - len(asked))
    total = sum(asked)
    return [share / total for share in asked] if total else [1 / max(1, count)] * count
