"""What the memory bar shows, as numbers and text. Pure: no Qt.

Knows plans and the order of the parts; must not know painting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.metrics.memory_meter import accounted
from widgets.byte_text import ByteUnit, amount_text, byte_text, change_text

_TWOFOLD = (
    "Weights can be more than the model's file: owned ones are copies of some that are mapped as "
    "well, arranged anew for this processor or moved to a board."
)
# In the order of ``Parts.in_order``: series and names.
_NAMED = (
    ("mapped", "weights, mapped from the file"),
    ("weights", "weights, owned"),
    ("kv", "KV cache"),
    ("compute", "compute"),
    ("draft", "draft"),
)
# Host memory, as plans call it.
_HOST = "CPU"
_COUNTED = (
    "Reserved: what others hold, and all that the engine has set aside, touched or not. The memory "
    "chart of the live column counts what of it was in memory at the last reading, and the row RAM "
    "there leaves out mapped weights too: so this total is the largest of the three."
)
_CACHES = (
    "Prompt caches keep what earlier prompts computed. They grow with the conversations and stop "
    "where memory becomes short; the bar shows what they hold now, behind the rest."
)


@dataclass(frozen=True)
class Parts:
    """Bytes of one configuration on the memory that the bar stands for.

    Attributes:
        weights_mapped: Weights in file-backed pages.
        weights: Weights owned.
        kv: KV cache and recurrent state.
        compute: Compute and output buffers.
        draft: Everything of a draft model.
        caches: What prompt caches may take beside all that, at most; nobody holds it yet.
    """

    weights_mapped: int = 0
    weights: int = 0
    kv: int = 0
    compute: int = 0
    draft: int = 0
    caches: int = 0

    @classmethod
    def of(cls, plan: MemoryPlan, device: str | None) -> Parts:
        """The parts of ``plan``: of the device named, or of all memory together."""
        if device is not None:
            return cls._of_device(plan, device)
        uses = plan.bytes
        return cls(
            uses.weights_mapped,
            uses.weights,
            uses.kv + uses.recurrent,
            uses.compute + uses.output,
            uses.draft,
            plan.host_caches,
        )

    @classmethod
    def of_memory(cls, plan: MemoryPlan, kind: Literal["system", "gpu"]) -> Parts:
        """The parts of ``plan`` in main memory, or on all boards: as the memory chart has them."""
        found = accounted(plan, kind)
        if found is None or not plan.devices:
            return cls.of(plan, None)
        return cls(
            weights_mapped=round(found.mapped),
            weights=round(found.weights),
            kv=round(found.kv),
            compute=round(found.compute),
            draft=round(found.draft),
            caches=plan.host_caches if kind == "system" else 0,
        )

    @classmethod
    def _of_device(cls, plan: MemoryPlan, device: str) -> Parts:
        nothing = DeviceBytes(device, 0, 0, 0)
        found = next((d for d in plan.devices if d.name == device), nothing)
        caches = plan.host_caches if device == _HOST else 0
        return cls(0, found.weights, found.kv, found.compute, 0, caches)

    @property
    def total(self) -> int:
        """All parts together, without what is not taken yet."""
        return self.weights_mapped + self.weights + self.kv + self.compute + self.draft

    def in_order(self) -> tuple[int, ...]:
        """As the bar stacks them: mapped weights, weights, KV, compute, draft."""
        return (self.weights_mapped, self.weights, self.kv, self.compute, self.draft)


@dataclass(frozen=True)
class MemoryState:
    """Present, predicted, others and capacity of one memory.

    Attributes:
        present: What the engine holds now; None without a model.
        predicted: What it would hold; None where nothing is asked.
        others_bytes: What other programs hold.
        capacity_bytes: Size of the memory, 0 if unknown.
        kept_bytes: What prompt caches hold now; they give it back where it is needed.
        rest_bytes: What the engine owns now and no plan explains; a change leaves it as it is.
    """

    present: Parts | None = None
    predicted: Parts | None = None
    others_bytes: int = 0
    capacity_bytes: int = 0
    kept_bytes: int = 0
    rest_bytes: int = 0

    @property
    def beside_bytes(self) -> int:
        """What is there whatever the settings: of other programs and of the engine."""
        return self.others_bytes + self.kept_bytes + self.rest_bytes

    @property
    def now(self) -> Parts:
        """The present parts, nothing without a model."""
        return self.present or Parts()

    @property
    def then(self) -> Parts:
        """The parts after the change under way, the present ones without one."""
        return self.now if self.predicted is None else self.predicted

    @property
    def excess_bytes(self) -> int:
        """By how much present or predicted is more than there is, 0 if it fits."""
        if not self.capacity_bytes:
            return 0
        there = self.others_bytes + self.rest_bytes  # caches would be given back
        return max(0, there + self.then.total - self.capacity_bytes)

    def used_text(self) -> str:
        """``7.9 of 24.0 GiB``, with ``7.9 → 9.3`` where a change is under way."""
        if not self.capacity_bytes:
            return byte_text(self.now.total + self.kept_bytes + self.rest_bytes)
        unit = ByteUnit.fitting(self.capacity_bytes)
        rest = self.beside_bytes
        used = change_text(rest + self.now.total, rest + self.then.total, unit)
        return f"{used} of {amount_text(self.capacity_bytes, unit)} {unit.word}"

    def part_texts(self, in_first_line: int = 0) -> tuple[tuple[str, str], ...]:
        """Series and words of each part: ``("kv", "KV 1.9 → 3.3 GiB")``; empty without any.

        All in one unit, named once at the end of each line; only what differs has an arrow.

        Args:
            in_first_line: So many stand in a first line; 0 for all.
        """
        now, then = self.now, self.then
        if not now.total and not then.total:
            return ()
        named = [
            ("weights", "weights", _weights(now), _weights(then)),
            ("kv", "KV", now.kv, then.kv),
            ("compute", "compute", now.compute, then.compute),
        ]
        if now.draft or then.draft:
            named.append(("draft", "draft", now.draft, then.draft))
        unit = ByteUnit.fitting(max(max(before, after) for _, _, before, after in named))
        texts = [
            (series, f"{word} {change_text(before, after, unit)}")
            for series, word, before, after in named
        ]
        ends = {len(texts), in_first_line}
        return tuple(
            (series, f"{text} {unit.word}" if number in ends else text)
            for number, (series, text) in enumerate(texts, 1)
        )

    def free_text(self) -> str:
        """``free 16.1 → 14.7 GiB``; empty where the capacity is unknown or too small."""
        if not self.capacity_bytes or self.excess_bytes:
            return ""
        unit = ByteUnit.fitting(self.capacity_bytes)
        left = self.capacity_bytes - self.beside_bytes
        free_now, free_then = max(0, left - self.now.total), max(0, left - self.then.total)
        return f"free {change_text(free_now, free_then, unit)} {unit.word}"

    def caches_text(self, words: str = "prompt caches") -> str:
        """``prompt caches 0.4, up to 8.0 GiB``; empty where they may take nothing."""
        if not self.now.caches and not self.then.caches:
            return ""
        unit = ByteUnit.fitting(max(self.now.caches, self.then.caches))
        before = self.then.caches if self.present is None else self.now.caches
        most = f"up to {change_text(before, self.then.caches, unit)} {unit.word}"
        own = ByteUnit.fitting(self.kept_bytes)
        kept = amount_text(self.kept_bytes, own) + ("" if own is unit else f" {own.word}")
        held = f"{kept}, " if self.kept_bytes else ""
        return f"{words} {held}{most}"

    def caches_brief(self) -> str:
        """``caches ≤ 9.4 GiB``: what they may come to, where more has no room."""
        if not self.caches_text():
            return ""
        unit = ByteUnit.fitting(self.then.caches)
        return f"caches ≤ {amount_text(self.then.caches, unit)} {unit.word}"

    def excess_text(self) -> str:
        """``0.8 GiB more than there is``, or empty where it fits."""
        return f"{byte_text(self.excess_bytes)} more than there is" if self.excess_bytes else ""

    def details(self) -> tuple[tuple[str, str, str], ...]:
        """Every part of the bar: its series (empty for none), its name, its bytes in words."""
        now, then = self.now.in_order(), self.then.in_order()
        rows = [
            (series, name, _with_units(before, after))
            for (series, name), before, after in zip(_NAMED, now, then, strict=True)
            if before or after
        ]
        if self.rest_bytes:
            rows.append(("rest", "engine, explained by no plan", byte_text(self.rest_bytes)))
        if self.kept_bytes:
            rows.append(("caches", "prompt caches, now", byte_text(self.kept_bytes)))
        rows.append(("others", "other programs", byte_text(self.others_bytes)))
        if self.capacity_bytes:
            rows.append(("", "capacity", byte_text(self.capacity_bytes)))
        return tuple(rows)

    def caches_note(self) -> str:
        """What the caches are that may still come; empty where none may."""
        return _CACHES if self.caches_text() else ""

    def counted_note(self) -> str:
        """Why the chart and the row of main memory may show other totals; empty without a model."""
        return _COUNTED if self.capacity_bytes and self.now.total else ""

    def weights_note(self) -> str:
        """Why the weights here are not the size of the file; empty where they are not twofold."""
        is_twofold = any(parts.weights and parts.weights_mapped for parts in (self.now, self.then))
        return _TWOFOLD if is_twofold else ""


def _weights(parts: Parts) -> int:
    return parts.weights + parts.weights_mapped


def _with_units(before: int, after: int) -> str:
    first, second = byte_text(before), byte_text(after)
    return first if first == second else f"{first} → {second}"
