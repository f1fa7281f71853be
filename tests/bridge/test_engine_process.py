"""The engine as a process: its pipes, and every way in which it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from engine_bridge import protocol
from tests import models
from tests.engine.harness import random_tokens, tiny_config

pytestmark = pytest.mark.engine

_EventT = TypeVar("_EventT", bound=protocol.Event)
_PATIENCE_S = 60.0


class Child:
    """A started engine process, seen through its pipes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engine_bridge.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.seen: list[protocol.Event] = []
        self._rest = b""

    def send(self, *commands: protocol.Command) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(map(protocol.encode, commands)))

    def until(self, kind: type[_EventT], **fields: object) -> _EventT:
        """Read until an event of a kind with these fields; every line must be an event."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            while b"\n" in self._rest:
                line, self._rest = self._rest.split(b"\n", 1)
                event = protocol.decode_event(line)
                self.seen.append(event)
                if isinstance(event, kind) and all(
                    getattr(event, name) == value for name, value in fields.items()
                ):
                    return event
            self._rest += self._read(deadline)

    def _read(self, deadline: float) -> bytes:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], deadline - time.monotonic())
        assert ready, f"silent; last events: {self.seen[-3:]}"
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        assert data, "the engine ended"
        return data

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def child() -> Iterator[Child]:
    started = Child()
    yield started
    started.end()


def test_that_hello_comes_first_and_names_the_build(child: Child) -> None:
    hello = child.until(protocol.Hello)
    assert child.seen == [hello]
    assert hello.protocol_version == protocol.PROTOCOL_VERSION
    assert hello.pid == child.process.pid
    assert any(device.kind == "cpu" for device in hello.devices)


def test_that_the_process_answers_and_leaves_in_good_order(child: Child, tiny_path: Path) -> None:
    child.send(protocol.Load(1, tiny_config(tiny_path)))
    child.until(protocol.Applied)
    child.send(
        protocol.Generate(
            2, "a", (), prompt_tokens=tuple(random_tokens(8)), max_new_tok=20, ignore_eog=True
        )
    )
    finished = child.until(protocol.RequestFinished)
    assert finished.timing.new_tok == 20
    child.send(protocol.Plan(3, tiny_config(tiny_path, slots=2)))
    assert child.until(protocol.PlanReady).plan.bytes.kv > 0
    child.send(protocol.Shutdown())
    assert child.process.wait(_PATIENCE_S) == 0


def test_that_the_pipe_carries_nothing_but_events(child: Child, tiny_path: Path) -> None:
    """C code that prints, as libraries do, ends up on stderr."""
    child.end()
    script = (
        "import ctypes, threading\n"
        "from engine_bridge.child import __main__ as entry\n"
        "import engine_bridge.child as package\n"
        "import sys, types\n"
        "noisy = types.ModuleType('engine_bridge.child.process')\n"
        "def serve(commands, events):\n"
        "    libc = ctypes.CDLL(None)\n"
        "    libc.printf(b'printed by C\\n'); libc.fflush(None)\n"
        "    print('printed by Python', flush=True)\n"
        "    import os\n"
        "    os.write(events, b'an event\\n')\n"
        "    assert os.read(0, 1) == b''\n"
        "noisy.serve = serve\n"
        "sys.modules['engine_bridge.child.process'] = noisy\n"
        "entry.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    assert done.stdout == b"an event\n"
    assert b"printed by C" in done.stderr
    assert b"printed by Python" in done.stderr


@pytest.mark.parametrize("moment", ["idle", "loading", "generating"])
def test_that_the_process_ends_with_the_pipe(child: Child, tiny_path: Path, moment: str) -> None:
    """S15: a window that is gone takes its engine along, in the middle of a load too."""
    child.until(protocol.Hello)
    if moment == "loading":
        child.send(protocol.Load(1, tiny_config(models.gemma_path(), ctx_per_slot_tok=8192)))
        child.until(protocol.LoadProgressed)
    elif moment == "generating":
        child.send(protocol.Load(1, tiny_config(tiny_path, ctx_per_slot_tok=4096)))
        child.until(protocol.Applied)
        tokens = tuple(random_tokens(8))
        child.send(protocol.Generate(2, "a", (), prompt_tokens=tokens, ignore_eog=True))
        child.until(protocol.TokensDelivered)
    child.close_stdin()
    begin = time.monotonic()
    assert child.process.wait(_PATIENCE_S) == 0
    assert time.monotonic() - begin < 5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
def test_that_the_process_ends_with_a_parent_that_is_killed() -> None:
    """S15, second run: the pipe is still held open by someone else, yet the engine goes."""
    read_end, write_end = os.pipe()
    script = (
        "import subprocess, sys, time\n"
        "engine = subprocess.Popen([sys.executable, '-m', 'engine_bridge.child'],"
        f" stdin={read_end}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)\n"
        "engine.stdout.readline()\n"
        "print(engine.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, pass_fds=(read_end,)
    )
    assert parent.stdout is not None
    try:
        engine = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        gone, _ = psutil.wait_procs([engine], timeout=10)
        assert gone
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        os.close(read_end)
        os.close(write_end)


def test_that_a_window_that_stalls_does_not_stop_the_engine(child: Child, tiny_path: Path) -> None:
    """Nothing is read for as long as a whole answer takes; then all of it is there."""
    child.send(protocol.Load(1, tiny_config(tiny_path, ctx_per_slot_tok=4096, slots=2)))
    child.until(protocol.Applied)
    tokens = tuple(random_tokens(8))
    for request_id in (2, 3):
        child.send(
            protocol.Generate(
                request_id,
                str(request_id),
                (),
                prompt_tokens=tokens,
                max_new_tok=1500,
                ignore_eog=True,
            )
        )
    engine = psutil.Process(child.process.pid)
    # It is done when it no longer computes; meanwhile nobody reads.
    used, still = -1.0, 0
    deadline = time.monotonic() + _PATIENCE_S
    while still < 5 and time.monotonic() < deadline:
        child.process.poll()
        before, used = used, sum(engine.cpu_times()[:2])
        still = still + 1 if used - before < 0.02 else 0
        select.select([], [], [], 0.1)
    for request_id in (2, 3):
        finished = child.until(protocol.RequestFinished, request_id=request_id)
        assert finished.timing.new_tok == 1500
    delivered = [e for e in child.seen if isinstance(e, protocol.TokensDelivered)]
    for request_id in (2, 3):
        counts = [sum(e.step_tok) for e in delivered if e.request_id == request_id]
        assert sum(counts) == 1500


def test_that_a_line_that_is_no_command_is_named_and_passed_over(
    child: Child, tiny_path: Path
) -> None:
    assert child.process.stdin is not None
    child.process.stdin.write(b'{"type":"dance"}\nnonsense\n\n')
    assert "no command" in child.until(protocol.Logged, level="error").text
    child.send(protocol.Load(1, tiny_config(tiny_path)))
    child.until(protocol.Applied)


def test_that_a_killed_engine_can_be_followed_by_another(tiny_path: Path) -> None:
    for _ in range(2):
        child = Child()
        try:
            child.send(protocol.Load(1, tiny_config(tiny_path)))
            child.until(protocol.Applied)
        finally:
            child.end()
        assert child.process.returncode == -signal.SIGKILL


def test_that_the_child_loads_without_qt() -> None:
    script = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('PySide6', 'shiboken6'):\n"
        "            raise ImportError(f'{name} is absent in this test')\n"
        "sys.meta_path.insert(0, Without())\n"
        "import engine_bridge.child.process\n"
        "assert not [name for name in sys.modules if name.startswith(('app', 'widgets'))]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
