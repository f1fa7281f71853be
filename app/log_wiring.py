"""What the engine and the desk say, brought to the log a few times a second.

Never holds text of a conversation: requests are counted, not quoted. What is said here may end up
in a diagnostics file.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.desk import Desk
from engine_bridge.engine_state import DeathReason
from engine_bridge.metrics.change_words import changed_lines
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    ContextShifted,
    Event,
    Hello,
    Logged,
    Refused,
    RequestFinished,
    RequestStarted,
    SlotRestored,
    SlotSaved,
)
from engine_bridge.settings.config import EngineConfig
from widgets.log_line import Level, LogLine, log_lines
from widgets.log_model import CAPACITY
from widgets.log_view import LogView

OWN = "TuneDeck"
ENGINE = "engine"
STDERR = "engine stderr"
# A flood of lines costs the window one insertion in this time, however many they are.
_BATCH_MS = 100
# Of llama.cpp's own lines only warnings and errors get to stderr, without their level; these words
# tell them apart.
_SOUNDS_BAD = re.compile(
    r"ggml_assert|\berror\b|\bfail(ed|ure)?\b|abort|out of memory|terminate called|traceback"
    r"|segmentation",
    re.IGNORECASE,
)


class LogWiring(QObject):
    """Collects lines from the desk and from whoever calls ``note``."""

    def __init__(
        self, desk: Desk, view: LogView, parent: QObject, clock: Callable[[], float] = time.time
    ) -> None:
        """Listen to ``desk`` and fill ``view``; ``clock`` gives seconds since 1970."""
        super().__init__(parent)
        self._view = view
        self._clock = clock
        self._waiting: deque[LogLine] = deque(maxlen=CAPACITY)
        self._last_death = ""
        self._config: EngineConfig | None = None
        self._under_way: set[int] = set()
        self._batch = QTimer(self, singleShot=True, interval=_BATCH_MS)
        self._batch.timeout.connect(self.flush)
        desk.client.event_received.connect(self._on_event_received)
        desk.client.stderr_received.connect(self._on_stderr_received)
        desk.chats.request_sent.connect(lambda request_id, _: self._under_way.add(request_id))
        desk.client.engine_died.connect(self._on_engine_died)
        desk.client.stall_suspected.connect(lambda sentence: self.note(sentence, "warning"))
        desk.client.stall_ended.connect(lambda: self.note("The engine moves again."))
        desk.session.model_lost.connect(lambda sentence: self.note(sentence, "warning"))

    @property
    def last_death(self) -> str:
        """Why the engine died last, in its sentence; empty while it never did."""
        return self._last_death

    def lines(self) -> tuple[LogLine, ...]:
        """Every line kept, those that wait for the view included, oldest first."""
        return (*self._view.lines(), *self._waiting)[-CAPACITY:]

    def note(self, sentence: str, level: Level = "info", source: str = OWN) -> None:
        """Write ``sentence``, which must hold no text of a conversation."""
        self._waiting.extend(log_lines(self._clock(), level, source, sentence))
        if not self._batch.isActive():
            self._batch.start()

    def flush(self) -> None:
        """Show what waits."""
        self._batch.stop()
        if self._waiting:
            lines = list(self._waiting)
            self._waiting.clear()
            self._view.append(lines)

    # --- What came in -------------------------------------------------------------------

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, Logged):
            self.note(event.text, event.level, ENGINE)
        elif isinstance(event, Refused):
            self._note_refusal(event)
        elif isinstance(event, RequestStarted):
            self._under_way.add(event.request_id)
        elif isinstance(event, RequestFinished):
            self._note_end(event)
        elif isinstance(event, Applied):
            self._note_applied(event)
        else:
            sentence = _sentence_on(event)
            if sentence:
                self.note(sentence)

    def _note_applied(self, event: Applied) -> None:
        before, self._config = self._config, event.config
        if event.model is not None:
            self.note(f"Loaded {event.model.name} in {event.seconds:.2f} s.")
            return
        lines = [] if before is None else changed_lines(before, event.config)
        what = f": {'; '.join(lines)}" if lines else ""
        self.note(f"Applied in {event.seconds:.2f} s ({event.cost}){what}.")

    def _note_refusal(self, event: Refused) -> None:
        if event.command == "generate":
            self._under_way.discard(event.request_id)
        if event.is_cancelled:
            self.note(f"The {event.command} was cancelled.")
        elif event.command == "generate":
            # A template may refuse in words of the conversation.
            self.note(f"Request {event.request_id} was refused.", "warning")
        elif event.command != "plan":
            command = event.command.replace("_", " ")
            self.note(f"The {command} was refused: {event.problem.message}", "warning")

    def _note_end(self, event: RequestFinished) -> None:
        self._under_way.discard(event.request_id)
        timing = event.timing
        level: Level = "warning" if event.reason in ("failed", "pool_full") else "info"
        self.note(
            f"Request {event.request_id} ended ({event.reason}): {timing.prompt_tok:,} prompt "
            f"tokens, {timing.reused_tok:,} of them reused, {timing.new_tok:,} new.",
            level,
        )

    def _on_stderr_received(self, text: str) -> None:
        now_s = self._clock()
        for line in text.split("\n"):
            level: Level = "error" if _SOUNDS_BAD.search(line) else "warning"
            self._waiting.extend(log_lines(now_s, level, STDERR, line))
        if not self._batch.isActive():
            self._batch.start()

    def _on_engine_died(self, reason: DeathReason) -> None:
        self._last_death = death_sentence(reason)
        self.note(self._last_death, "error")
        for request_id in sorted(self._under_way):
            self.note(f"Request {request_id} ended with the engine, unfinished.", "warning")
        self._under_way.clear()
        self._config = None


def death_sentence(reason: DeathReason) -> str:
    """Why the engine died, without what it may have quoted of its last message."""
    return re.sub("“.*”", "“…”", reason.sentence) if reason.kind == "broken" else reason.sentence


def _sentence_on(event: Event) -> str:
    """One sentence on what changed; empty for what happens all the time."""
    match event:
        case Hello():
            return (
                f"Engine {event.pid} is here: llama-cpp-python {event.binding_version}, protocol "
                f"{event.protocol_version}."
            )
        case BandwidthMeasured():
            rate = f"{event.peak_bytes_per_s / 1e9:.1f} GB/s"
            how = f"{event.how}, best of {event.runs}, spread {100 * event.spread:.0f} %"
            if event.is_lower_bound:
                return (
                    f"Memory reads at {rate} or more ({how}): other programs took the processor "
                    "meanwhile, so this is a lower bound."
                )
            return f"Memory reads at up to {rate} ({how})."
        case ContextShifted():
            return (
                f"Request {event.request_id}: its slot was full, so {event.dropped_tok:,} earlier "
                f"tokens behind the first {event.kept_tok:,} were dropped."
            )
        case SlotSaved() | SlotRestored():
            verb = "saved" if isinstance(event, SlotSaved) else "restored"
            return f"A slot of {event.tokens:,} tokens was {verb} in {event.seconds:.2f} s."
        case _:
            return ""
