"""What the pages of the live column cost: the window's thread, and the engine's speed.

The real window on the real engine, which decodes on one core or on all while the window runs where
it likes. The page in front is shown and hidden by turns; the conversation beside it stays as wide
as it was, so what differs is the page alone. ``python -m tests.bench.gauges_charts``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QStackedWidget

from app.main import application
from app.request import Request
from app.window import Window
from engine_bridge import protocol
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests import models
from tests.bench import machine, report
from tests.bench.gauges_views import HIDDEN, PAGES, Load, Result, View, as_json, table
from tests.bench.llama_server import LINK
from tests.bench.window_desk import PATIENCE_S, Delivered, open_window, pin
from widgets.theme import apply_theme

ALTERNATIONS = 7
LOOK_S = 4.0
_QUICK_LOOK_S = 2.5
# More than most machines write in that time, and not long for the answer that warms up.
_NEW_TOK = 480
_SLOTS = 4
_SETTLE_MS = 300
_PROMPTS = (
    "The lighthouse keeper wrote in his log every evening. On the first of May he wrote:",
    "A short list of what to check before a long journey by bicycle:\n\n1.",
    "The history of the printing press begins in the fifteenth century, when",
    "To bake a simple loaf of bread you need flour, water, salt and yeast. First,",
)


def loads(cores: set[int]) -> list[Load]:
    """One core and all, one stream and four; the deeper pages once, where a core is free."""
    one, every = frozenset({max(cores)}), frozenset(cores)
    found = [
        Load("one core", one, 1, PAGES),
        Load("one core", one, 4),
    ]
    if len(cores) > 1:
        name = "both cores" if len(cores) == 2 else f"all {len(cores)} cores"
        found += [Load(name, every, 1), Load(name, every, 4)]
    return found


def measure(model: Path, load: Load, alternations: int, look_s: float = LOOK_S) -> Result:
    """Look at the pages by turns, ``alternations`` times after one that is thrown away."""
    threads = len(load.cores)
    config = EngineConfig(
        model_path=str(model), slots=_SLOTS, ctx_per_slot_tok=2048, temperature=0.0,
        max_new_tok=_NEW_TOK, ignore_eos=True, threads=threads, threads_batch=threads,
    )  # fmt: skip
    prompts = _PROMPTS[: load.streams]
    with open_window(config, set(load.cores)) as window:
        assert window.desk.hello is not None
        pin(window.desk.hello.pid, set(load.cores))  # threads that the load has started too
        others = machine.Bystanders([window.desk.hello.pid])
        names = [HIDDEN, *(name for name in load.pages if name in _pages_of(window))]
        result = Result(load, {name: [] for name in names})
        for number in range(alternations + 1):
            # Back and forth, so that what drifts hits all alike.
            for name in names if number % 2 else reversed(names):
                with _in_front(window, name):
                    view = _look(window, prompts, look_s)
                if number:
                    result.views[name].append(view)
            if number == 0:
                others.share()
        result.others = others.share()
    return result


# --- In the window --------------------------------------------------------------------------


def _stack(window: Window) -> QStackedWidget:
    stack = window.gauges.pages.findChild(QStackedWidget)
    assert isinstance(stack, QStackedWidget)
    return stack


def _pages_of(window: Window) -> tuple[str, ...]:
    return PAGES[: _stack(window).count()]


@contextmanager
def _in_front(window: Window, name: str) -> Iterator[None]:
    """Bring a page to the front, or leave its place empty."""
    stack = _stack(window)
    window.gauges.pages.show_page(0 if name == HIDDEN else PAGES.index(name))
    page = stack.currentWidget()
    assert page is not None
    page.setVisible(name != HIDDEN)
    _run_for(_SETTLE_MS)
    try:
        yield
    finally:
        page.show()


def _run_for(duration_ms: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(duration_ms, loop.quit)
    loop.exec()


def _look(window: Window, prompts: Sequence[str], look_s: float) -> View:
    """Let the prompts be answered for ``look_s``, in conversations that are closed again.

    Raises:
        TimeoutError: If the answers do not end within two minutes.
    """
    desk = window.desk
    names = [window.chat_wiring.open_conversation() for _ in prompts]
    QApplication.processEvents()
    loop, delivered, finished = QEventLoop(), Delivered(), list[str]()
    ended: list[tuple[float, float]] = []

    def end() -> None:
        """The time is over, or a machine was so fast that an answer is."""
        if not ended:
            ended.append((time.thread_time(), time.perf_counter()))
            for name in names:
                desk.chats.stop(name)

    def on_finished(name: str, _: protocol.RequestFinished, __: Request) -> None:
        finished.append(name)
        end()
        if len(finished) == len(prompts):
            loop.quit()

    desk.client.event_received.connect(delivered.note)
    desk.chats.answer_finished.connect(on_finished)
    for name, prompt in zip(names, prompts, strict=True):
        window.chat.conversation(name).submit(prompt)
    sent_ns, used_s, at_s = time.perf_counter_ns(), time.thread_time(), time.perf_counter()
    with _timer(look_s, end), _timer(PATIENCE_S, loop.quit):
        loop.exec()
    desk.chats.answer_finished.disconnect(on_finished)
    desk.client.event_received.disconnect(delivered.note)
    if len(finished) < len(prompts):
        raise TimeoutError("The window did not get on with it.")
    (end_used_s, end_s), rate_hz = ended[0], window.live.rate_hz
    for name in names:
        window.chat.conversation_closed.emit(name)
    return View(
        gui_ms_per_s=(end_used_s - used_s) * 1e3 / (end_s - at_s),
        tok_s=delivered.tok_s(sent_ns),
        seconds=end_s - at_s,
        rate_hz=rate_hz,
    )


@contextmanager
def _timer(duration_s: float, on_timeout: Callable[[], object]) -> Iterator[None]:
    """Call ``on_timeout`` once, unless what is done meanwhile is over before."""
    timer = QTimer()
    timer.setSingleShot(True)
    timer.timeout.connect(on_timeout)
    timer.start(round(duration_s * 1000))
    try:
        yield
    finally:
        timer.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write ``build/bench/gauges-charts.json`` or what ``--out`` says."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gauges_charts")
    parser.add_argument("--alternations", type=int, default=ALTERNATIONS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=LINK.parent / "gauges-charts.json")
    args = parser.parse_args(arguments)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    apply_theme(application(), DARK)
    look_s = _QUICK_LOOK_S if args.quick else LOOK_S
    model, results = models.find_gemma(), list[Result]()
    for load in loads(os.sched_getaffinity(0)):
        results.append(measure(model, load, args.alternations, look_s))
        print(f"  engine on {load.name}, streams {load.streams}: measured", flush=True)
    print(table(results), flush=True)
    report.write(args.out, as_json(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
