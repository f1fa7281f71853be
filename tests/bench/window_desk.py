"""The same work on the engine alone and in the real window, for benches that compare the two.

Both sides wait until the engine has measured the memory's bandwidth (it takes every core) and send
every prompt, one after the other. What counts is the time in which all streams run: from the last
prompt sent to the end of the first stream, by the engine's own time stamps.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.desk import Desk
from app.request import Request
from app.window import Window
from engine_bridge import protocol
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.bench.engine import EngineProcess

PATIENCE_S = 120.0
_POLL_MS = 10


def pin(pid: int, cores: set[int]) -> None:
    """Let a process and all threads it has run on ``cores`` only; its new threads inherit that."""
    for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names, not paths
        os.sched_setaffinity(int(thread), cores)


class Delivered:
    """When the engine delivered how many tokens to whom."""

    def __init__(self) -> None:
        """Begin with none."""
        self._steps: dict[int, list[tuple[int, int]]] = {}

    def note(self, event: protocol.Event) -> None:
        """Count an event, if it is one that delivers."""
        if isinstance(event, protocol.TokensDelivered):
            steps = self._steps.setdefault(event.request_id, [])
            steps += zip(event.step_ns, event.step_tok, strict=True)

    def tok_s(self, since_ns: int) -> float:
        """Tokens a second of all streams, until the first of them ended.

        Args:
            since_ns: When all were asked for, by ``time.perf_counter_ns``.
        """
        until_ns = min(steps[-1][0] for steps in self._steps.values())
        every = (step for steps in self._steps.values() for step in steps)
        tokens = sum(count for at_ns, count in every if since_ns < at_ns <= until_ns)
        return tokens / ((until_ns - since_ns) / 1e9)


def run_alone(config: EngineConfig, prompts: Sequence[str], cores: set[int] | None = None) -> float:
    """Tokens a second of all streams on an engine without a window.

    Args:
        config: With its model.
        prompts: One a stream, continued as text.
        cores: Where the engine may run; None for everywhere.
    """
    engine = EngineProcess()
    try:
        if cores:
            pin(engine.pid, cores)
        engine.send(protocol.Load(engine.next_id(), config))
        engine.wait_for(protocol.Applied, PATIENCE_S)
        engine.wait_for(protocol.BandwidthMeasured, PATIENCE_S)
        engine.send(_request(engine, prompts[0]))
        engine.wait_for(protocol.RequestFinished, PATIENCE_S)
        delivered = Delivered()
        for prompt in prompts:
            engine.send(_request(engine, prompt))
        sent_ns = time.perf_counter_ns()
        for _ in prompts:
            engine.wait_for(protocol.RequestFinished, PATIENCE_S, delivered.note)
        return delivered.tok_s(sent_ns)
    finally:
        engine.close()


@contextmanager
def open_window(
    config: EngineConfig,
    cores: set[int] | None = None,
    during_load: Callable[[Window], None] = lambda _: None,
) -> Iterator[Window]:
    """The real window with its model loaded and warmed up; closed at the end.

    Args:
        config: With its model.
        cores: Where the engine may run; None for everywhere.
        during_load: Called just before the load begins.
    """
    window = Window(Desk(config), DARK)
    window.resize(1440, 900)
    window.show()
    desk = window.desk
    measured: list[protocol.Event] = []
    desk.client.event_received.connect(
        lambda event: (
            measured.append(event) if isinstance(event, protocol.BandwidthMeasured) else None
        )
    )
    try:
        desk.open()
        wait(lambda: desk.hello is not None)
        if cores and desk.hello is not None:
            pin(desk.hello.pid, cores)
        during_load(window)
        window.engine_wiring.load(config.model_path)
        wait(lambda: desk.session.applied is not None and bool(measured))
        window.chat.conversation(window.chat.current_id()).submit("Once upon a time")
        wait(lambda: desk.chats.answering_count() == 0)
        yield window
    finally:
        window.close()
        desk.deleteLater()
        window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def stream_in(
    window: Window,
    prompts: Sequence[str],
    meanwhile: Callable[[], None],
    before: Callable[[], None] = lambda: None,
) -> float:
    """Send every prompt in a conversation of its own; tokens a second while all streams ran.

    Args:
        window: With a loaded model.
        prompts: One a stream.
        meanwhile: Called once all are sent.
        before: Called once the conversations are open, before anything is sent.
    """
    desk = window.desk
    names = [window.chat_wiring.open_conversation() for _ in prompts]
    QApplication.processEvents()
    before()
    finished: list[str] = []
    delivered = Delivered()

    def on_finished(name: str, _: protocol.RequestFinished, __: Request) -> None:
        finished.append(name)

    desk.client.event_received.connect(delivered.note)
    desk.chats.answer_finished.connect(on_finished)
    for name, prompt in zip(names, prompts, strict=True):
        window.chat.conversation(name).submit(prompt)
    sent_ns = time.perf_counter_ns()
    meanwhile()
    wait(lambda: len(finished) == len(prompts))
    desk.chats.answer_finished.disconnect(on_finished)
    desk.client.event_received.disconnect(delivered.note)
    return delivered.tok_s(sent_ns)


def wait(is_done: Callable[[], bool], poll_ms: int = _POLL_MS) -> None:
    """Let the event loop run until ``is_done``, looked at every ``poll_ms``.

    Raises:
        TimeoutError: If that takes over two minutes.
    """
    loop = QEventLoop()
    poll = QTimer()
    poll.setInterval(poll_ms)
    deadline_s = time.monotonic() + PATIENCE_S
    poll.timeout.connect(
        lambda: loop.quit() if is_done() or time.monotonic() > deadline_s else None
    )
    poll.start()
    loop.exec()
    if not is_done():
        raise TimeoutError("The window did not get on with it.")


def _request(engine: EngineProcess, prompt: str) -> protocol.Generate:
    number = engine.next_id()
    message = protocol.ChatMessage("user", prompt)
    return protocol.Generate(number, f"alone {number}", (message,), as_completion=True)
