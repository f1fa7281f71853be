"""Remote workers on the loopback interface: processes that lend a CPU, as stand-ins for boards."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

_SERVE = "from engine_bridge.child.llama import GGML; GGML.serve_rpc({endpoint!r}, 1)"
_START_S = 60.0


@dataclass
class LentCpu:
    """One worker.

    Attributes:
        endpoint: Where it listens, ``host:port``.
        process: The process that serves.
    """

    endpoint: str
    process: subprocess.Popen[bytes]

    def freeze(self) -> None:
        """Stop it as it is, its connections open, as a machine that sleeps (POSIX alone)."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once, as a machine that lost its power."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def lent_cpus(count: int) -> Iterator[list[LentCpu]]:
    """Start ``count`` workers, wait until they listen, and end them afterwards."""
    endpoints = [f"127.0.0.1:{free_port()}" for _ in range(count)]
    workers = [LentCpu(endpoint, _serve(endpoint)) for endpoint in endpoints]
    try:
        for worker in workers:
            _wait_for(worker)
        yield workers
    finally:
        for worker in workers:
            worker.kill()


def free_port() -> int:
    """A port nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serve(endpoint: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _SERVE.format(endpoint=endpoint)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait_for(worker: LentCpu) -> None:
    host, _, port = worker.endpoint.rpartition(":")
    deadline_s = time.monotonic() + _START_S
    while True:
        assert worker.process.poll() is None, f"the worker at {worker.endpoint} ended"
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline_s, f"no worker listens at {worker.endpoint}"
        else:
            return
