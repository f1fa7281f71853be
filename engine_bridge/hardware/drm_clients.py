"""What one process holds on a board, by the kernel's own count (Linux, DRM).

Every open file of a board tells in ``/proc/PID/fdinfo`` what its owner holds where. One owner may
have several files: it counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_MOST_DIGITS = 20  # of 64 bits
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
# Resident is what lies there now. amdgpu had a word of its own before the kernel agreed on one.
_PREFIXES = ("drm-resident-", "drm-memory-")


def held_bytes(root: Path, pid: int, slot: str) -> Mapping[str, int]:
    """Bytes a process holds on the board at ``slot``, by the driver's name of each region.

    Args:
        root: Where ``proc`` lies.
        pid: The process.
        slot: The board's place on the PCI bus, ``0000:03:00.0``.

    Returns:
        E.g. ``{"vram": 5368709120, "gtt": 1048576}``; empty if it has no file of that board open.

    Raises:
        OSError: If the process is gone or may not be looked at.
    """
    owners: dict[str, Mapping[str, int]] = {}
    for path in (root / "proc" / str(pid) / "fdinfo").iterdir():
        try:
            words = _words_of(path)
        except FileNotFoundError:
            continue  # closed meanwhile
        if words.get("drm-pdev") == slot:
            owners[words.get("drm-client-id", path.name)] = _regions(words)
    held: dict[str, int] = {}
    for regions in owners.values():
        for region, size in regions.items():
            held[region] = held.get(region, 0) + size
    return held


def _words_of(path: Path) -> Mapping[str, str]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = (line.partition(":") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _regions(words: Mapping[str, str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for prefix in _PREFIXES:
        for key, value in words.items():
            size = _bytes(value) if key.startswith(prefix) else None
            if size is not None:
                found.setdefault(key.removeprefix(prefix), size)
    return found


def _bytes(value: str) -> int | None:
    """``24576 KiB`` in bytes; None for what is no size."""
    figure, _, unit = value.partition(" ")
    is_size = figure.isdecimal() and len(figure) <= _MOST_DIGITS
    if not is_size or unit.strip() not in _UNITS:
        return None
    return int(figure) * _UNITS[unit.strip()]
