"""``python -m engine_bridge.child``: the engine process.

Commands come on stdin, events go to stdout, and what C code prints goes to stderr: it writes to
both standard streams, so the real stdout is put out of its reach before the library is loaded.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Have Linux kill this process when the window dies, however it dies."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # It may be dead already, and then nobody is told: its end of the pipe is closed. The thread
    # that reads the pipe begins only once the libraries are loaded, which can take seconds.
    pipe = select.poll()
    pipe.register(0, select.POLLHUP)
    if any(event & select.POLLHUP for _, event in pipe.poll(0)):
        os._exit(0)


def take_pipes() -> tuple[int, int]:
    """Move the pipes out of the way of C code.

    Returns:
        Where commands come from and where events go.
    """
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the window's to answer
    commands_fd, events_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr
    return commands_fd, events_fd


def main() -> None:
    """Move the pipes out of the way, then load the engine."""
    commands_fd, events_fd = take_pipes()

    from engine_bridge.child.process import serve  # noqa: PLC0415 - loads the library

    serve(commands_fd, events_fd)


if __name__ == "__main__":
    main()
