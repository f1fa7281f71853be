"""What the system has to know about the engine process: its environment and how to kill it.

Pure standard library; must not know the protocol or Qt.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Mapping
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
        **large_pages(os.environ),
    }


def large_pages(environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that has glibc ask for large pages; it is read as a process starts.

    Repacked weights and caches are hundreds of MiB that every step reads from end to end. With
    pages of 2 MiB a processor looks up a fraction of the addresses (measured: ADR 20). Nothing
    happens on other systems, or where the system's administrator has switched large pages off.

    Args:
        environment: Variables that are set already; a wish of the user's own stays.
    """
    if sys.platform != "linux":
        return {}
    wishes = environment.get("GLIBC_TUNABLES", "")
    if "glibc.malloc.hugetlb" in wishes:
        return {}
    return {"GLIBC_TUNABLES": ":".join(filter(None, (wishes, "glibc.malloc.hugetlb=1")))}


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
