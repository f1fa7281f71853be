"""Where the ``tunedeck`` script and ``python -m app`` begin; nothing else is read before it.

What follows reads the whole program from the disk, a part of it only once a command is known;
that takes as long as a Ctrl+C needs. An exception in the middle of it is a page of traceback, and
where a library is just being set up it can be a crash. So until a command listens for itself (the
window, or an experiment that has something to keep), Ctrl+C ends the process there and then.
"""

import os

_STOPPED_STATUS = 130
_STDERR = 2


def _end(*_: object) -> None:
    """Say so, and end at once: nothing was begun that would have to be undone."""
    try:  # noqa: SIM105, for contextlib is more to read than all of this
        os.write(_STDERR, b"Stopped.\n")
    except OSError:  # a stream that is closed
        pass
    os._exit(_STOPPED_STATUS)


# Here and not in the function: what was ahead of this line is all that can still be interrupted.
try:
    import signal

    # What whoever started this ignores stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
except KeyboardInterrupt:
    _end()


def main() -> int:
    """Run the command line; gives the exit status."""
    from app.cli import main as run  # noqa: PLC0415

    return run()
