"""How many threads ``auto`` means.

Knows the processor's topology; must not know the engine.
"""

from __future__ import annotations

import os

import psutil

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem

# Threads a processor: more only wait for each other at every barrier, until nothing moves.
_MOST_A_PROCESSOR = 4


def auto_threads() -> int:
    """Physical cores this process may run on, at least 1.

    llama-server takes the machine's physical cores (``common_cpu_get_num_math``) and trusts its
    affinity mask less than we do: in a container or under ``taskset`` more threads than allowed
    processors wait for each other at every barrier.
    """
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        allowed = os.cpu_count() or 1
    return max(1, min(physical, allowed))


def threads_of(config: EngineConfig) -> tuple[int, int]:
    """Decode and prefill threads that ``config`` means, ``auto`` resolved."""
    decode = auto_threads() if config.threads == "auto" else config.threads
    batch = decode if config.threads_batch == "auto" else config.threads_batch
    return decode, batch


def threads_problem(config: EngineConfig) -> Problem | None:
    """Why this machine cannot be asked for so many threads, or None."""
    processors = os.cpu_count() or 1
    for key, wanted in (("threads", config.threads), ("threads_batch", config.threads_batch)):
        if isinstance(wanted, int) and wanted > _MOST_A_PROCESSOR * processors:
            return Problem(
                (key,),
                f"{wanted:,} threads are too many for this machine's {processors:,} processors: "
                "they would wait for each other at every step. Choose at most "
                f"{_MOST_A_PROCESSOR * processors:,}; auto takes the physical cores.",
                {key: "auto"},
            )
    return None
