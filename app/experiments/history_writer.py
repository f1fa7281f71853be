"""Which process writes an experiment that runs, and whether it still lives.

A process number alone says nothing: the system gives it again. With the time at which the process
began it is one process only.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass

import psutil

# The system's clock is set while programs run, and the beginnings it tells move with it.
_SAME_START_S = 60.0
# Nobody here sees whether a program on another machine lives; parts of experiments end sooner.
_SILENCE_S = 86_400.0


@dataclass(frozen=True)
class Writer:
    """A process.

    Attributes:
        host: Name of its machine.
        pid: Its number there.
        started_s: When it began, since 1970.
    """

    host: str
    pid: int
    started_s: float


def own_writer() -> Writer:
    """This process."""
    process = psutil.Process()
    return Writer(platform.node(), process.pid, process.create_time())


def is_alive(writer: Writer | None, written_s: float, now_s: float) -> bool:
    """Whether an experiment that ``writer`` began may still go on.

    Args:
        writer: Who writes it; None if that is not known.
        written_s: When it was last written, since 1970.
        now_s: Now, since 1970.
    """
    if writer is None:
        return False
    if writer.host != platform.node():
        return now_s - written_s < _SILENCE_S
    try:
        process = psutil.Process(writer.pid)
        started_s = process.create_time()
        is_over = process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:  # there is one, of another user
        return True
    return not is_over and abs(started_s - writer.started_s) < _SAME_START_S
