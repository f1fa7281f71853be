"""What an engine says of itself, asked of one that is started for nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import msgspec

from engine_bridge.engine_process import added_variables
from engine_bridge.protocol import Hello, decode_event

# A driver of a GPU can take seconds to wake up.
_TIMEOUT_S = 30.0
_FAREWELL_S = 5.0


def greeting_of_new_engine(command: tuple[str, ...] = ()) -> Hello | None:
    """Start an engine, hear its first words and end it; None where it has none to say.

    Args:
        command: What to start instead of the engine.
    """
    process = subprocess.Popen(
        command or (sys.executable, "-m", "engine_bridge.child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | added_variables(os.environ.get("PYTHONPATH", "")),
    )
    overdue = threading.Timer(_TIMEOUT_S, process.kill)
    overdue.start()
    try:
        return _hello_in(process)
    finally:
        overdue.cancel()
        overdue.join()
        if process.stdin is not None:
            process.stdin.close()  # an engine without a window ends
        try:
            process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _hello_in(process: subprocess.Popen[bytes]) -> Hello | None:
    for line in process.stdout or ():
        try:
            event = decode_event(line)
        except msgspec.DecodeError:
            return None
        if isinstance(event, Hello):
            return event
    return None
