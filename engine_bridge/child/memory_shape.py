"""From buffers to the figures people read: bytes by use and by device.

Pure arithmetic on buffers that someone else has asked for, dry or real.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.ggml import BufferType
from engine_bridge.memory_plan import BytesByUse, DeviceBytes
from engine_bridge.protocol import DeviceFacts

HOST = "CPU"
# How llama.cpp names buffers that lie over the mapped file.
_MAPPED_SUFFIX = "_Mapped"


@dataclass(frozen=True)
class MemoryShape:
    """What a context and its model occupy.

    Attributes:
        bytes: Bytes by use.
        devices: Bytes by device, boards first, host memory last.
    """

    bytes: BytesByUse
    devices: tuple[DeviceBytes, ...]

    @property
    def host_owned_bytes(self) -> int:
        """Host memory that is not merely mapped."""
        return self.bytes.host - self.bytes.weights_mapped - self.bytes.draft_mapped

    def with_more_weights(self, size: int) -> MemoryShape:
        """These figures with ``size`` bytes more, on the device that holds most of the weights."""
        holder = max(self.devices, key=lambda device: device.weights)
        devices = tuple(
            msgspec.structs.replace(device, weights=device.weights + size)
            if device is holder
            else device
            for device in self.devices
        )
        on_host = size if holder.name == HOST else 0
        return MemoryShape(
            msgspec.structs.replace(
                self.bytes,
                weights=self.bytes.weights + size,
                host=self.bytes.host + on_host,
                total=self.bytes.total + size,
            ),
            devices,
        )

    def with_draft(self, draft: MemoryShape) -> MemoryShape:
        """This model's figures with a draft model's beside them."""
        by_name = {device.name: device for device in draft.devices}
        devices = tuple(
            msgspec.structs.replace(device, draft=_total(by_name.pop(device.name, None)))
            for device in self.devices
        )
        alone = tuple(
            msgspec.structs.replace(device, weights=0, kv=0, compute=0, draft=_total(device))
            for device in by_name.values()
        )
        return MemoryShape(
            msgspec.structs.replace(
                self.bytes,
                draft=draft.bytes.total,
                draft_mapped=draft.bytes.weights_mapped,
                host=self.bytes.host + draft.bytes.host,
                total=self.bytes.total + draft.bytes.total,
            ),
            (*devices[:-1], *alone, devices[-1]),
        )

    def with_drafting(self, size: int) -> MemoryShape:
        """These figures with ``size`` bytes of host memory more that drafting takes."""
        host = self.devices[-1]
        return MemoryShape(
            msgspec.structs.replace(
                self.bytes,
                draft=self.bytes.draft + size,
                host=self.bytes.host + size,
                total=self.bytes.total + size,
            ),
            (*self.devices[:-1], msgspec.structs.replace(host, draft=host.draft + size)),
        )


def shape_of(
    buffers: Iterable[BufferBytes],
    *,
    output_bytes: int,
    recurrent_bytes: int,
    memory: Sequence[DeviceFacts] = (),
) -> MemoryShape:
    """Sum buffers up.

    Args:
        buffers: Bytes by buffer type, as ``Context.memory_breakdown`` gives them.
        output_bytes: Of the logits buffer, which lies in host memory.
        recurrent_bytes: The part of the context's buffers that is state, not cache.
        memory: Devices to name even where nothing lies on them, with free and total bytes.
    """
    rows = tuple(buffers)
    known = {device.name: device for device in memory}
    names = [*known, *(row.buffer.device for row in rows), HOST]
    order = [name for name in dict.fromkeys(names) if name != HOST]
    devices = tuple(_device(name, rows, output_bytes, known.get(name)) for name in [*order, HOST])
    context = sum(row.context for row in rows)
    mapped = sum(row.model for row in rows if row.buffer.name.endswith(_MAPPED_SUFFIX))
    host = devices[-1]
    return MemoryShape(
        BytesByUse(
            weights=sum(row.model for row in rows) - mapped,
            weights_mapped=mapped,
            kv=context - recurrent_bytes,
            recurrent=recurrent_bytes,
            compute=sum(row.compute for row in rows),
            output=output_bytes,
            host=host.needed,
            total=sum(device.needed for device in devices),
        ),
        devices,
    )


def _device(
    name: str, rows: tuple[BufferBytes, ...], output_bytes: int, facts: DeviceFacts | None
) -> DeviceBytes:
    own = [row for row in rows if row.buffer.device == name]
    return DeviceBytes(
        name=name,
        weights=sum(row.model for row in own),
        kv=sum(row.context for row in own),
        compute=sum(row.compute for row in own) + (output_bytes if name == HOST else 0),
        free=facts.free if facts else -1,
        total=facts.total if facts else -1,
    )


def _total(device: DeviceBytes | None) -> int:
    return 0 if device is None else device.needed


def mapped_as_loaded(rows: Iterable[BufferBytes], mapped_bytes: int) -> tuple[BufferBytes, ...]:
    """The buffers of a dry model as they will be once the file is mapped into memory.

    A dry model counts the host's plain weights as allocated; loaded with mmap they become one
    stretch of the file, ``mapped_bytes`` long.
    """
    loaded = []
    for row in rows:
        if row.buffer.name == HOST:
            loaded.append(BufferBytes(row.buffer, 0, row.context, row.compute))
            mapped = BufferType(HOST + _MAPPED_SUFFIX, HOST, True)
            loaded.append(BufferBytes(mapped, mapped_bytes, 0, 0))
        else:
            loaded.append(row)
    return tuple(loaded)
