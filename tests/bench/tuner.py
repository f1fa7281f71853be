"""``make bench-tuner``: does the tuner find what is best, and with how few runs.

Four parts, each alone with ``--only``: ``table`` (Gemma in 64 configurations, measured in rounds
once; what is there of this machine, engine and model is used again, and what was killed goes on),
``replay`` (the tuner on that table with 20 seeds), ``live`` (the tuner on a running engine, its
result in turns with the table's three best) and ``drafts`` (Qwen 1.5B: a draft model that is too
slow, and prompt lookup that pays). Writes ``build/bench/tuner.json``; a part that was not run again
keeps its figures there, with the time they are from.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.experiments.own_engine import OwnEngine
from app.experiments.port import PortError
from app.experiments.terminal import Terminal
from app.experiments.workload_error import WorkloadError
from app.storage.storage_error import StorageError
from engine_bridge.gguf_file import GgufError
from engine_bridge.settings.domain import DomainError
from tests import models
from tests.bench import (
    machine,
    report,
    tuner_drafts,
    tuner_live,
    tuner_recording,
    tuner_replay,
    tuner_table,
)
from tests.bench.llama_server import LINK, say
from tests.bench.tuner_table import TableError

OUT = LINK.parent
QUICK_ROUNDS, QUICK_SEEDS, QUICK_PAIRS = 3, 5, 6
# What a part may end with instead of figures; each is a sentence.
_SENTENCES = (
    TableError,
    PortError,
    DomainError,
    WorkloadError,
    StorageError,
    GgufError,
    models.ModelMissingError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts; the exit code is 1 if one could not be measured."""
    args = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make bench-tuner: told to end"))
    # Whoever asks for the bench asks for its models.
    os.environ.setdefault("TUNEDECK_FETCH", "1")
    path = OUT / ("tuner-quick.json" if args.quick else "tuner.json")
    content, is_whole = content_of(path, machine.describe()), True
    for name in args.only:
        print(f"\n{name}", flush=True)
        begun_s = time.monotonic()
        try:
            figures = PARTS[name](args)
        except _SENTENCES as error:
            print(f"make bench-tuner: {name}: {error}", file=sys.stderr)
            is_whole = False
            continue
        content |= figures
        content["measured"][name] = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "took_s": round(time.monotonic() - begun_s, 1),
        }
        report.write(path, content)
        print(f"written: {path}", flush=True)
    return 0 if is_whole else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for; ``only`` lists the parts in the order of ``PARTS``."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.tuner", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts; all of them")
    parser.add_argument("--record", action="store_true", help="record the table anew")
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"runs of each configuration of the table ({tuner_recording.ROUNDS})",
    )
    parser.add_argument("--seeds", type=int, metavar="N", help=f"replays ({tuner_replay.SEEDS})")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"8 configurations, {QUICK_ROUNDS} rounds and {QUICK_SEEDS} seeds without the drafts, "
        "written to tuner-quick.json",
    )
    args = parser.parse_args(arguments)
    wanted = args.only or [name for name in PARTS if name != "drafts" or not args.quick]
    args.only = [name for name in PARTS if name in wanted]
    args.rounds = args.rounds or (QUICK_ROUNDS if args.quick else tuner_recording.ROUNDS)
    args.seeds = args.seeds or (QUICK_SEEDS if args.quick else tuner_replay.SEEDS)
    if args.rounds < QUICK_ROUNDS:
        parser.error(f"--rounds takes {QUICK_ROUNDS} or more: fewer say nothing of the spread")
    if args.seeds < 1:
        parser.error("--seeds takes 1 or more")
    return args


def content_of(path: Path, here: str) -> dict[str, Any]:
    """What the file holds of this machine; nothing where it is damaged or of another one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = {}
    is_ours = isinstance(content, dict) and content.get("machine") == here
    is_whole = is_ours and isinstance(content.get("measured"), dict)
    return {"machine": here, "measured": {}, **(content if is_whole else {})}


def table_path(args: argparse.Namespace) -> Path:
    """Where the recorded runs are kept."""
    return OUT / ("tuner-table-quick.json" if args.quick else "tuner-table.json")


# --- The parts ------------------------------------------------------------------------------


def _table(args: argparse.Namespace) -> dict[str, Any]:
    model = models.find_gemma()
    domain = tuner_recording.QUICK_DOMAIN if args.quick else tuner_recording.DOMAIN
    with OwnEngine() as engine:
        table = tuner_recording.record(
            engine,
            tuner_recording.Wanted(tuner_recording.base_config(model), domain, args.rounds),
            tuner_recording.subject_here(engine.hello, model),
            table_path(args),
            Terminal(),
            is_anew=args.record,
            say=say,
        )
    if not table.is_complete:
        raise TableError("No configuration could be measured.")
    figures = tuner_table.as_json(table)
    _print(tuner_table.lines(figures))
    return {"table": {"file": table_path(args).name, **figures}}


def _replay(args: argparse.Namespace) -> dict[str, Any]:
    table = tuner_table.read_complete(table_path(args))
    replays = [tuner_replay.replay(table, seed) for seed in range(1, args.seeds + 1)]
    summary = tuner_replay.summary(replays)
    _print(tuner_replay.lines(replays, summary))
    return {"replays": tuner_replay.as_json(replays), "replay": summary}


def _live(args: argparse.Namespace) -> dict[str, Any]:
    table = tuner_table.read_complete(table_path(args))
    model = models.find_gemma()
    pairs = QUICK_PAIRS if args.quick else tuner_live.PAIRS
    with OwnEngine() as engine:
        tuner_live.refuse_other_table(table, tuner_recording.subject_here(engine.hello, model))
        figures = tuner_live.live(engine, table, Terminal(), budget=tuner_live.Budget(pairs))
    _print(tuner_live.lines(figures))
    return {"live": figures}


def _drafts(_: argparse.Namespace) -> dict[str, Any]:
    try:
        target = models.find_packaged(models.QWEN_15B)
        draft = models.find_packaged(models.QWEN_05B)
    except models.ModelMissingError as missing:
        print(f"skipped: {missing}", flush=True)
        return {"drafts": {"skipped": str(missing)}}
    with OwnEngine() as engine:
        figures = tuner_drafts.drafts(engine, target, draft, Terminal(), said=say)
    _print(tuner_drafts.lines(figures))
    return {"drafts": figures}


def _print(lines: Sequence[str]) -> None:
    print("\n".join(lines), flush=True)


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "table": _table,
    "replay": _replay,
    "live": _live,
    "drafts": _drafts,
}


if __name__ == "__main__":
    sys.exit(main())
