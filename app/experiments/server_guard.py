"""Starts a server and ends with it: ``python -m app.experiments.server_guard``.

Servers do not notice that whoever started them is gone. This process does: its input ends with the
window, however that ended, and it takes the server along. One request comes in as a line of JSON,
what becomes of it goes out as lines of JSON; the server writes to this process's standard error.

Only the standard library: it is there before the server, and takes no memory worth naming.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

GRACE_S = 3.0
"""How long a server may take to end in good order."""

_PR_SET_PDEATHSIG = 1
_STDERR = 2


def main() -> int:
    """Serve one request; gives the exit status."""
    line = sys.stdin.buffer.readline()
    if not line:  # whoever would ask is gone already
        return 0
    request = json.loads(line)
    environment: dict[str, str] = request["environment"]
    try:
        child = subprocess.Popen(
            request["words"],
            stdin=subprocess.DEVNULL,
            stdout=_STDERR,
            stderr=_STDERR,
            env=environment,
            preexec_fn=_dying_with_parent(),  # noqa: PLW1509 - there is one thread yet
        )
    except (OSError, ValueError) as error:  # the latter of a word with a NUL in it
        reason = error.strerror if isinstance(error, OSError) else str(error)
        _tell(refused=str(reason or error))
        return 0
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    _tell(pid=child.pid)
    _tell(status=child.wait())
    return 0


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    """Wait until whoever asked is gone, or says that it is enough."""
    # Not by way of sys.stdin.buffer: Python aborts where its lock is held at the end.
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 4096):
            pass
    child.terminate()
    try:
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    os._exit(0)  # the main thread may hang on an output that nobody reads


def _tell(**words: object) -> None:
    with contextlib.suppress(OSError):  # nobody is there to hear it
        sys.stdout.write(f"{json.dumps(words)}\n")
        sys.stdout.flush()


def _dying_with_parent() -> Callable[[], None] | None:
    """On Linux a server dies with this process even where that is killed."""
    if sys.platform != "linux":
        return None
    system = ctypes.CDLL(None)

    def ask() -> None:
        system.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    return ask


if __name__ == "__main__":
    sys.exit(main())
