"""Which module runs which kind."""

from __future__ import annotations

from collections.abc import Callable

from tests.chaos import (
    engine_kills,
    full_disk,
    mutated_files,
    out_of_memory,
    soak,
    stalled_reader,
    window_kills,
)
from tests.chaos.stage import Stage
from tests.chaos.tally import Tally

RUNS: dict[str, Callable[[Stage], Tally]] = {
    "engine_kills": engine_kills.run,
    "window_kills": window_kills.run,
    "mutated_files": mutated_files.run,
    "out_of_memory": out_of_memory.run,
    "soak": soak.run,
    "stalled_reader": stalled_reader.run,
    "full_disk": full_disk.run,
}
