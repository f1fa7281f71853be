"""``make bench``: the engine against the ``llama-server`` of the same source, and the planner.

Writes ``build/bench/engine.json`` and ``build/bench/planner.json`` and prints their tables.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine_bridge.gguf_file import read_model_facts
from tests import models
from tests.bench import llama_server, machine, planner, report
from tests.bench.cells import CellPlan, CellResult, measure
from tests.bench.engine import Engine
from tests.bench.peer import Peer
from tests.bench.work import Contender, ContenderError, Layout
from tests.tiny_model import write_tiny_llama

OUT = llama_server.LINK.parent
STREAMS = (1, 4, 8, 16)
PAIRS = 7
QUICK_PAIRS = 3
# A process is up to 9 % faster or slower for as long as it lives, by where its memory lies.
PROCESSES = 3


@dataclass(frozen=True)
class BenchModel:
    """A model of the bench.

    Attributes:
        name: Name in the report.
        find: Gives its file.
        prompt_tok: Tokens of a prompt.
        new_tok: Tokens each stream generates, by number of streams; with the prompts 1 to 3 s a
            run on two cores, so that the whole stays below ten minutes.
        pairs: Pairs of runs in a cell, 7 at least.
        threads: Threads of both programs; None takes every core.
    """

    name: str
    find: Callable[[], Path]
    prompt_tok: int
    new_tok: dict[int, int]
    pairs: int = PAIRS
    threads: int | None = None


def _tiny() -> Path:
    OUT.mkdir(parents=True, exist_ok=True)
    return write_tiny_llama(OUT / "tiny.gguf")


MODELS = {
    # Short runs, which the scheduler's whims hit hardest: more of them. One thread, so that a core
    # is left for what this model is here to measure: with steps of 0.3 ms and spinning threads on
    # every core, client, pipe and HTTP threads would wait for the system's time slices.
    "tiny": BenchModel("tiny", _tiny, 128, {1: 1024, 4: 384, 8: 256, 16: 192}, pairs=9, threads=1),
    "gemma": BenchModel("gemma-3-270m", models.find_gemma, 96, {1: 112, 4: 48, 8: 40, 16: 24}),
    "qwen": BenchModel(
        "qwen2.5-coder-0.5b",
        lambda: models.find_packaged(models.QWEN_05B),
        48,
        {1: 72, 4: 32, 8: 20, 16: 16},
    ),
    "qwen-1.5b": BenchModel(
        "qwen2.5-coder-1.5b",
        lambda: models.find_packaged(models.QWEN_15B),
        32,
        {1: 40, 4: 20, 8: 14, 16: 10},
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; the exit code is 1 if something could not be measured."""
    args = _parse(arguments)
    # Told to end, it must not leave the programs under test behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("make bench: told to end"))
    # Whoever asks for the bench asks for its models.
    os.environ.setdefault("TUNEDECK_FETCH", "1")
    try:
        binary = llama_server.build()
        if args.only in (None, "engine"):
            _bench_engine(args, binary)
        if args.only in (None, "planner") and not args.against_itself:
            _bench_planner(args, binary)
        if args.only in (None, "window") and not args.against_itself:
            return _bench_window(args)
    except (llama_server.BuildError, models.ModelMissingError, ContenderError) as error:
        print(f"make bench: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--only", choices=("engine", "planner", "window"), help="one part of the bench"
    )
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--streams", nargs="+", type=int, choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--quick", action="store_true", help="3 pairs of shorter runs")
    parser.add_argument("--pairs", type=int, default=None, help=f"pairs a cell ({PAIRS})")
    parser.add_argument(
        "--temperature", type=float, default=0.0, help="0.8 measures the default sampling too"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=0.0,
        metavar="S",
        help="seconds a cell may wait for other programs to be quiet, and repeat pairs they hit",
    )
    parser.add_argument(
        "--against-itself",
        action="store_true",
        help="llama-server on both sides: how far from 1 the noise alone goes",
    )
    args = parser.parse_args(arguments)
    if args.pairs is not None and args.pairs < 2:
        parser.error("--pairs takes 2 or more: one pair says nothing of the spread")
    return args


def _bench_engine(args: argparse.Namespace, binary: Path) -> None:
    peer_name = f"llama-server of llama-cpp-python {llama_server.installed_version()}"

    def start_peer(layout: Layout) -> Contender:
        return Peer(binary, layout, peer_name)

    start_engine = start_peer if args.against_itself else Engine
    results: list[CellResult] = []
    for plan, pairs in _plans(args):
        begun = time.monotonic()
        result = measure(plan, start_engine, start_peer, pairs, args.patience, processes=PROCESSES)
        results.append(result)
        aggregate = result.figures[0].ratio
        llama_server.say(
            f"{plan.model}, {plan.streams} streams: {pairs} pairs in "
            f"{time.monotonic() - begun:.0f} s, aggregate ratio {aggregate.value:.3f}"
        )
    print()
    print(report.table(results))
    content = report.as_json(results, machine.describe(), result.engine_name, peer_name)
    is_whole = len(results) == len(MODELS) * len(STREAMS)
    is_whole = is_whole and not (
        args.quick or args.pairs or args.against_itself or args.temperature
    )
    path = OUT / ("engine.json" if is_whole else "engine-partial.json")
    report.write(path, content)
    print(f"written: {path}")


def _bench_planner(args: argparse.Namespace, binary: Path) -> None:
    latency = planner.measure_latency(models.find_gemma())
    parity: list[planner.Parity] = []
    for key in args.models:
        model = MODELS[key]
        parity += planner.measure_parity(model.name, model.find(), binary)
    print()
    print(planner.table(latency, parity))
    is_whole = len(args.models) == len(MODELS)
    path = OUT / ("planner.json" if is_whole else "planner-partial.json")
    report.write(path, planner.as_json(latency, parity, machine.describe()))
    print(f"written: {path}")


def _bench_window(args: argparse.Namespace) -> int:
    """Measure in a process of its own: Qt wants to be there first and alone."""
    runs = args.pairs or (QUICK_PAIRS if args.quick else PAIRS)
    command = [sys.executable, "-m", "tests.bench.window", str(runs)]
    print(flush=True)
    done = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
    return 1 if done.returncode else 0


def _plans(args: argparse.Namespace) -> list[tuple[CellPlan, int]]:
    """The cells asked for, each with its number of pairs."""
    plans = []
    for key in args.models:
        model = MODELS[key]
        path = model.find()
        vocab = read_model_facts(path).vocab
        pairs = args.pairs or (QUICK_PAIRS if args.quick else model.pairs)
        for streams in args.streams:
            new_tok = model.new_tok[streams] // (2 if args.quick else 1)
            plan = CellPlan(
                model.name, path, vocab, streams, model.prompt_tok, new_tok, args.temperature,
                model.threads,
            )  # fmt: skip
            plans.append((plan, pairs))
    return plans


if __name__ == "__main__":
    sys.exit(main())
