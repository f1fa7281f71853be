"""How figures are written: unit, factor and digits, alike in a whole column. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from statistics import median

from app.experiments.experiment import Cell
from app.experiments.measures import Measure, Unit
from app.experiments.spread import Summary

NO_VALUE = "–"
"""Stands where nothing was measured."""

_SIGNIFICANT = 4


@dataclass(frozen=True)
class Scale:
    """How the values of one row or column are written, so that they can be compared at sight.

    Attributes:
        factor: What a value is multiplied by.
        unit: What it is counted in then; may be empty.
        digits: Digits behind the point.
    """

    factor: float
    unit: str
    digits: int

    def text(self, value: float | None) -> str:
        """``value`` without its unit; a dash for None."""
        return NO_VALUE if value is None else f"{value * self.factor:,.{self.digits}f}"


def scale_of(measure: Measure, value: float) -> Scale:
    """How values of the size of ``value`` are written: about four significant digits."""
    factor, unit = unit_of(measure.unit, abs(value))
    return Scale(factor, unit, digits_of(abs(value) * factor))


def value_text(measure: Measure, value: float | None) -> str:
    """One value with its unit: ``123.4 ms``; a dash for None."""
    if value is None:
        return NO_VALUE
    scale = scale_of(measure, value)
    return f"{scale.text(value)} {scale.unit}".rstrip()


def label_of(measure: Measure) -> str:
    """The measure's name at the beginning of a line."""
    return measure.label[:1].upper() + measure.label[1:]


def cell_values(cell: Cell, key: str) -> list[float | None]:
    """The figure of each run; empty where none has it."""
    values = [getattr(run, key) for run in cell.runs]
    return values if any(value is not None for value in values) else []


def common_scale(measure: Measure, cells: Sequence[Cell]) -> Scale:
    """How the figure is written for all of ``cells``, so that they can be compared at sight.

    By their medians, which are what is written: one slow run changes no unit.
    """
    medians = [
        median(known)
        for cell in cells
        if (known := [v for v in cell_values(cell, measure.key) if v is not None])
    ]
    return scale_of(measure, max(medians, key=abs, default=0.0))


def with_spread(short: Summary | None, scale: Scale) -> str:
    """``123.4 ± 2.1`` without the unit; a dash where nothing was measured."""
    if short is None:
        return NO_VALUE
    if short.runs == 1:
        return scale.text(short.median)
    return f"{scale.text(short.median)} ± {scale.text(short.spread)}"


def unit_of(unit: Unit, size: float) -> tuple[float, str]:
    """Factor and name of what values of that size are counted in."""
    match unit:
        case Unit.SECONDS:
            return (1.0, "s") if size >= 1 else (1e3, "ms")
        case Unit.BYTES:
            return (1 / 2**30, "GiB") if size >= 2**30 else (1 / 2**20, "MiB")
        case Unit.SHARE:
            return 100.0, "%"
        case Unit.COUNT:
            return 1.0, ""
    return 1.0, str(unit)


def digits_of(value: float) -> int:
    """Digits behind the point for about four significant ones."""
    if value <= 0:
        return 0
    return min(3, max(0, _SIGNIFICANT - 1 - floor(log10(value))))
