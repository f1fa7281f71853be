"""How long the window takes to show 2,000 stored conversations, and to open a long one of them.

The real window on a folder made for this: the clock runs from the start of reading to the first
paint of the full list; with the index of the last start, without it, and with the system's file
cache emptied where that is allowed. ``python -m tests.bench.stored``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.conversation import Conversation
from app.desk import Desk
from app.main import application
from app.storage.conversation_store import ConversationStore
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.bench import machine, report
from tests.bench.llama_server import LINK
from tests.bench.window_desk import wait
from widgets.theme import apply_theme

COUNT = 2000
TARGET_S = 0.5
_RUNS = 5
_LONG_TURNS = 200
_LONG_ID = "long"


def fill(folder: Path) -> int:
    """Store ``COUNT`` conversations of ten turns, one of them of ``_LONG_TURNS``; bytes written."""
    store = ConversationStore(folder)
    for number in range(COUNT):
        is_long = number == 0
        conversation = Conversation(_LONG_ID if is_long else f"stored-{number}", number)
        for turn in range(_LONG_TURNS // 2 if is_long else 5):
            conversation.ask(f"Question {turn} of conversation {number}: " + "words of it " * 30)
            conversation.append("Some **answer** in a paragraph.\n\n" * 24)
            conversation.finish("end", "TTFT 0.2 s · TPOT 20 ms")
        store.keep(conversation)
        if number % 200 == 0:
            store.flush()
    store.close()
    return sum(path.stat().st_size for path in folder.iterdir())


def list_s(folder: Path) -> float:
    """Seconds until the list of a new window has painted every stored conversation."""
    window = Window(Desk(EngineConfig(), store=ConversationStore(folder)), DARK)
    window.resize(1600, 900)
    window.docks.show("conversations")
    window.show()
    QApplication.processEvents()
    try:
        begun_s = time.perf_counter()
        window.desk.open()
        model = window.conversations.model
        wait(lambda: model.conversations_count() == COUNT, poll_ms=1)
        window.conversations.view.viewport().repaint()
        return time.perf_counter() - begun_s
    finally:
        _close(window)


def open_s(folder: Path) -> float:
    """Seconds from asking for the long conversation until its end is painted."""
    window = Window(Desk(EngineConfig(), store=ConversationStore(folder)), DARK)
    window.resize(1600, 900)
    window.show()
    window.desk.open()
    wait(lambda: window.conversations.model.conversations_count() == COUNT)
    try:
        begun_s = time.perf_counter()
        assert window.list_wiring is not None
        window.list_wiring.open(_LONG_ID)
        wait(lambda: window.chat.current_id() == _LONG_ID, poll_ms=1)
        window.chat.repaint()
        return time.perf_counter() - begun_s
    finally:
        _close(window)


def _close(window: Window) -> None:
    window.close()
    window.desk.deleteLater()
    window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _drop_index(folder: Path) -> None:
    for path in folder.glob(".index*"):
        path.unlink()


def _drop_caches(_: Path) -> None:
    subprocess.run(["sync"], check=True)
    Path("/proc/sys/vm/drop_caches").write_text("3")


def main() -> int:
    """Measure, print, write ``build/bench/stored.json``."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    apply_theme(application(), DARK)
    content: dict[str, object] = {"machine": machine.describe(), "count": COUNT}
    with tempfile.TemporaryDirectory(prefix="tunedeck-bench-") as name:
        folder = Path(name)
        size_bytes = fill(folder)
        print(
            f"{COUNT:,} stored conversations, {size_bytes / 1e6:.0f} MB, until the list is painted"
        )
        list_s(folder)  # writes the index, as every start does
        cases: tuple[tuple[str, Callable[[Path], None], Callable[[Path], float]], ...] = (
            ("with its index", lambda _: None, list_s),
            ("without", _drop_index, list_s),
            ("cold file cache", _drop_caches, list_s),
            (f"opening one of {_LONG_TURNS} turns", lambda _: None, open_s),
        )
        for label, prepare, measure in cases:
            try:
                figures = []
                for _ in range(_RUNS):
                    prepare(folder)
                    figures.append(measure(folder))
            except OSError as error:
                print(f"  {label:<28}not measured: {error.strerror}")
                continue
            median_s = float(np.median(figures))
            verdict = "met" if median_s < TARGET_S else "missed"
            print(
                f"  {label:<28}{median_s * 1000:6.0f} ms  ({min(figures) * 1000:.0f} to "
                f"{max(figures) * 1000:.0f})  target below {TARGET_S * 1000:.0f} ms: {verdict}"
            )
            content[label] = figures
    report.write(LINK.parent / "stored.json", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
