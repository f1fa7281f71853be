"""Memory over time: who holds how much of it, measured, beside what was predicted.

Knows snapshots and plans; decides which memory is shown: the boards where the model lies on boards
and somebody can tell how full they are, else main memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.metrics.ring import Floats, Ring, around, thin_rows
from engine_bridge.metrics.snapshot import MemorySnapshot, together
from engine_bridge.metrics.stretch import Stretch
from engine_bridge.protocol import DeviceFacts, MemoryMeasured

# The engine's own measurement steps in where the window's sampler has been silent for so long.
_SAMPLER_SILENT_NS = 3_000_000_000


class MemoryParts(NamedTuple):
    """Bytes by use, in the order in which they are stacked; fields of one ring row.

    Attributes:
        others: Other programs, this window included.
        mapped: Weights in pages of the model file that the system can take back.
        weights: Weights the engine owns.
        kv: KV cache and recurrent state.
        compute: Compute and output buffers.
        draft: Everything of a draft model.
        rest: Owned by the engine, accounted for by no plan.
        caches: Earlier prompts and checkpoints, which the engine gives back where memory is needed.
    """

    others: float
    mapped: float
    weights: float
    kv: float
    compute: float
    draft: float
    rest: float
    caches: float = 0.0


class _Held(NamedTuple):
    """What was held before a change began.

    Attributes:
        parts: By use.
        is_owned_known: Whether the engine's part was measured, so that growth of the others is
            theirs.
    """

    parts: MemoryParts
    is_owned_known: bool


@dataclass(frozen=True)
class MemoryView:
    """What the memory chart draws. All sizes in bytes.

    Attributes:
        kind: Main memory or boards.
        name: Which memory, for the user; empty before the first measurement.
        times_s: (n,) seconds before the right edge, ascending.
        stack: (8, n) rows in the order of ``MemoryParts``.
        predicted: (n,) where the top of the stack was predicted; NaN without a plan.
        capacity: Size of the memory, NaN before the first measurement.
        parts: The newest row of the stack.
        used: The newest top of the stack: what no program can have, and mapped weights.
        planned: Predicted top of what runs now.
        reserved: Top with all that runs now has reserved, touched or not; as the memory bar has it.
        candidate: The same of the configuration the faders stand at.
        unexplained: Owned by the engine − accounted for − caches; negative where buffers have been
            reserved and not touched yet.
        window: This process's part of main memory.
    """

    kind: Literal["system", "gpu"] = "system"
    name: str = ""
    times_s: Floats = field(default_factory=lambda: np.zeros(0))
    stack: Floats = field(default_factory=lambda: np.zeros((len(MemoryParts._fields), 0)))
    predicted: Floats = field(default_factory=lambda: np.zeros(0))
    capacity: float = np.nan
    parts: MemoryParts | None = None
    used: float | None = None
    planned: float | None = None
    reserved: float | None = None
    candidate: float | None = None
    unexplained: float | None = None
    window: int | None = None


class MemoryMeter:
    """Memory of the last minutes."""

    def __init__(self, capacity: int) -> None:
        """Keep ``capacity`` rows, one or two a second."""
        self._series = Ring(capacity, len(MemoryParts._fields) + 1)
        self._applied: MemoryPlan | None = None
        self._candidate: MemoryPlan | None = None
        self._snapshot: MemorySnapshot | None = None
        self._unexplained: float | None = None
        self._sampled_ns: int | None = None
        self._system_bytes: int | None = None  # size of main memory, as the sampler sees it
        self._before_change: _Held | None = None
        self._boards: tuple[DeviceFacts, ...] = ()
        self._kept_bytes = 0

    def set_applied(self, memory: MemoryPlan | None) -> None:
        """What the engine has allocated now; None when it is gone."""
        self._applied = memory
        self._candidate = None
        if memory is None:
            self._kept_bytes = 0

    def set_changing(self, is_changing: bool) -> None:
        """Whether the engine loads or rebuilds: what is measured then is partly the new already."""
        snapshot = self._snapshot
        if not is_changing or snapshot is None:
            self._before_change = None
        elif self._before_change is None:
            newest = MemoryParts(*self._series.latest()[1][:-1].tolist())
            self._before_change = _Held(newest, snapshot.engine_owned_bytes is not None)

    def set_candidate(self, plan: MemoryPlan | None) -> None:
        """What the faders would allocate; None where that is not known."""
        self._candidate = plan

    def add_snapshots(self, snapshots: Sequence[MemorySnapshot]) -> bool:
        """Take a reading of the hardware; False if it is the one taken before."""
        newest_ns = max((snapshot.at_ns for snapshot in snapshots), default=None)
        if newest_ns is None or newest_ns == self._sampled_ns:
            return False
        self._sampled_ns = newest_ns
        self._system_bytes = next((s.total_bytes for s in snapshots if s.kind == "system"), None)
        self._add(self._choose(snapshots))
        return True

    def add_engine_measurement(self, event: MemoryMeasured) -> None:
        """Take the engine's own reading, of which the caches alone count where a sampler runs."""
        self._kept_bytes = event.caches
        self._boards = tuple(d for d in event.devices if d.kind in {"gpu", "igpu"})
        if self._sampled_ns is not None and event.at_ns - self._sampled_ns < _SAMPLER_SILENT_NS:
            return
        host = next((d for d in event.devices if d.kind == "cpu"), None)
        if host is None or host.total <= 0 or host.free >= host.total:
            return  # some drivers say that all is free, whatever is used
        # The engine may see less than the machine, such as the part that a container is given: the
        # line holds its last value rather than jump to that of another memory.
        if self._system_bytes not in (None, host.total):
            return
        system = MemorySnapshot(
            at_ns=event.at_ns,
            kind="system",
            name="System memory",
            total_bytes=host.total,
            used_bytes=host.total - host.free,
            engine_owned_bytes=event.owned,
            engine_mapped_bytes=event.mapped,
        )
        self._add(self._choose((system,)))

    def view(self, stretch: Stretch) -> MemoryView:
        """The stack of a stretch of time, and the newest figures."""
        snapshot = self._snapshot
        if snapshot is None:
            return MemoryView()
        times, values = self._rows(stretch)
        newest = MemoryParts(*self._series.latest()[1][:-1].tolist())
        return MemoryView(
            kind=snapshot.kind,
            name=snapshot.name,
            times_s=times - stretch.until_s,
            stack=values[:-1],
            predicted=values[-1],
            capacity=float(snapshot.total_bytes),
            parts=newest,
            used=sum(newest),
            planned=self._predicted_top(self._applied, snapshot, newest.others),
            reserved=self._reserved_top(self._applied, snapshot, newest),
            candidate=self._candidate_top(snapshot, newest),
            unexplained=self._unexplained,
            window=snapshot.window_bytes,
        )

    @property
    def state_bytes(self) -> int:
        """Memory its rows take when full."""
        return self._series.state_bytes

    def _rows(self, stretch: Stretch) -> tuple[Floats, Floats]:
        """Copies of the rows to draw: where they are many, those with the extremes of the sum."""
        times, values = self._series.window()
        rows = around(times, stretch.since_s, stretch.until_s)
        times, values = times[rows], values[:, rows]
        thin = None
        if stretch.bucket_s > 0 and times.size:
            thin = thin_rows(times, values[:-1].sum(axis=0), stretch.bucket_s)
        if thin is None:
            return times.copy(), values.copy()
        return times[thin.places], np.where(thin.is_gap, np.nan, values[:, thin.places])

    def _choose(self, snapshots: Sequence[MemorySnapshot]) -> MemorySnapshot | None:
        """The memory to show: boards with the model on them, else main memory."""
        if self._applied is not None and any(map(_holds, _on(self._applied, "gpu"))):
            boards = [s for s in snapshots if s.kind == "gpu"]
            if boards:
                return together([s for s in boards if s.engine_owned_bytes] or boards)
            told = self._boards_by_ggml()
            if told:
                return together(told)
        return next((s for s in snapshots if s.kind == "system"), None)

    def _boards_by_ggml(self) -> list[MemorySnapshot]:
        """Boards that only the engine can see, whose free bytes it has told."""
        assert self._applied is not None
        names = {device.name for device in _on(self._applied, "gpu") if _holds(device)}
        at_ns = self._sampled_ns or 0
        return [
            MemorySnapshot(at_ns, "gpu", d.description or d.name, d.total, d.total - d.free)
            for d in self._boards
            if d.name in names and d.total > 0
        ]

    def _add(self, snapshot: MemorySnapshot | None) -> None:
        if snapshot is None:
            return
        if self._snapshot is not None and self._snapshot.name != snapshot.name:
            self._series.gap(snapshot.at_ns / 1e9)  # another memory: no line between the two
        self._snapshot = snapshot
        planned = accounted(self._applied, snapshot.kind)
        kept_bytes = self._kept_bytes if snapshot.kind == "system" else 0
        parts, self._unexplained = split(snapshot, planned, kept_bytes)
        top = self._predicted_top(self._applied, snapshot, parts.others)
        self._series.append(snapshot.at_ns / 1e9, *parts, np.nan if top is None else top)

    def _candidate_top(self, snapshot: MemorySnapshot, newest: MemoryParts) -> float | None:
        """What there would be with the candidate; see ``_reserved_top``."""
        earlier = self._before_change
        if earlier is None:
            return self._reserved_top(self._candidate, snapshot, newest)
        # Else what the load has taken so far would be counted once more.
        others = newest.others if earlier.is_owned_known else earlier.parts.others
        return self._reserved_top(self._candidate, snapshot, earlier.parts._replace(others=others))

    @staticmethod
    def _reserved_top(
        plan: MemoryPlan | None, snapshot: MemorySnapshot, measured: MemoryParts
    ) -> float | None:
        """All that a plan reserves, touched or not, with what is there whatever the settings.

        What no plan explains stays in, so that more context never reads as less memory.
        """
        planned = accounted(plan, snapshot.kind)
        if planned is None:
            return None
        return measured.others + sum(planned) + measured.rest + measured.caches

    @staticmethod
    def _predicted_top(
        plan: MemoryPlan | None, snapshot: MemorySnapshot, others: float
    ) -> float | None:
        planned = accounted(plan, snapshot.kind)
        return None if planned is None else others + sum(planned)


def split(
    snapshot: MemorySnapshot, planned: MemoryParts | None, kept_bytes: int = 0
) -> tuple[MemoryParts, float | None]:
    """Divide a measured memory into its parts.

    The engine's measured total is true; the plan only says what it is for. Parts are filled in the
    order of the stack, so one that is reserved and not touched yet shows as far as it is real.

    Args:
        snapshot: What was measured.
        planned: What the engine allocated there; None without a model.
        kept_bytes: What prompt caches hold of it.

    Returns:
        The parts, and the owned bytes that neither ``planned`` nor the caches explain; None where
        the source cannot tell what the engine owns.
    """
    has_plan = planned is not None
    planned = planned or MemoryParts(0, 0, 0, 0, 0, 0, 0)
    expected = planned.weights + planned.kv + planned.compute + planned.draft
    owned = snapshot.engine_owned_bytes
    left = min(expected, snapshot.used_bytes) if owned is None else float(owned)
    others = max(0.0, snapshot.used_bytes - left)
    # It is counted as it is written, so that all of it is real.
    caches = 0.0 if owned is None else min(float(kept_bytes), left)
    left -= caches
    filled = []
    for part in (planned.weights, planned.kv, planned.compute, planned.draft):
        filled.append(min(part, left))
        left -= filled[-1]
    # Programs and libraries are mapped too; without a plan there are no weights among them.
    mapped = min(float(snapshot.engine_mapped_bytes), planned.mapped)
    weights, kv, compute, draft = filled
    parts = MemoryParts(others, mapped, weights, kv, compute, draft, left, caches)
    return parts, (owned - caches - expected if has_plan and owned is not None else None)


def accounted(plan: MemoryPlan | None, kind: str) -> MemoryParts | None:
    """What a plan puts into main memory (``system``) or onto boards (``gpu``), by use."""
    if plan is None:
        return None
    devices = _on(plan, kind)
    weights = sum(device.weights for device in devices)
    mapped = min(plan.bytes.weights_mapped, weights) if kind == "system" else 0
    draft_mapped = plan.bytes.draft_mapped if kind == "system" else 0
    return MemoryParts(
        others=0,
        mapped=mapped + draft_mapped,
        weights=weights - mapped,
        kv=sum(device.kv for device in devices),
        compute=sum(device.compute for device in devices),
        draft=sum(device.draft for device in devices) - draft_mapped,
        rest=0,
    )


def _on(plan: MemoryPlan, kind: str) -> list[DeviceBytes]:
    """The devices of a plan that are main memory (``system``) or boards (``gpu``)."""
    return [d for d in plan.devices if d.name.startswith("CPU") == (kind == "system")]


def _holds(device: DeviceBytes) -> bool:
    return device.needed > 0
