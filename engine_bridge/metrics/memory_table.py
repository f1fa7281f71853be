"""Memory by use, predicted beside measured, for main memory and for each board.

What the system measures is how much the engine holds in all, how much of that keeps prompts, and
which pages of files it has mapped. What that is for is taken from the plan, in its order, as far as
the measured bytes reach; what no plan accounts for is the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.metrics.memory_meter import MemoryParts, split
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import DeviceFacts

HOST = "CPU"
Use = Literal["mapped", "weights", "kv", "compute", "draft", "caches", "rest"]


@dataclass(frozen=True)
class UseBytes:
    """Bytes of one use.

    Attributes:
        use: What for.
        predicted: By the plan of what runs; None where nothing predicts it.
        measured: By the system; None where nothing measures it.
        is_limit: ``predicted`` is the most that it may become, not what is expected now.
    """

    use: Use
    predicted: int | None
    measured: int | None
    is_limit: bool = False

    @property
    def difference(self) -> int | None:
        """Measured − predicted; None where that says nothing."""
        if self.predicted is None or self.measured is None:
            return None
        if self.is_limit:
            return max(0, self.measured - self.predicted) or None
        return self.measured - self.predicted


@dataclass(frozen=True)
class MemoryTable:
    """One memory.

    Attributes:
        name: For the user.
        device: As ggml calls it, ``CPU`` for main memory.
        uses: Its uses, those of which there is none left out; empty without a model.
        total_bytes: Size; -1 if unknown.
        free_bytes: What a program can still have; -1 if unknown.
        engine_bytes: What the engine owns there; None where the source cannot tell.
        mapped_bytes: File pages resident for the engine.
        window_bytes: What the window's process owns; None where the source cannot tell.
        swap_used_bytes: Swap in use, of all programs; None where unknown.
        swap_total_bytes: Size of the swap; None where unknown.
    """

    name: str
    device: str
    uses: tuple[UseBytes, ...] = ()
    total_bytes: int = -1
    free_bytes: int = -1
    engine_bytes: int | None = None
    mapped_bytes: int = 0
    window_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_total_bytes: int | None = None

    @property
    def is_host(self) -> bool:
        """Whether it is main memory."""
        return self.device == HOST

    @property
    def predicted_bytes(self) -> int | None:
        """All that is predicted to be there, limits left out; None without a model."""
        known = [u.predicted for u in self.uses if u.predicted is not None and not u.is_limit]
        return sum(known) if known else None

    @property
    def measured_bytes(self) -> int | None:
        """All that was measured; None where a part was not."""
        known = [use.measured for use in self.uses if use.measured is not None]
        return sum(known) if known and len(known) == len(self.uses) else None


def memory_tables(
    plan: MemoryPlan | None,
    snapshots: Sequence[MemorySnapshot],
    devices: Sequence[DeviceFacts],
    caches_bytes: int,
) -> tuple[MemoryTable, ...]:
    """A table of main memory, and of every board that the model lies on or that can be measured.

    Args:
        plan: Of what the engine runs; None without a model.
        snapshots: What the hardware's readers said last.
        devices: ggml's devices as the engine told them last.
        caches_bytes: What kept prompts and checkpoints hold of the engine's memory now.
    """
    host = next((snapshot for snapshot in snapshots if snapshot.kind == "system"), None)
    tables = [_host_table(plan, host, caches_bytes)] if host is not None or plan else []
    boards = [snapshot for snapshot in snapshots if snapshot.kind == "gpu"]
    told = {device.name: device for device in devices if device.kind in ("gpu", "igpu")}
    placed = plan.devices if plan is not None else ()
    planned = {device.name: device for device in placed if device.name != HOST}
    seen: Counter[str] = Counter()
    for name in dict.fromkeys((*planned, *told)):
        facts = told.get(name)
        measured = None
        if facts is not None:
            equal = [board for board in boards if board.name == facts.description]
            place = seen[facts.description]
            seen[facts.description] += 1
            measured = equal[place] if place < len(equal) else None
        tables.append(_board_table(planned.get(name), facts, measured, name))
    return tuple(tables)


def parts_on(plan: MemoryPlan, device: DeviceBytes) -> MemoryParts:
    """What ``plan`` puts on one of its devices; others and rest are 0."""
    is_host = device.name == HOST
    mapped = min(plan.bytes.weights_mapped, device.weights) if is_host else 0
    draft_mapped = min(plan.bytes.draft_mapped, device.draft) if is_host else 0
    return MemoryParts(
        others=0,
        mapped=mapped + draft_mapped,
        weights=device.weights - mapped,
        kv=device.kv,
        compute=device.compute,
        draft=device.draft - draft_mapped,
        rest=0,
    )


def _host_table(
    plan: MemoryPlan | None, snapshot: MemorySnapshot | None, caches_bytes: int
) -> MemoryTable:
    device = next((d for d in plan.devices if d.name == HOST), None) if plan else None
    uses: tuple[UseBytes, ...] = ()
    if plan is not None and device is not None:
        caches = UseBytes("caches", plan.host_caches, None, is_limit=True)
        owned = None if snapshot is None else snapshot.engine_owned_bytes
        if snapshot is not None and owned is not None:
            kept = min(caches_bytes, owned)
            caches = replace(caches, measured=kept)
            snapshot = replace(snapshot, engine_owned_bytes=owned - kept)
        uses = _uses(parts_on(plan, device), snapshot, caches)
    if snapshot is None:
        return MemoryTable("System memory", HOST, uses)
    owned = snapshot.engine_owned_bytes
    return MemoryTable(
        name=snapshot.name,
        device=HOST,
        uses=uses,
        total_bytes=snapshot.total_bytes,
        free_bytes=snapshot.total_bytes - snapshot.used_bytes,
        engine_bytes=None if owned is None else owned + _kept_of(uses),
        mapped_bytes=snapshot.engine_mapped_bytes,
        window_bytes=snapshot.window_bytes,
        swap_used_bytes=snapshot.swap_used_bytes,
        swap_total_bytes=snapshot.swap_total_bytes,
    )


def _kept_of(uses: Sequence[UseBytes]) -> int:
    return sum(use.measured or 0 for use in uses if use.use == "caches")


def _board_table(
    planned: DeviceBytes | None,
    facts: DeviceFacts | None,
    snapshot: MemorySnapshot | None,
    name: str,
) -> MemoryTable:
    uses: tuple[UseBytes, ...] = ()
    if planned is not None and planned.needed:
        parts = MemoryParts(
            0, 0, planned.weights, planned.kv, planned.compute, planned.draft, rest=0
        )
        uses = _uses(parts, snapshot)
    total = free = -1
    if facts is not None and facts.total > 0:
        total, free = facts.total, facts.free
    if snapshot is not None:
        total, free = snapshot.total_bytes, snapshot.total_bytes - snapshot.used_bytes
    title = name if facts is None else f"{name} · {facts.description}"
    owned = None if snapshot is None else snapshot.engine_owned_bytes
    return MemoryTable(title, name, uses, total, free, engine_bytes=owned)


def _uses(
    planned: MemoryParts, snapshot: MemorySnapshot | None, caches: UseBytes | None = None
) -> tuple[UseBytes, ...]:
    """Uses in the order of the stack, those that are neither predicted nor measured left out."""
    measured: MemoryParts | None = None
    if snapshot is not None and snapshot.engine_owned_bytes is not None:
        measured, _ = split(snapshot, planned)
    names: tuple[Use, ...] = ("mapped", "weights", "kv", "compute", "draft")
    found = []
    for use in names:
        predicted = round(getattr(planned, use))
        got = None if measured is None else round(getattr(measured, use))
        if predicted or got:
            found.append(UseBytes(use, predicted, got))
    if caches is not None and (caches.predicted or caches.measured):
        found.append(caches)
    rest = None if measured is None else round(measured.rest)
    found.append(UseBytes("rest", None, rest))
    return tuple(found)
