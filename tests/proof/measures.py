"""What is measured on the machine: speed against llama-server, memory against plan and driver."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine_bridge import protocol
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.settings.config import EngineConfig
from tests.bench import report, stats
from tests.bench.cells import CellPlan, CellResult, measure
from tests.bench.engine import Engine, EngineProcess, layout_config
from tests.bench.peer import Peer
from tests.bench.work import Contender, Layout, random_work
from tests.proof.board import Board

_PATIENCE_S = 240.0
_PLANS, _CHANGES = 20, 5
_STREAMS, _PROMPT_TOK, _PAIRS = (1, 4, 8, 16), 128, 3
_CONTEXTS_TOK = (4096, 8192)


def streams(name: str, path: Path, binary: Path, new_tok: int) -> list[CellResult]:
    """Engine and llama-server in turn at each number of streams."""
    vocab = read_model_facts(path).vocab

    def start_peer(layout: Layout) -> Contender:
        return Peer(binary, layout, "llama-server")

    return [
        measure(
            CellPlan(name, path, vocab, count, _PROMPT_TOK, new_tok), Engine, start_peer, _PAIRS
        )
        for count in _STREAMS
    ]


def cell_lines(results: Sequence[CellResult]) -> dict[str, Any]:
    """The cells as in ``engine.json``."""
    content = report.as_json(results, "", "", "")
    return {"cells": content["cells"], "geomean": content["geomean"]}


class Desk:
    """An engine process that is asked for plans, loads and changes."""

    def __init__(self) -> None:
        """Start it."""
        self.process = EngineProcess()

    def __enter__(self) -> Desk:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.process.close()

    def plan(self, config: EngineConfig) -> protocol.PlanReady:
        """What ``config`` would occupy."""
        self.process.send(protocol.Plan(self.process.next_id(), config))
        return self.process.wait_for(protocol.PlanReady, _PATIENCE_S)

    def load(self, config: EngineConfig) -> protocol.Applied:
        """Load it, and wait until the engine is quiet."""
        self.process.send(protocol.Load(self.process.next_id(), config))
        return self.process.wait_for(protocol.Applied, _PATIENCE_S)

    def apply(self, config: EngineConfig) -> protocol.Applied:
        """Change to it."""
        self.process.send(protocol.Apply(self.process.next_id(), config))
        return self.process.wait_for(protocol.Applied, _PATIENCE_S)


def placement(path: Path, layers: int | str, board: Board) -> dict[str, Any]:
    """Plan, real load and driver, category by category."""
    config = EngineConfig(model_path=str(path), slots=4, n_gpu_layers=layers)  # type: ignore[arg-type]
    with Desk() as desk:
        planned = desk.plan(config).plan
        before = board.used_bytes()
        applied = desk.load(config)
        after = board.used_bytes()
    used = None if before is None or after is None else after - before
    on_boards = sum(d.needed for d in applied.memory.devices if not d.name.startswith("CPU"))
    return {
        "n_gpu_layers": layers,
        "planned": msgspec.to_builtins(planned.bytes),
        "loaded": msgspec.to_builtins(applied.memory.bytes),
        "devices": msgspec.to_builtins(applied.memory.devices),
        "equal": planned.bytes == applied.memory.bytes,
        "on_boards_by_ggml": on_boards,
        "on_board_by_driver": used,
        "load_s": applied.seconds,
    }


def times(path: Path) -> dict[str, Any]:
    """Seconds of dry runs and of changes of the context."""
    config = EngineConfig(model_path=str(path), slots=4, ctx_per_slot_tok=_CONTEXTS_TOK[0])
    with Desk() as desk:
        desk.load(config)
        contexts = [2048 + 256 * number for number in range(_PLANS)]
        plans = [
            desk.plan(config.with_values({"ctx_per_slot_tok": tokens})).plan.seconds
            for tokens in contexts
        ]
        changes = [
            desk.apply(
                config.with_values({"ctx_per_slot_tok": _CONTEXTS_TOK[(number + 1) % 2]})
            ).seconds
            for number in range(_CHANGES)
        ]
    return {
        "dry_run_s": {"median": statistics.median(plans), "longest": max(plans)},
        "context_change_s": {"median": statistics.median(changes), "longest": max(changes)},
    }


def bandwidth(path: Path, threads: int, board: Board, streams_count: int) -> dict[str, Any]:
    """Bytes that decoding reads a second by our count, and by the board's own where it has one."""
    vocab = read_model_facts(path).vocab
    config = layout_config(Layout(path, streams_count, 4096, threads))
    spans: list[protocol.StepsMeasured] = []
    shares: list[float | None] = []
    with Desk() as desk:
        desk.load(config)
        desk.process.wait_for(protocol.BandwidthMeasured, _PATIENCE_S)
        for prompt in random_work(streams_count, 64, 1, vocab, 1).prompts:
            assert not isinstance(prompt, str)
            desk.process.send(
                protocol.Generate(
                    request_id=desk.process.next_id(), conversation_id="", messages=(),
                    prompt_tokens=prompt, ignore_eog=True, max_new_tok=1024,
                )
            )  # fmt: skip
        desk.process.wait_for(protocol.TokensDelivered, _PATIENCE_S)

        def look() -> None:
            time.sleep(0.5)
            shares.append(board.dram_share(1.0))

        watcher = threading.Thread(target=look)
        watcher.start()

        def note(event: protocol.Event) -> None:
            if isinstance(event, protocol.StepsMeasured) and event.decode_steps:
                spans.append(event)

        for _ in range(streams_count):
            desk.process.wait_for(protocol.RequestFinished, _PATIENCE_S, note)
        watcher.join()
    computed = sum(s.decode_bytes for s in spans) / sum(s.decode_s for s in spans)
    share, peak = shares[0], board.peak_bytes_per_s
    return {
        "streams": streams_count,
        "computed_bytes_per_s": computed,
        "peak_bytes_per_s": peak,
        "by_the_board_bytes_per_s": share * peak if share is not None and peak else None,
    }


def geometric_mean(results: Sequence[CellResult]) -> stats.Ratio:
    """Of the aggregate speed over all cells."""
    return report.geomeans(results)["aggregate_tok_s"]
