"""``python -m app`` is ``tunedeck``."""

import sys

try:
    from app.cli import main

    status = main()
except KeyboardInterrupt:  # while the program was still being read from the disk
    sys.stderr.write("Stopped.\n")
    status = 130
sys.exit(status)
