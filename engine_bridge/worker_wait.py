"""Which remote worker an engine waits for that hangs.

A worker that is frozen still holds its connections, and serves nobody else meanwhile: asking it
again tells nothing. What tells is the engine's own process: ggml has one thread for each worker,
and the thread of the silent one is inside a system call on that worker's connection. Linux says
which call a thread is in (``/proc/PID/task/TID/syscall``: its number, then its arguments, a file
descriptor being the first one); other systems do not.
"""

from __future__ import annotations

import socket
from pathlib import Path

import psutil

from engine_bridge.settings.placement_items import endpoint as read_endpoint

_TASKS = "/proc/{}/task"


def workers_waited_for(pid: int, endpoints: tuple[str, ...]) -> tuple[str, ...]:
    """Those of these workers that a thread of a process is sending to or receiving from now.

    Blocks while names are looked up.

    Args:
        pid: The process, one of this user's.
        endpoints: ``host:port`` each.

    Returns:
        In the order asked; empty where the system does not say.
    """
    waiting = _descriptors_in_calls(pid)
    if not waiting:
        return ()
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return ()
    peers = {tuple(one.raddr) for one in connections if one.raddr and one.fd in waiting}
    return tuple(endpoint for endpoint in endpoints if not peers.isdisjoint(_addresses(endpoint)))


def _descriptors_in_calls(pid: int) -> frozenset[int]:
    """First arguments of the system calls that the threads of a process are in."""
    found = set()
    for task in Path(_TASKS.format(pid)).glob("*/syscall"):
        try:
            words = task.read_text().split()
        except OSError:  # that thread ended, or the system does not let others look
            continue
        if len(words) > 1 and words[1].startswith("0x"):
            found.add(int(words[1], 16))
    return frozenset(found)


def _addresses(endpoint: str) -> frozenset[tuple[str, int]]:
    """Every IPv4 address of a worker; ggml uses no others."""
    host, port = read_endpoint(endpoint)
    try:
        infos = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return frozenset()
    return frozenset((str(info[4][0]), int(info[4][1])) for info in infos)
