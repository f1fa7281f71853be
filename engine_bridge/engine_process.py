"""What the system has to know about the engine process: its environment and how to kill it.

Pure standard library; must not know the protocol or Qt.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from pathlib import Path

# What the engine has no use for; it opens files and templates of unknown origin.
WITHHELD_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
# Where the process can be given a session of its own, everything it started can be found.
HAS_SESSIONS = hasattr(os, "setsid")


def added_variables(python_path: str) -> dict[str, str]:
    """Environment variables of the engine beside those of the window.

    Args:
        python_path: The window's own ``PYTHONPATH``, empty for none.
    """
    root = str(Path(__file__).resolve().parents[1])
    folders: Iterable[str] = (root, *filter(None, python_path.split(os.pathsep)))
    return {
        # Without it an abort inside ggml starts a debugger first.
        "GGML_NO_BACKTRACE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        # A file in the folder that TuneDeck was started from must not stand in for a module ...
        "PYTHONSAFEPATH": "1",
        # ... but this package has to be found from every folder.
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders)),
    }


def kill_session(pid: int) -> bool:
    """Kill process ``pid``, leader of its session, with everything still in its group.

    Returns:
        Whether there was something to kill; always False for 0 and on systems without sessions.
    """
    if not pid or not HAS_SESSIONS:
        return False
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True
