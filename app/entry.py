"""Where the ``tunedeck`` script and ``python -m app`` begin; nothing else is read before it.

What follows reads the whole program from the disk, which takes as long as a Ctrl+C needs. An
exception in the middle of that is a page of traceback, and where a library is just being set up it
can be a crash; so until all is read, Ctrl+C ends the process there and then.
"""

from __future__ import annotations

import os
import signal
import sys

_STOPPED_STATUS = 130
_STDERR = 2


def main() -> int:
    """Run the command line; gives the exit status."""
    # What whoever started this ignores stays ignored.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, _end)
    try:
        from app.cli import main as run  # noqa: PLC0415
    except KeyboardInterrupt:  # it came before the line above
        _end()
    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run()
    except KeyboardInterrupt:  # between two lines of the program that answers it
        sys.stderr.write("Stopped.\n")
        return _STOPPED_STATUS


def _end(*_: object) -> None:
    """Say so, and end at once: nothing was begun that would have to be undone."""
    try:  # noqa: SIM105, for contextlib is more to read than all of this
        os.write(_STDERR, b"Stopped.\n")
    except OSError:  # a stream that is closed
        pass
    os._exit(_STOPPED_STATUS)
