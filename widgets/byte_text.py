"""Bytes as a person reads them: binary units, few digits, always the unit."""

from __future__ import annotations

from enum import Enum


class ByteUnit(Enum):
    """The two units of the desk; the value is bytes."""

    MIB = 1 << 20
    GIB = 1 << 30

    @property
    def word(self) -> str:
        """``MiB`` or ``GiB``."""
        return "GiB" if self is ByteUnit.GIB else "MiB"

    @classmethod
    def fitting(cls, amount_bytes: int) -> ByteUnit:
        """GiB from one GiB on, MiB below."""
        return cls.GIB if amount_bytes >= cls.GIB.value else cls.MIB


def amount_text(amount_bytes: int, unit: ByteUnit) -> str:
    """The amount without its unit: ``7.9``, ``24.0``, ``0.02``, ``131``.

    GiB with one decimal, two below 0.1 where one would round most of the amount away; MiB whole,
    with one decimal below 10.
    """
    amount = amount_bytes / unit.value
    if unit is ByteUnit.GIB:
        return f"{amount:.2f}" if 0 < amount < 0.095 else f"{amount:.1f}"
    return f"{amount:.1f}" if 0 < amount < 9.95 else f"{amount:.0f}"


def byte_text(amount_bytes: int) -> str:
    """The amount in the unit that fits it: ``7.9 GiB``, ``131 MiB``."""
    unit = ByteUnit.fitting(amount_bytes)
    return f"{amount_text(amount_bytes, unit)} {unit.word}"


def change_text(before_bytes: int, after_bytes: int | None, unit: ByteUnit) -> str:
    """``1.9 → 3.3`` where the two read differently, else ``1.9``; no unit."""
    before = amount_text(before_bytes, unit)
    after = before if after_bytes is None else amount_text(after_bytes, unit)
    return before if after == before else f"{before} → {after}"
