"""How long a history of 10,000 experiments takes to open, to be listed, filtered and searched.

A real file, made for this and removed again, and opened anew for each figure.
``python -m tests.bench.history``.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State
from app.experiments.history_query import Filter, Order
from app.experiments.history_store import HistoryStore
from tests.bench import machine, report
from tests.bench.llama_server import LINK
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment

COUNT = 10_000
TARGET_S = 0.3
_RUNS = 7
_MODELS = tuple(f"Model {number} {size}B Q4_K_M" for number in range(8) for size in (1, 4, 8))
_TAGS = ("laptop", "battery", "desktop", "kv", "drafts", "night")
_BEGUN = datetime(2025, 1, 1, tzinfo=UTC)
_NOTE = "Fan at full speed, window open, other programs closed. " * 3


def made(number: int, chance: random.Random) -> Experiment:
    """One of them: a tenth are sweeps of sixty configurations, the others have one to six."""
    begun = _BEGUN + timedelta(minutes=61 * number)
    cells = 60 if number % 10 == 0 else chance.randint(1, 6)
    return experiment(
        f"{begun:%Y%m%d-%H%M%S}-{number:06x}",
        [_cell(place, chance) for place in range(cells)],
        kind=Kind.SWEEP if cells == 60 else chance.choice(list(Kind)),
        begun_at=begun.isoformat(timespec="seconds"),
        state=chance.choice((State.DONE, State.DONE, State.DONE, State.STOPPED)),
        title=f"Experiment {number} with the chat workload",
        subject=msgspec.structs.replace(SUBJECT, model=chance.choice(_MODELS)),
        tags=tuple(chance.sample(_TAGS, chance.randint(0, 3))),
        note=_NOTE if number % 3 == 0 else "",
    )


def _cell(place: int, chance: random.Random) -> Cell:
    slots, ctx_tok = 1 + place % 8, 1024 * chance.randint(1, 32)
    return cell(
        f"slots={slots}, ctx_per_slot_tok={ctx_tok}",
        {"slots": slots, "ctx_per_slot_tok": ctx_tok, "cache_type_k": "q8_0"},
        speed=chance.uniform(0.2, 5.0),
    )


def fill(folder: Path) -> int:
    """Keep ``COUNT`` experiments; gives the size of the file, bytes."""
    chance = random.Random(6)
    store = HistoryStore(folder)
    for number in range(COUNT):
        store.keep(made(number, chance))
    store.close()
    return store.path.stat().st_size


def seconds(folder: Path, wanted: Filter) -> tuple[float, float, int]:
    """Seconds from nothing open to the rows of ``wanted``, those of the processor, and the rows."""
    begun_s, busy_s = time.perf_counter(), time.process_time()
    store = HistoryStore(folder)
    rows = store.listing(wanted)
    took_s, busy_s = time.perf_counter() - begun_s, time.process_time() - busy_s
    store.close()
    return took_s, busy_s, len(rows)


CASES: tuple[tuple[str, Filter], ...] = (
    ("all, newest first", Filter()),
    ("all, fastest first", Filter(order=Order.THROUGHPUT)),
    ("of one kind", Filter(kinds=(Kind.TUNE,))),
    ("of one model", Filter(models=(_MODELS[5],))),
    ("with a tag", Filter(tag="battery")),
    ("of one month", Filter(since=_BEGUN, until=_BEGUN + timedelta(days=30))),
    ("with a word in most", Filter(text="chat")),
    ("with a word in few", Filter(text="slots=8 ctx_per_slot_tok=31744 fan")),
    ("with a word in none", Filter(text="nowhere")),
)


def _warm(_: Path) -> None:
    """The system's file cache stays as it is."""


def _cold(_: Path) -> None:
    subprocess.run(["sync"], check=True)
    Path("/proc/sys/vm/drop_caches").write_text("3")


def main() -> int:
    """Measure, print, write ``build/bench/history.json``."""
    content: dict[str, object] = {"machine": machine.describe(), "count": COUNT}
    with tempfile.TemporaryDirectory(prefix="tunedeck-bench-") as name:
        folder = Path(name)
        begun_s = time.perf_counter()
        size_bytes = fill(folder)
        keep_s = (time.perf_counter() - begun_s) / COUNT
        print(
            f"{COUNT:,} experiments, {size_bytes / 1e6:.0f} MB, kept in {keep_s * 1000:.1f} ms "
            f"each; opened and listed, target below {TARGET_S * 1000:.0f} ms:"
        )
        content |= {"size_bytes": size_bytes, "keep_s": keep_s}
        for label, wanted in CASES:
            content[label] = _measured(label, folder, wanted, _warm)
        try:
            label = "all, cold file cache"
            content[label] = _measured(label, folder, Filter(), _cold)
        except OSError as error:
            print(f"  {label:<24}not measured: {error.strerror}")
    report.write(LINK.parent / "history.json", content)
    return 0


def _measured(
    label: str, folder: Path, wanted: Filter, prepare: Callable[[Path], None]
) -> dict[str, list[float]]:
    figures, busy, rows = [], [], 0
    for _ in range(_RUNS):
        prepare(folder)
        took_s, busy_s, rows = seconds(folder, wanted)
        figures.append(took_s)
        busy.append(busy_s)
    median_s = statistics.median(figures)
    verdict = "met" if median_s < TARGET_S else "missed"
    print(
        f"  {label:<24}{median_s * 1000:6.0f} ms  ({min(figures) * 1000:.0f} to "
        f"{max(figures) * 1000:.0f}; processor {statistics.median(busy) * 1000:.0f})  "
        f"{rows:>6,} rows: {verdict}"
    )
    return {"seconds": figures, "processor_seconds": busy}


if __name__ == "__main__":
    sys.exit(main())
