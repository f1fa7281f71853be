"""``python -m engine_bridge.child``: the engine process.

Commands come on stdin, events go to stdout, and what C code prints goes to stderr: it writes to
both standard streams, so the real stdout is put out of its reach before the library is loaded.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Have Linux kill this process when the window dies, however it dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Move the pipes out of the way, then load the engine."""
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the window's to answer
    commands_fd, events_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = sys.stderr

    from engine_bridge.child.process import serve  # noqa: PLC0415 - loads the library

    serve(commands_fd, events_fd)


if __name__ == "__main__":
    main()
