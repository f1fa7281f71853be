"""Which process of this machine a server is, so that its work is not taken for that of others."""

from __future__ import annotations

import psutil

from app.experiments.server_address import ServerAddress

# They pass on to a server that is elsewhere: in a container, a virtual machine, another computer.
_PASSING_ON = ("docker-proxy", "com.docker", "ssh", "wslrelay", "rootlessport", "socat", "nginx")


def process_of(address: ServerAddress) -> int | None:
    """The process that serves ``address``; None if it is elsewhere or cannot be told."""
    if not address.is_loopback:
        return None
    try:
        connections = psutil.net_connections("tcp")
    except (psutil.Error, OSError):  # told to root only, on macOS
        return None
    found = {
        connection.pid
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
        and connection.laddr
        and connection.laddr.port == address.port
        and connection.pid
    }
    if len(found) != 1:
        return None
    pid = int(found.pop())
    try:
        name = psutil.Process(pid).name().lower()
    except psutil.Error:
        return None
    return None if name.startswith(_PASSING_ON) else pid
