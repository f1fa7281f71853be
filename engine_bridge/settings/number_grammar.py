"""Whole numbers from one bound to another, as a part of a grammar in GBNF."""

from __future__ import annotations

# Longest number that llama.cpp's grammars of JSON allow.
DIGITS = 16
LARGEST = 10**DIGITS - 1


def whole_numbers(least: int, most: int) -> str:
    """Every whole number from ``least`` to ``most``, without leading zeros.

    Args:
        least: At least ``-LARGEST``.
        most: At most ``LARGEST``, not below ``least``.
    """
    parts = []
    if least < 0:
        parts.append(f'"-" ({_natural(max(1, -most), -least)})')
    if most >= 0:
        parts.append(_natural(max(0, least), most))
    return " | ".join(parts)


def _natural(least: int, most: int) -> str:
    parts = []
    for length in range(len(str(least)), len(str(most)) + 1):
        first = max(least, 10 ** (length - 1) if length > 1 else 0)
        parts.append(_between(str(first), str(min(most, 10**length - 1))))
    return " | ".join(parts)


def _between(first: str, last: str) -> str:
    """Digits from ``first`` to ``last``, which are equally long."""
    rest = len(first) - 1
    if first == last:
        return f'"{first}"'
    if not rest:
        return f"[{first}-{last}]"
    if first[1:] == "0" * rest and last[1:] == "9" * rest:
        return f"{_digit(first[0], last[0])} {_any(rest)}"
    if first[0] == last[0]:
        return f'"{first[0]}" ({_between(first[1:], last[1:])})'
    parts = [f'"{first[0]}" ({_between(first[1:], "9" * rest)})']
    low, high = int(first[0]) + 1, int(last[0]) - 1
    if low <= high:
        parts.append(f"{_digit(str(low), str(high))} {_any(rest)}")
    parts.append(f'"{last[0]}" ({_between("0" * rest, last[1:])})')
    return " | ".join(parts)


def _digit(first: str, last: str) -> str:
    return f'"{first}"' if first == last else f"[{first}-{last}]"


def _any(count: int) -> str:
    return f"[0-9]{{{count}}}" if count > 1 else "[0-9]"
