"""Where the ``tunedeck`` script and ``python -m app`` begin; nothing else is read before it.

What follows reads the whole program from the disk, which takes as long as a Ctrl+C needs.
"""

from __future__ import annotations

import sys

_STOPPED_STATUS = 130


def main() -> int:
    """Run the command line; gives the exit status."""
    try:
        from app.cli import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:  # while the program was still being read
        if sys.stderr is not None:  # closed by who started it
            sys.stderr.write("Stopped.\n")
        return _STOPPED_STATUS
