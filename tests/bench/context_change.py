"""A longer context in the middle of a conversation: the engine applies it, llama-server restarts.

``python -m tests.bench.context_change [PAIRS]``: from the wish to the first token of the next turn,
on the 1.5B model.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from engine_bridge import protocol
from tests import models
from tests.bench import llama_server, machine, report
from tests.bench.compared import HEAD, Compared
from tests.bench.engine import EngineProcess, layout_config
from tests.bench.peer import Peer
from tests.bench.work import Layout, Work

PAIRS = 7
TARGET = 3.0
_BEFORE_TOK, _AFTER_TOK = 4096, 8192
_PATIENCE_S = 120.0
_WORDS = [
    "river",
    "stone",
    "light",
    "house",
    "green",
    "winter",
    "morning",
    "letter",
    "bridge",
    "market",
]
_FIRST_WORDS, _NEXT_WORDS = 300, 20


def conversation(seed: int) -> tuple[str, str]:
    """A text, and the same text with another turn."""
    generator = np.random.default_rng(seed)
    first = " ".join(generator.choice(_WORDS, _FIRST_WORDS))
    return first, f"{first}\n\n" + " ".join(generator.choice(_WORDS, _NEXT_WORDS))


def engine_s(path: Path, threads: int, seed: int) -> float:
    """Seconds from the change to the first token, in a fresh engine that has had a turn."""
    first, second = conversation(seed)
    process = EngineProcess()
    try:
        before = layout_config(Layout(path, 1, _BEFORE_TOK, threads, keeps_prompts=True))
        process.send(protocol.Load(process.next_id(), before))
        process.wait_for(protocol.Applied, _PATIENCE_S)
        process.wait_for(protocol.BandwidthMeasured, _PATIENCE_S)
        _ask(process, first)
        process.wait_for(protocol.RequestFinished, _PATIENCE_S)
        begin = time.perf_counter()
        after = before.with_values({"ctx_per_slot_tok": _AFTER_TOK})
        process.send(protocol.Apply(process.next_id(), after))
        process.wait_for(protocol.Applied, _PATIENCE_S)
        _ask(process, second)
        process.wait_for(protocol.TokensDelivered, _PATIENCE_S)
        return time.perf_counter() - begin
    finally:
        process.close()


def _ask(process: EngineProcess, text: str) -> None:
    process.send(
        protocol.Generate(
            request_id=process.next_id(), conversation_id="bench", as_completion=True,
            messages=(protocol.ChatMessage("user", text),), ignore_eog=True, max_new_tok=8,
        )
    )  # fmt: skip


def peer_s(binary: Path, path: Path, threads: int, seed: int) -> float:
    """The same of a llama-server that has to be started again."""
    first, second = conversation(seed)
    peer = Peer(binary, Layout(path, 1, _BEFORE_TOK, threads, keeps_prompts=True), "before")
    try:
        peer.run(Work((first,), 8, goes_on=True))
        begin = time.perf_counter()
    finally:
        peer.close()
    peer = Peer(binary, Layout(path, 1, _AFTER_TOK, threads, keeps_prompts=True), "after")
    try:
        answered = peer.run(Work((second,), 8, goes_on=True))[0]
        return answered.first_ns / 1e9 - begin
    finally:
        peer.close()


def main() -> int:
    """Measure, print, write ``build/bench/context_change.json``."""
    os.environ.setdefault("TUNEDECK_FETCH", "1")
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    path, binary = models.find_packaged(models.QWEN_15B), llama_server.build()
    threads = machine.usable_cores()
    compared = Compared(f"context {_BEFORE_TOK:,} to {_AFTER_TOK:,}, to the first token", "s")
    for seed in range(pairs):
        compared.engine.append(engine_s(path, threads, seed))
        compared.peer.append(peer_s(binary, path, threads, seed))
    print(HEAD, compared.line(), sep="\n")
    verdict = "met" if compared.ratio.value >= TARGET else "MISSED"
    print(f"target: {TARGET:.0f} times faster: {verdict}")
    content = {"machine": machine.describe(), "figures": [compared.as_json()]}
    report.write(llama_server.LINK.parent / "context_change.json", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
