"""What a person waits for: a long prompt, the next turn, and everybody while a long prompt arrives.

``python -m tests.bench.latency [PAIRS] [MODEL …] [ttft] [turn] [gap]``. Ratios above 1 are better
for the engine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from engine_bridge.gguf_file import read_model_facts
from tests import models
from tests.bench import llama_server, machine, report
from tests.bench.compared import HEAD, Compared, in_fresh_processes, in_turn
from tests.bench.engine import Engine
from tests.bench.peer import Peer
from tests.bench.work import Contender, Layout, StreamTimes, Work, random_work

PAIRS = 7
PARTS = ("ttft", "turn", "gap")
MODELS: dict[str, Callable[[], Path]] = {
    "gemma": models.find_gemma,
    "qwen": lambda: models.find_packaged(models.QWEN_05B),
    "qwen-1.5b": lambda: models.find_packaged(models.QWEN_15B),
}
LONG_TOK, LATE_TOK = 2000, 4000
_FIRST_WORDS, _NEXT_WORDS = 900, 60
_FEW_TOK, _ANSWER_TOK, _RUNNING_TOK = 2, 48, 400
_LATE_AFTER_S = 1.5
_WARM_UP_TOK = 96
# What `prefill_chunk_tok` auto promises on Gemma.
TARGET_ITL_S = 0.3
_WORDS = [
    "water",
    "stone",
    "river",
    "light",
    "house",
    "green",
    "winter",
    "morning",
    "letter",
    "bridge",
    "market",
    "silver",
    "garden",
    "window",
    "people",
    "answer",
    "number",
    "silent",
    "forest",
    "copper",
    "engine",
    "summer",
    "yellow",
    "travel",
    "music",
]


@contextmanager
def both(binary: Path, layout: Layout) -> Iterator[tuple[Contender, Contender]]:
    """Engine and peer, loaded."""
    engine = Engine(layout)
    try:
        peer = Peer(binary, layout, "llama-server")
        try:
            yield engine, peer
        finally:
            peer.close()
    finally:
        engine.close()


def ttft_s(stream: StreamTimes) -> float:
    """From before the request was written to the first text that arrived."""
    return (stream.first_ns - stream.sent_ns) / 1e9


def long_prompt(contender: Contender, vocab: int, seed: int) -> float:
    """TTFT of a prompt of 2,000 tokens, in milliseconds."""
    work = random_work(1, LONG_TOK, _FEW_TOK, vocab, seed)
    return ttft_s(contender.run(work)[0]) * 1e3


def second_turn(contender: Contender, seed: int) -> float:
    """TTFT of a turn that goes on from an answer, in milliseconds."""
    generator = np.random.default_rng(seed)
    text = " ".join(generator.choice(_WORDS, _FIRST_WORDS))
    answer = contender.run(Work((text,), _ANSWER_TOK, goes_on=True))[0].text
    more = f"{text}{answer}\n\n" + " ".join(generator.choice(_WORDS, _NEXT_WORDS))
    return ttft_s(contender.run(Work((more,), _FEW_TOK, goes_on=True))[0]) * 1e3


def gaps_while_arriving(contender: Contender, vocab: int, seed: int) -> float:
    """99th percentile of three streams' gaps while 4,000 tokens arrive, in milliseconds."""
    work = random_work(3, 96, _RUNNING_TOK, vocab, seed)
    late = random_work(1, LATE_TOK, 1, vocab, seed + 1000).prompts[0]
    assert not isinstance(late, str)
    *running, newcomer = contender.run(
        Work(work.prompts, _RUNNING_TOK, late=late, late_after_s=_LATE_AFTER_S)
    )
    gaps: list[float] = []
    for stream in running:
        at = np.asarray(stream.arrivals_ns)
        began = np.flatnonzero((at > newcomer.sent_ns) & (at <= newcomer.first_ns))
        gaps += [float(at[i] - at[i - 1]) / 1e6 for i in began if i > 0]
    return float(np.percentile(gaps, 99))


def measure(
    name: str, path: Path, binary: Path, pairs: int, only: Collection[str]
) -> list[Compared]:
    """The figures of one model that ``only`` names."""
    vocab, threads = read_model_facts(path).vocab, machine.usable_cores()
    warm_up = random_work(1, _WARM_UP_TOK, _FEW_TOK, vocab, seed=0)
    found: list[Compared] = []
    if "ttft" in only:
        found.append(Compared(f"{name}: TTFT of {LONG_TOK:,} tokens", "ms"))
        in_fresh_processes(
            found[-1],
            lambda: both(binary, Layout(path, 1, 4096, threads)),
            pairs,
            lambda contender: contender.run(warm_up),
            lambda contender, seed: long_prompt(contender, vocab, seed),
        )
    if "turn" in only:
        found.append(Compared(f"{name}: TTFT of a second turn", "ms"))
        in_fresh_processes(
            found[-1],
            lambda: both(binary, Layout(path, 1, 4096, threads, keeps_prompts=True)),
            pairs,
            lambda contender: contender.run(warm_up),
            second_turn,
        )
    if "gap" in only:
        found.append(Compared(f"{name}: p99 gap while {LATE_TOK:,} tokens arrive", "ms"))
        with both(binary, Layout(path, 4, 4864, threads)) as (engine, peer):
            in_turn(
                found[-1], engine, peer, pairs, lambda c, seed: gaps_while_arriving(c, vocab, seed)
            )
    return found


def main() -> int:
    """Measure, print, write ``build/bench/latency.json``."""
    os.environ.setdefault("TUNEDECK_FETCH", "1")
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    names = [word for word in sys.argv[1:] if word in MODELS] or list(MODELS)
    only = [word for word in sys.argv[1:] if word in PARTS] or PARTS
    binary = llama_server.build()
    results: list[Compared] = []
    print(HEAD)
    for name in names:
        found = measure(name, MODELS[name](), binary, numbers[0] if numbers else PAIRS, only)
        results += found
        print("\n".join(one.line() for one in found), flush=True)
        if name == "gemma" and "gap" in only:
            seen_s = float(np.median(found[-1].engine)) / 1e3
            verdict = "met" if seen_s <= TARGET_ITL_S else "MISSED"
            print(f"target: that gap at most {TARGET_ITL_S * 1e3:.0f} ms on Gemma: {verdict}")
    content = {"machine": machine.describe(), "figures": [one.as_json() for one in results]}
    report.write(llama_server.LINK.parent / "latency.json", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
