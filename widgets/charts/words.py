"""Figures of the charts as text: few digits, always the unit, never a width that jumps. Pure."""

from __future__ import annotations

_GIB = 1 << 30


def number(value: float) -> str:
    """About three digits: ``0.03``, ``1.94``, ``17.1``, ``781``, ``1,008``."""
    size = abs(value)
    decimals = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:,.{decimals}f}" if size < 1e9 else f"{value:.2e}"


def gib(value_bytes: float) -> str:
    """GiB without the unit: one decimal from 10 on, else two."""
    return (
        number(value_bytes / _GIB)
        if abs(value_bytes) < 99.95 * _GIB
        else (f"{value_bytes / _GIB:,.0f}")
    )


def signed_gib(value_bytes: float) -> str:
    """GiB with its sign: ``+0.03``, ``−0.12``, ``0.00``."""
    text = gib(abs(value_bytes))
    sign = "" if text == gib(0) else "+" if value_bytes > 0 else "−"
    return sign + text


def gb_per_s(bytes_per_s: float) -> str:
    """``781 GB/s``, decimal gigabytes as data sheets count them."""
    return f"{number(bytes_per_s / 1e9)} GB/s"


def milliseconds(seconds: float) -> str:
    """``17.1 ms``."""
    return f"{number(seconds * 1000)} ms"


def seconds_text(seconds: float) -> str:
    """``0.31 s``, below a tenth with three decimals: ``0.021 s``."""
    return f"{seconds_number(seconds)} s"


def seconds_number(seconds: float) -> str:
    """Seconds without the unit."""
    return f"{seconds:.3f}" if abs(seconds) < 0.0995 else number(seconds)


def tok_per_s(speed: float) -> str:
    """``58 tok/s``, below ten with one decimal."""
    return f"{speed:,.0f} tok/s" if speed >= 9.95 else f"{speed:.1f} tok/s"
