"""What the window costs the engine, and whether it ever stops answering the user.

Runs the real window on the real engine, four streams with all charts in view, while a fader is
dragged back and forth; interleaved with the same work on the engine alone. ``python -m
tests.bench.window`` on its own, or as a part of ``make bench``.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, QPoint, Qt, QTimer
from PySide6.QtTest import QTest

from app.main import application
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests import models
from tests.bench import machine, report
from tests.bench.llama_server import LINK
from tests.bench.stats import Ratio, log_gains, ratio
from tests.bench.window_desk import open_window, run_alone, stream_in
from widgets.theme import apply_theme

RUNS = 7
STREAMS = 4
NEW_TOK = 64
_TICK_MS = 10
_DRAG_MS = 50
_PROMPTS = (
    "The lighthouse keeper wrote in his log every evening. On the first of May he wrote:",
    "A short list of what to check before a long journey by bicycle:\n\n1.",
    "The history of the printing press begins in the fifteenth century, when",
    "To bake a simple loaf of bread you need flour, water, salt and yeast. First,",
)


@dataclass(frozen=True)
class WindowRun:
    """One run in the window.

    Attributes:
        tok_s: Tokens a second while all streams ran.
        load_gap_ms: Longest gap between ticks of a 10 ms timer while the model was loaded.
        stream_gap_ms: The same while four slots generated and a fader was dragged.
    """

    tok_s: float
    load_gap_ms: float
    stream_gap_ms: float


@dataclass
class WindowFigures:
    """All runs.

    Attributes:
        alone_tok_s: Aggregate speed of the engine without window, a value a run.
        runs: The runs with it, interleaved with those.
    """

    alone_tok_s: list[float] = field(default_factory=list)
    runs: list[WindowRun] = field(default_factory=list)

    def ratio(self) -> Ratio:
        """With window / without, paired."""
        with_window = [run.tok_s for run in self.runs]
        return ratio(log_gains(with_window, self.alone_tok_s, is_more_better=True))

    def longest_gap_ms(self) -> float:
        """Longest gap of the median run, over load and generation."""
        return float(np.median([max(r.load_gap_ms, r.stream_gap_ms) for r in self.runs]))


def config(model: Path) -> EngineConfig:
    """Four slots, greedy, as many threads as there are cores."""
    return EngineConfig(
        model_path=str(model), slots=STREAMS, ctx_per_slot_tok=2048, temperature=0.0,
        max_new_tok=NEW_TOK,
    )  # fmt: skip


def measure(model: Path, runs: int = RUNS) -> WindowFigures:
    """Run ``runs`` pairs after one that is thrown away."""
    figures = WindowFigures()
    app = application()
    apply_theme(app, DARK)
    for index in range(runs + 1):
        alone, window = run_alone(config(model), _PROMPTS), _in_window(model)
        if index:
            figures.alone_tok_s.append(alone)
            figures.runs.append(window)
    return figures


def table(figures: WindowFigures) -> str:
    """The figures for a person."""
    cost = figures.ratio()
    gaps = [max(r.load_gap_ms, r.stream_gap_ms) for r in figures.runs]
    loading = float(np.median([r.load_gap_ms for r in figures.runs]))
    streaming = float(np.median([r.stream_gap_ms for r in figures.runs]))
    return "\n".join(
        (
            "The window, four streams on Gemma 270M, all charts in view, a fader dragged",
            f"  aggregate tok/s, with / without window: {cost.value:.3f} "
            f"[{cost.low:.3f}, {cost.high:.3f}], {len(gaps)} pairs",
            f"  longest gap of a 10 ms GUI timer: median run {figures.longest_gap_ms():.0f} ms, "
            f"runs {min(gaps):.0f} to {max(gaps):.0f} ms",
            f"    while loading {loading:.0f} ms, while streaming {streaming:.0f} ms (medians)",
        )
    )


def as_json(figures: WindowFigures) -> dict[str, object]:
    """The figures for a file."""
    cost = figures.ratio()
    return {
        "machine": machine.describe(),
        "with_over_without": {"ratio": cost.value, "interval": [cost.low, cost.high]},
        "longest_gap_ms": figures.longest_gap_ms(),
        "alone_tok_s": figures.alone_tok_s,
        "runs": [
            {"tok_s": r.tok_s, "load_gap_ms": r.load_gap_ms, "stream_gap_ms": r.stream_gap_ms}
            for r in figures.runs
        ],
    }


# --- The engine in its window ---------------------------------------------------------------


class _GapMeter(QObject):
    """Longest time the event loop did not come round to a 10 ms timer."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_s = 0.0
        self._last_s = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._on_tick)

    def start(self) -> None:
        self.longest_s, self._last_s = 0.0, time.perf_counter()
        self._timer.start()

    def stop_ms(self) -> float:
        self._timer.stop()
        return self.longest_s * 1000

    def _on_tick(self) -> None:
        now_s = time.perf_counter()
        self.longest_s = max(self.longest_s, now_s - self._last_s)
        self._last_s = now_s


class _Drag(QObject):
    """A mouse that holds the context fader and moves it back and forth."""

    def __init__(self, window: Window) -> None:
        super().__init__()
        self._fader = window.tune.row("ctx_per_slot_tok").fader
        self._at = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_DRAG_MS)
        self._timer.timeout.connect(self._on_move)

    def begin(self) -> None:
        QTest.mousePress(self._fader, Qt.MouseButton.LeftButton, pos=self._fader.handle_position())
        self._timer.start()

    def end(self) -> None:
        self._timer.stop()
        home = self._fader.position_of(2048)
        QTest.mouseMove(self._fader, home)
        QTest.mouseRelease(self._fader, Qt.MouseButton.LeftButton, pos=home)

    def _on_move(self) -> None:
        self._at += 1
        width = self._fader.width()
        swing = abs(self._at * 8 % (2 * width) - width)
        QTest.mouseMove(self._fader, QPoint(swing, self._fader.height() // 2))


def _in_window(model: Path) -> WindowRun:
    meter = _GapMeter()
    with open_window(config(model), during_load=lambda _: meter.start()) as window:
        load_gap_ms = meter.stop_ms()
        drag = _Drag(window)
        tok_s = stream_in(window, _PROMPTS, drag.begin, meter.start)
        drag.end()
        return WindowRun(tok_s, load_gap_ms, meter.stop_ms())


def main() -> int:
    """Measure, print, write ``build/bench/window.json``."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    figures = measure(models.find_gemma(), int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
    print(table(figures))
    report.write(LINK.parent / "window.json", as_json(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
