"""``make bench-gauges``: do the gauges tell the truth, and what does it cost to look at them.

Three parts, each alone with ``--only``: ``mbu`` (bandwidth of decode against the memory's peak),
``charts`` (the window's thread and the engine's speed with and without them) and ``prediction``
(TTFT and TPOT foretold, on settings that nothing was fitted to). Writes
``build/bench/gauges.json``; a part that was not run again keeps its figures there, with the time
they are from.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests import models
from tests.bench import gauges_mbu, gauges_words, machine, report
from tests.bench.llama_server import LINK, say
from tests.bench.work import ContenderError

OUT = LINK.parent
QUICK_ROUNDS = 3
_FEW_SETTINGS = 8
_MODEL = "qwen2.5-coder-1.5b"
_PREDICTION = "tests.bench.prediction"


class PartError(Exception):
    """A part could not be measured; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts; the exit code is 1 if one could not be measured."""
    args = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make bench-gauges: told to end"))
    # Whoever asks for the bench asks for its models.
    os.environ.setdefault("TUNEDECK_FETCH", "1")
    path = OUT / ("gauges-quick.json" if args.quick else "gauges.json")
    content, is_whole = content_of(path, machine.describe()), True
    for name in args.only:
        print(f"\n{name}", flush=True)
        begun_s = time.monotonic()
        try:
            figures = PARTS[name](args)
        except (PartError, models.ModelMissingError, ContenderError, ValueError) as error:
            print(f"make bench-gauges: {name}: {error}", file=sys.stderr)
            is_whole = False
            continue
        content["parts"][name] = {
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "took_s": round(time.monotonic() - begun_s, 1),
            **figures,
        }
        report.write(path, content)
    if content["parts"]:
        print(f"\nwritten: {path}")
    return 0 if is_whole else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What is asked for; ``only`` lists the parts in the order of ``PARTS``."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gauges", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts; all of them")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_ROUNDS} rounds of shorter runs, written to gauges-quick.json",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help=f"processes of mbu ({gauges_mbu.ROUNDS}) and alternations of charts",
    )
    args = parser.parse_args(arguments)
    if args.rounds is not None and args.rounds < QUICK_ROUNDS:
        parser.error(f"--rounds takes {QUICK_ROUNDS} or more: fewer say nothing of the spread")
    wanted = args.only or PARTS
    args.only = [name for name in PARTS if name in wanted]
    if args.quick and args.rounds is None:
        args.rounds = QUICK_ROUNDS
    return args


def content_of(path: Path, here: str) -> dict[str, Any]:
    """What the file holds of this machine; nothing where it is damaged or of another one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = {}
    if isinstance(content, dict) and content.get("machine") == here:
        parts = content.get("parts")
        return {"machine": here, "parts": parts if isinstance(parts, dict) else {}}
    return {"machine": here, "parts": {}}


# --- The parts ------------------------------------------------------------------------------


def _mbu(args: argparse.Namespace) -> dict[str, Any]:
    model = models.find_packaged(models.QWEN_15B)
    new_tok = {s: n // 2 for s, n in gauges_mbu.NEW_TOK.items()} if args.quick else None
    runs = gauges_mbu.measure(model, args.rounds or gauges_mbu.ROUNDS, say, new_tok)
    print(gauges_words.table(_MODEL, runs), flush=True)
    return gauges_words.as_json(_MODEL, runs)


def _charts(args: argparse.Namespace) -> dict[str, Any]:
    """In a process of its own: Qt wants to be there first and alone."""
    with tempfile.TemporaryDirectory(prefix="tunedeck-gauges-") as folder:
        out = Path(folder) / "charts.json"
        more = ["--quick"] if args.quick else []
        more += ["--alternations", str(args.rounds)] if args.rounds else []
        return _apart("tests.bench.gauges_charts", [*more, "--out", str(out)], out)


def _prediction(args: argparse.Namespace) -> dict[str, Any]:
    if importlib.util.find_spec(_PREDICTION) is None:
        raise PartError("tests/bench/prediction.py is not there: section 4 was not measured.")
    if args.quick:
        return _predict_few()
    content = _apart(_PREDICTION, [], OUT / "prediction.json")
    # Every single run stays in its own file.
    return {
        "models": {
            model: {key: value for key, value in figures.items() if key not in ("runs", "size")}
            for model, figures in content["models"].items()
        }
    }


def _predict_few() -> dict[str, Any]:
    """Some settings of the smaller model; the file of all of them stays as it is."""
    prediction = importlib.import_module(_PREDICTION)
    settings = prediction.settings_to_measure(_FEW_SETTINGS, prediction.SEED)
    measured, size = prediction.measure(models.find_gemma(), settings)
    rows = prediction.compare(measured, size, prediction.SEED)
    print(prediction.table("gemma", rows), flush=True)
    return {"models": {"gemma": {"summary": prediction.summary(rows)}}}


def _apart(module: str, arguments: list[str], out: Path) -> dict[str, Any]:
    """Run a bench in a process of its own, which prints its table; gives what it wrote."""
    begun_s = time.time()
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=False)
    # A target that was missed is a status too, and the figures are there.
    if not out.exists() or out.stat().st_mtime < begun_s:
        raise PartError(f"{module} ended with status {done.returncode} and wrote no {out.name}.")
    content = json.loads(out.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise PartError(f"{out.name} holds no figures.")
    return content


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "mbu": _mbu,
    "charts": _charts,
    "prediction": _prediction,
}


if __name__ == "__main__":
    sys.exit(main())
