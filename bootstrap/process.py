"""Runs programs so that an interrupt ends them whole: pip, cmake and every compiler below them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# What pip and ninja get to put their affairs in order before they are killed.
_FAREWELL_S = 5.0


def output_of(command: Sequence[str], timeout_s: float = 20.0) -> str | None:
    """What ``command`` prints; None if it is not there, fails or takes too long."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def run_whole(
    command: Sequence[str],
    on_line: Callable[[str], None] | None = None,
    *,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> int:
    """Run ``command`` in a process group of its own and return its exit status.

    Args:
        command: Program and arguments.
        on_line: Gets each line of its output; without it the output goes to ours.
        log: File that the output is copied to.
        environment: Variables added to ours.
        folder: Folder to run in.

    Raises:
        OSError: If the program cannot be started.
    """
    is_read = on_line is not None
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE if is_read else None,
        stderr=subprocess.STDOUT if is_read else None,
        text=True,
        errors="replace",
        env={**os.environ, **(environment or {})},
        cwd=folder,
        start_new_session=True,
    ) as child:
        try:
            if on_line is not None:
                _read(child, on_line, log)
            return child.wait()
        except BaseException:
            _end_group(child)
            raise


def _read(child: subprocess.Popen[str], on_line: Callable[[str], None], log: Path | None) -> None:
    if child.stdout is None:
        raise ValueError("The output is not piped.")
    with Path(log or os.devnull).open("w", encoding="utf-8") as copy:
        for line in child.stdout:
            copy.write(line)
            on_line(line.rstrip("\n"))


def _end_group(child: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        subprocess.run(
            ["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False
        )
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(_FAREWELL_S)
        except (ProcessLookupError, PermissionError):  # the group is gone (macOS: all zombies)
            return
        except subprocess.TimeoutExpired:
            continue
