"""Whether the system ended programs because memory ran out, where it counts that (Linux)."""

from __future__ import annotations

from pathlib import Path

_COUNTERS = Path("/proc/vmstat")


def oom_kills(counters: Path = _COUNTERS) -> int | None:
    """How many programs the system has ended for want of memory since it started.

    Those of a container that reached its limit count too. No disk is asked.

    Returns:
        The count; None where the system does not say.
    """
    try:
        for line in counters.read_text(encoding="ascii").splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    except (OSError, ValueError):
        return None
    return None
