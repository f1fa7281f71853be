"""What the window costs the engine where a core is left for it, and where none is.

Eight streams on the tiny model with all charts in view; the same work on the engine alone,
interleaved. With a free core the engine has one thread on a core of its own and the window the
other; without, the engine has a thread on each. ``python -m tests.bench.free_core``.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from app.main import application
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.bench import machine, report
from tests.bench.llama_server import LINK
from tests.bench.stats import Ratio, log_gains, ratio
from tests.bench.window_desk import open_window, pin, run_alone, stream_in
from tests.tiny_model import write_tiny_llama
from widgets.theme import apply_theme

RUNS = 7
STREAMS = 8
NEW_TOK = 1024
TARGET = 0.95
_PROMPTS = tuple(f"Stream number {number} begins with these words and" for number in range(STREAMS))


@dataclass
class Pairs:
    """Speed of all streams in tokens a second, a value a run.

    Attributes:
        alone_tok_s: Without window.
        window_tok_s: With it, interleaved with those.
    """

    alone_tok_s: list[float] = field(default_factory=list)
    window_tok_s: list[float] = field(default_factory=list)

    def ratio(self) -> Ratio:
        """With window / without, paired."""
        return ratio(log_gains(self.window_tok_s, self.alone_tok_s, is_more_better=True))


def config(model: Path, threads: int) -> EngineConfig:
    """Eight slots, greedy, ``threads`` threads."""
    return EngineConfig(
        model_path=str(model), slots=STREAMS, ctx_per_slot_tok=2048, temperature=0.0,
        max_new_tok=NEW_TOK, threads=threads, threads_batch=threads,
    )  # fmt: skip


def measure(model: Path, runs: int, *, has_free_core: bool) -> Pairs:
    """Run ``runs`` pairs after one that is thrown away."""
    pairs = Pairs()
    everywhere = os.sched_getaffinity(0)
    window_core, engine_core = min(everywhere), max(everywhere)
    cores = {engine_core} if has_free_core else None
    settings = config(model, 1 if has_free_core else len(everywhere))
    for index in range(runs + 1):
        alone = run_alone(settings, _PROMPTS, cores)
        if has_free_core:
            pin(os.getpid(), {window_core})
        try:
            # The engine inherits the window's core until it is given its own.
            with open_window(settings, cores) as window:
                in_window = stream_in(window, _PROMPTS, lambda: None)
        finally:
            pin(os.getpid(), everywhere)
        if index:
            pairs.alone_tok_s.append(alone)
            pairs.window_tok_s.append(in_window)
    return pairs


def main() -> int:
    """Measure, print, write ``build/bench/free_core.json``."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    model = write_tiny_llama(LINK.parent / "tiny.gguf")
    apply_theme(application(), DARK)
    print(
        f"Eight streams on the tiny model, all charts in view: with / without window ({runs} pairs)"
    )
    content: dict[str, object] = {"machine": machine.describe()}
    for name, has_free_core in (("a core free", True), ("no core free", False)):
        pairs = measure(model, runs, has_free_core=has_free_core)
        cost = pairs.ratio()
        verdict = ""
        if has_free_core:
            verdict = f"  target at least {TARGET}: {'met' if cost.value >= TARGET else 'missed'}"
        print(f"  {name:<13}{cost.value:.3f} [{cost.low:.3f}, {cost.high:.3f}]{verdict}")
        content[name] = {
            "ratio": cost.value,
            "interval": [cost.low, cost.high],
            "alone_tok_s": pairs.alone_tok_s,
            "window_tok_s": pairs.window_tok_s,
        }
    report.write(LINK.parent / "free_core.json", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
