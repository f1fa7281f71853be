"""A thread that dies takes its process along, so that the window notices."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import sys, threading
from engine_bridge.child.thread_deaths import end_with_any_thread
end_with_any_thread()
def work():
    raise {error}
thread = threading.Thread(target=work)
thread.start()
thread.join()
print("goes on")
"""


def _ended(error: str) -> subprocess.CompletedProcess[str]:
    script = _SCRIPT.format(error=error)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_that_a_thread_that_dies_takes_its_process_along() -> None:
    done = _ended("MemoryError('nothing left')")
    assert done.returncode == 1
    assert "goes on" not in done.stdout
    assert "MemoryError: nothing left" in done.stderr


def test_that_a_thread_may_end_itself() -> None:
    done = _ended("SystemExit")
    assert done.returncode == 0
    assert "goes on" in done.stdout
