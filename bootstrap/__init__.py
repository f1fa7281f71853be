"""Sets the project up before anything of it can be imported: the standard library alone.

``make run``, ``make test`` and the others call ``python3 -m bootstrap``. Knows pip, cmake, drivers
and the package names of some systems; must not import a room of TuneDeck.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this is where an older Python is told so
    sys.stderr.write(
        "TuneDeck needs Python 3.11 or newer, and this one is older: install a newer one, e.g. "
        "`apt-get install python3.11 python3.11-venv`, `dnf install python3.13` or `brew install "
        "python@3.13`, and say its name: `make PYTHON=python3.13 run`.\n"
    )
    sys.exit(1)

try:  # Debian's python3-minimal has a part of the standard library only
    import ctypes  # noqa: F401
    import json  # noqa: F401
    import tomllib  # noqa: F401
except ImportError as missing:
    sys.stderr.write(
        f"TuneDeck needs Python's whole standard library, and here is a part of it ({missing}): "
        "`apt-get install python3 python3-venv` brings the rest.\n"
    )
    sys.exit(1)
