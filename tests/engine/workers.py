"""Remote workers on the loopback interface: processes that lend a CPU, as stand-ins for boards."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SERVE = (
    "from engine_bridge.child.llama import GGML, LIB; "
    "LIB.llama_log_set(LIB.llama_log_callback(), None); "  # llama.cpp's own: it writes to stderr
    "GGML.serve_rpc({endpoint!r}, 1)"
)
# What a worker says of its buffers where GGML_RPC_DEBUG is set (ggml-rpc.cpp).
_GIVEN = re.compile(r"\[alloc_buffer\] .* remote_ptr: (\w+), remote_size: (\d+)")
_TAKEN = re.compile(r"\[free_buffer\] remote_ptr: (\w+)")
_START_S = 60.0


@dataclass
class LentCpu:
    """One worker.

    Attributes:
        endpoint: Where it listens, ``host:port``.
        process: The process that serves.
        log: What it writes.
    """

    endpoint: str
    process: subprocess.Popen[bytes]
    log: Path

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
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / f"{number}.log" for number in range(count)]
        pairs = zip(endpoints, logs, strict=True)
        workers = [LentCpu(endpoint, _serve(endpoint, log), log) for endpoint, log in pairs]
        try:
            for worker in workers:
                _wait_for(worker)
            yield workers
        finally:
            for worker in workers:
                worker.kill()


def held_bytes(log: Path) -> int:
    """What a worker holds now by its own account, all buffers together.

    It says of each buffer that it gave or took it back before it answers.

    Args:
        log: The worker's.
    """
    held: dict[str, int] = {}
    for line in log.read_text(errors="replace").splitlines():
        if given := _GIVEN.search(line):
            held[given[1]] = int(given[2])
        elif taken := _TAKEN.search(line):
            held.pop(taken[1].removeprefix("0x"), None)
    return sum(held.values())


def free_port() -> int:
    """A port nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serve(endpoint: str, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _SERVE.format(endpoint=endpoint)]
    environment = os.environ | {"GGML_RPC_DEBUG": "1"}
    with log.open("wb") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, env=environment)


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
