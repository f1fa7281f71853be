"""Host memory that this process may still have: the machine's, or less where it was given a limit.

A container (cgroup) and ``ulimit -v`` both let a program see all of the machine and have a part.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import psutil

if sys.platform != "win32":
    import resource

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


class HostMemory(NamedTuple):
    """Host memory, in bytes.

    Attributes:
        free: What could be had now.
        total: The most there could be.
    """

    free: int
    total: int


def host_memory() -> HostMemory:
    """Memory of the machine, cut to what this process may have of it."""
    ram = psutil.virtual_memory()
    found = HostMemory(ram.available, ram.total)
    for limit in (address_space_limit(), container_limit()):
        if limit is not None:
            found = HostMemory(min(found.free, limit.free), min(found.total, limit.total))
    return found


def address_space_limit() -> HostMemory | None:
    """What ``ulimit -v`` leaves, None without such a limit."""
    if sys.platform == "win32":
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return None
    return HostMemory(max(0, most - psutil.Process().memory_info().vms), most)


def container_limit(root: Path = _CGROUPS, own: Path = _OWN_CGROUP) -> HostMemory | None:
    """What the control group (version 2) and those above it leave, None without a limit.

    Pages of files count as free: they are given back before anything fails.
    """
    try:
        path = own.read_text(encoding="utf-8").strip().rpartition("0::")[2]
    except OSError:
        return None
    group = root / path.lstrip("/")
    found: HostMemory | None = None
    for folder in (group, *group.parents):
        if (limit := _limit_of(folder)) is not None:
            known = found or limit
            found = HostMemory(min(known.free, limit.free), min(known.total, limit.total))
        if folder == root:
            break
    return found


def _limit_of(folder: Path) -> HostMemory | None:
    try:
        most = int((folder / "memory.max").read_text(encoding="ascii"))
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        stat = (folder / "memory.stat").read_text(encoding="ascii").split()
    except (OSError, ValueError):  # no such group, or "max"
        return None
    sizes = dict(zip(stat[::2], stat[1::2], strict=False))
    files = sum(int(sizes.get(key, 0)) for key in ("inactive_file", "active_file"))
    return HostMemory(min(most, max(0, most - used + files)), most)
