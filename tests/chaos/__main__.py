"""``make chaos``: does the worst to the desk and says what of it was survived.

``python -m tests.chaos [--seed N] [KIND …]``. Every kind runs in a process of its own, which may
die of it. Exit status 1 if anything was lost. ``CHAOS=full`` takes the full counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random, SystemRandom

import msgspec

from tests.chaos.counts import counts_of
from tests.chaos.tally import HEADING, Tally

# In the order of the table: the module of each kind.
KINDS = (
    "engine_kills",
    "window_kills",
    "mutated_files",
    "out_of_memory",
    "soak",
    "stalled_reader",
    "full_disk",
)
_XDG = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kinds that are asked for and print one line for each."""
    args = _parser().parse_args(arguments)
    seed = args.seed if args.seed is not None else SystemRandom().randrange(2**32)
    if args.report is not None:
        _run_here(args.kinds[0], seed, Path(args.report))
        return 0
    counts_of(os.environ)  # says what is wrong with it before anything begins
    print(f'seed {seed} (the same chances again: make chaos ARGS="--seed {seed}")', flush=True)
    print(HEADING, flush=True)
    tallies = []
    for kind in args.kinds or KINDS:
        print(f"{kind} …", file=sys.stderr, flush=True)
        tallies.append(_run_apart(kind, seed))
        print(tallies[-1].line(), flush=True)  # at once: an hour may be cut short
    for tally in tallies:
        for loss in tally.losses:
            print(f"lost: {tally.name}: {loss}")
    return 1 if any(tally.losses for tally in tallies) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all")
    parser.add_argument("--seed", type=int, help="the chances of an earlier run")
    parser.add_argument("--report", help=argparse.SUPPRESS)  # where one kind leaves its tally
    return parser


def _run_apart(kind: str, seed: int) -> Tally:
    """One kind in a process of its own, in folders of its own."""
    begun_s = time.monotonic()
    # A kind that was killed may leave a disk there that is in use.
    with tempfile.TemporaryDirectory(
        prefix="tunedeck-chaos-", ignore_cleanup_errors=True
    ) as folder:
        home, report = Path(folder) / "home", Path(folder) / "tally.json"
        environment = os.environ | {name: str(home / name.lower()) for name in _XDG}
        environment |= {"HF_HUB_OFFLINE": "1", "QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, "-m", "tests.chaos", kind, "--seed", str(seed)]
        done = subprocess.run([*command, "--report", str(report)], env=environment, check=False)
        if report.exists():
            tally = msgspec.json.decode(report.read_bytes(), type=Tally)
        else:
            tally = Tally(kind.replace("_", " "))
            tally.note(f"the program that tries it ended with status {done.returncode}")
    tally.seconds = time.monotonic() - begun_s
    return tally


def _run_here(kind: str, seed: int, report: Path) -> None:
    from tests.chaos import kinds  # noqa: PLC0415 - Qt and the window, for one kind's process only
    from tests.chaos.stage import LostError, Stage  # noqa: PLC0415

    run: Callable[[Stage], Tally] = kinds.RUNS[kind]
    folder = report.parent / "stage"
    folder.mkdir()
    stage = Stage(folder, Random(f"{seed} {kind}"), counts_of(os.environ))
    with stage.watched():
        try:
            tally = run(stage)
        except LostError as error:  # where no try could begin, or none could end
            tally = Tally(kind.replace("_", " "))
            tally.note(str(error))
    report.write_bytes(msgspec.json.encode(tally))


if __name__ == "__main__":
    sys.exit(main())
