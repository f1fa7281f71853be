"""What all kinds stand on: chance, a folder, the real window, and waiting for conditions."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType

from PySide6.QtCore import (
    QEvent,
    QEventLoop,
    QMessageLogContext,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from app.desk import Desk
from app.main import application
from app.window import Window
from engine_bridge.client import EngineClient
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.chaos.counts import Counts
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama
from widgets.theme import apply_theme

# A loaded machine is slow, not wrong; whatever takes longer than this is lost.
PATIENCE_S = 120.0
_POLL_MS = 10
# Said of the platform and of fonts that this machine lacks, not of the program.
_QT_MAY_SAY = ("This plugin does not support propagateSizeHints", "OpenType support missing for")


class LostError(Exception):
    """A try that was not survived; the message says how."""


@dataclass
class Stage:
    """Where one kind plays.

    Attributes:
        folder: Empty at first, removed afterwards.
        random: All chance comes from it.
        counts: How often.
        is_timed: Whether limits of time count; a test may depend on no machine's speed.
        faults: Exceptions that nobody caught, and what Qt complained of.
    """

    folder: Path
    random: Random
    counts: Counts
    is_timed: bool = True
    faults: list[str] = field(default_factory=list)

    def say(self, words: str) -> None:
        """Tell whoever looks on how it goes."""
        sys.stderr.write(f"  {words}\n")
        sys.stderr.flush()

    def chat_model(self, name: str = "tiny-chat.gguf", **shape: int) -> Path:
        """A tiny model with a chat template, written once."""
        path = self.folder / name
        if not path.exists():
            write_tiny_llama(path, TinyLlama(chat_template=CHATML, **shape))
        return path

    def limit_s(self, limit_s: float) -> float:
        """A limit of time, stretched where other programs take this machine's cores."""
        if not self.is_timed:
            return PATIENCE_S
        if not hasattr(os, "getloadavg"):
            return limit_s
        return limit_s * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

    def take_faults(self) -> str:
        """What nobody caught since the last time, as one text; empty for nothing."""
        taken, self.faults[:] = "; ".join(self.faults), []
        return taken

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note every exception that nobody catches, and every warning of Qt."""

        def on_exception(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            self.faults.append(f"nobody caught {kind.__name__}: {error}")
            sys.__excepthook__(kind, error, trace)

        def on_thread_exception(told: threading.ExceptHookArgs) -> None:
            self.faults.append(f"a thread ended with {told.exc_type.__name__}: {told.exc_value}")
            threading.__excepthook__(told)

        def on_message(kind: QtMsgType, _: QMessageLogContext, words: str) -> None:
            if kind is not QtMsgType.QtDebugMsg and not words.startswith(_QT_MAY_SAY):
                self.faults.append(f"Qt said: {words}")

        before = sys.excepthook, threading.excepthook
        sys.excepthook, threading.excepthook = on_exception, on_thread_exception
        qt_before = qInstallMessageHandler(on_message)
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook = before
            qInstallMessageHandler(qt_before)


@contextmanager
def open_window(
    config: EngineConfig, client: EngineClient | None = None, **desk: object
) -> Iterator[Window]:
    """The real window on a real engine process, with the model of ``config`` loaded.

    Args:
        config: Settings to begin with; without a model none is loaded.
        client: The engine's; None makes the usual one.
        desk: ``kept`` and ``store`` of the ``Desk``.
    """
    apply_theme(application(), DARK)
    window = Window(Desk(config, client, **desk), DARK)  # type: ignore[arg-type]
    if client is not None:
        client.setParent(window.desk)
    window.resize(1440, 900)
    window.show()
    try:
        window.desk.open()
        if config.model_path:
            window.engine_wiring.load(config.model_path)
            client = window.desk.client
            until(
                lambda: window.desk.session.applied is not None or client.death is not None,
                "the model to be loaded",
            )
            if client.death is not None:
                raise LostError(f"there is no engine to begin with: {client.death.sentence}")
        yield window
    finally:
        window.close()
        window.desk.deleteLater()
        window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def until(is_done: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> float:
    """Let the event loop run until ``is_done``; how many seconds that took.

    Raises:
        LostError: If it takes longer than ``patience_s``; it names ``what`` was waited for.
    """
    begun_s = time.monotonic()
    if not _turned(is_done, patience_s):
        raise LostError(f"waited {patience_s:.0f} s in vain for {what}")
    return time.monotonic() - begun_s


def run_for(seconds: float) -> None:
    """Let the event loop run for a while: this is where chance strikes, nothing is waited for."""
    _turned(lambda: False, seconds)


def _turned(is_done: Callable[[], bool], patience_s: float) -> bool:
    if is_done():
        return True
    loop, poll = QEventLoop(), QTimer()
    poll.setInterval(_POLL_MS)
    deadline_s = time.monotonic() + patience_s
    poll.timeout.connect(
        lambda: loop.quit() if is_done() or time.monotonic() >= deadline_s else None
    )
    poll.start()
    loop.exec()
    poll.stop()
    return is_done()
