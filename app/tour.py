"""A scripted session in the real window, with a picture and a check after each step.

Nothing is faked: the mouse moves real faders, the engine runs the real model. A step that does not
show what it should within its time makes the tour fail with a sentence.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.window import Window
from engine_bridge.engine_state import DeathReason
from engine_bridge.protocol import Refused

_POLL_MS = 50
# A picture waits this long after its step came about, so that it shows the end of it.
_SETTLE_MS = 400
# Both work as a question and as the beginning of a text, since the demo model may be a base model.
_PROMPTS = (
    "Write a long story about a lighthouse keeper who waits for a ship.",
    "Write a Python class for a priority queue with tests.",
)
_ANSWER_TOK = 160


@dataclass(frozen=True)
class Step:
    """One step of the tour.

    Attributes:
        name: Of the picture.
        act: Starts it.
        is_done: Whether it has come about.
        fault: What is wrong with what is shown now, or the empty string.
        timeout_s: After this it has failed.
        must_settle: Whether the picture waits until nothing moves.
    """

    name: str
    act: Callable[[], None]
    is_done: Callable[[], bool]
    fault: Callable[[], str]
    timeout_s: float = 60.0
    must_settle: bool = True


class Tour(QObject):
    """Runs the steps one after the other.

    Signals:
        finished: 0 if every step showed what it should, else 1.
    """

    finished = Signal(int)

    def __init__(self, window: Window, out: Path, model: str | None) -> None:
        """Prepare a tour of ``window``; pictures go to ``out``, the model may be given."""
        super().__init__(window)
        self._window = window
        self._desk = window.desk
        self._out = out
        self._model = model
        self._ids: list[str] = []
        self._command_before = ""
        self._steps = self._script()
        self._index = -1
        self._deadline_s = 0.0
        self._faults: list[str] = []
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._desk.session.refused.connect(self._on_refused)
        self._desk.client.engine_died.connect(self._on_engine_died)

    def start(self) -> None:
        """Begin with the first step."""
        self._out.mkdir(parents=True, exist_ok=True)
        self._next()

    # --- The script ---------------------------------------------------------------------

    def _script(self) -> list[Step]:
        return [
            Step("1-loaded", self._load, self._is_loaded, self._fault_of_loaded, timeout_s=300),
            Step("2-two-chats", self._ask_twice, self._both_stream, self._fault_of_chats,
                 must_settle=False),
            Step("3-answered", lambda: None, self._both_answered, self._fault_of_answers,
                 timeout_s=180),
            Step("4-drag", self._drag_context, self._is_predicted, self._fault_of_drag),
            Step("5-applied", self._release, self._is_applied, self._fault_of_applied),
            Step("6-export", self._copy, lambda: True, self._fault_of_export),
        ]  # fmt: skip

    def _load(self) -> None:
        self._desk.session.want({"max_new_tok": _ANSWER_TOK, "temperature": 0.0})
        if self._model:
            self._window.engine_wiring.load(str(Path(self._model).absolute()))
        else:
            self._window.engine_wiring.load_demo()

    def _is_loaded(self) -> bool:
        return self._desk.session.applied is not None and self._desk.session.plan is not None

    def _fault_of_loaded(self) -> str:
        applied = self._desk.session.applied
        if applied is None or applied.memory.bytes.total <= 0:
            return "the memory of the loaded model is not known"
        if applied.config.model_path not in self._window.command.text():
            return "the command line does not name the model"
        return ""

    def _ask_twice(self) -> None:
        chat = self._window.chat
        self._ids = [chat.current_id(), self._window.chat_wiring.open_conversation()]
        for name, prompt in zip(self._ids, _PROMPTS, strict=True):
            chat.conversation(name).submit(prompt)
        self._window.show_chat()

    def _both_stream(self) -> bool:
        texts = [self._desk.chats.conversation(name).turns[-1].text for name in self._ids]
        return all(len(text) > 60 for text in texts)

    def _fault_of_chats(self) -> str:
        if self._desk.chats.answering_count() < 2:
            return "the two answers did not stream at the same time"
        return ""

    def _both_answered(self) -> bool:
        return self._desk.chats.answering_count() == 0

    def _fault_of_answers(self) -> str:
        for name in self._ids:
            turn = self._desk.chats.conversation(name).turns[-1]
            if turn.end not in ("end", "token_limit"):
                return f"an answer ended with {turn.end!r}"
        view = self._desk.meters.view(time.perf_counter_ns())
        if view.tpot.last_tpot_s is None or not len(view.ttft.ttft_s):
            return "TTFT and TPOT were not measured"
        return ""

    def _drag_context(self) -> None:
        """Take the context fader with the mouse and hold it one stop further right."""
        self._command_before = self._window.command.text()
        fader = self._window.tune.row("ctx_per_slot_tok").fader
        self._window.tune.ensureWidgetVisible(fader)
        start, end = fader.handle_position(), fader.position_of(8192)
        QTest.mousePress(fader, Qt.MouseButton.LeftButton, pos=start)
        steps = 12
        for step in range(1, steps + 1):
            x = start.x() + (end.x() - start.x()) * step // steps
            QTest.mouseMove(fader, QPoint(x, start.y()))

    def _is_predicted(self) -> bool:
        session = self._desk.session
        plan = session.plan
        is_for_drag = session.candidate.ctx_per_slot_tok == 8192
        return is_for_drag and plan is not None and plan.bytes.kv > self._applied_kv_bytes()

    def _fault_of_drag(self) -> str:
        if self._desk.session.wanted.ctx_per_slot_tok == 8192:
            return "dragging committed the value before the fader was released"
        return ""

    def _release(self) -> None:
        fader = self._window.tune.row("ctx_per_slot_tok").fader
        QTest.mouseRelease(fader, Qt.MouseButton.LeftButton, pos=fader.handle_position())

    def _is_applied(self) -> bool:
        if self._window.top.apply_button.isEnabled():
            self._window.top.apply_button.click()
        applied = self._desk.session.applied
        return applied is not None and applied.config.ctx_per_slot_tok == 8192

    def _fault_of_applied(self) -> str:
        applied = self._desk.session.applied
        if applied is None or applied.effective.ctx_per_slot_tok != 8192:
            return "the engine does not run the new context"
        if any(not self._desk.chats.conversation(name).turns for name in self._ids):
            return "the text of a chat is gone"
        if self._window.command.text() == self._command_before:
            return "the command line was not rewritten"
        return ""

    def _copy(self) -> None:
        self._window.command.copy()

    def _fault_of_export(self) -> str:
        copied = QGuiApplication.clipboard().text()
        if copied != self._window.command.text():
            return "the clipboard does not hold the command line"
        if "-c 32768" not in copied or "-np 4" not in copied:
            return f"the command line does not describe 4 × 8,192 tokens: {copied}"
        return ""

    def _applied_kv_bytes(self) -> int:
        applied = self._desk.session.applied
        return applied.memory.bytes.kv if applied else 0

    # --- The machinery ------------------------------------------------------------------

    def _next(self) -> None:
        self._index += 1
        if self._index == len(self._steps):
            self._end()
            return
        step = self._steps[self._index]
        self._deadline_s = time.monotonic() + step.timeout_s
        step.act()
        self._timer.start()

    def _on_timer_timeout(self) -> None:
        step = self._steps[self._index]
        if step.is_done():
            self._timer.stop()
            if step.must_settle:
                QTimer.singleShot(_SETTLE_MS, self, self._take_picture)
            else:
                self._take_picture()
        elif time.monotonic() > self._deadline_s:
            self._give_up(f"it did not happen within {step.timeout_s:.0f} s")

    def _on_refused(self, event: Refused) -> None:
        self._give_up(event.problem.message)

    def _on_engine_died(self, reason: DeathReason) -> None:
        self._give_up(reason.sentence)

    def _give_up(self, sentence: str) -> None:
        """End at a step that cannot come about any more."""
        if self._timer.isActive():
            self._timer.stop()
            step = self._steps[self._index]
            self._save(f"{step.name}-failed")
            self._faults.append(f"{step.name}: {sentence}")
            self._end()

    def _take_picture(self) -> None:
        step = self._steps[self._index]
        fault = step.fault()
        self._save(step.name)
        sys.stdout.write(f"{step.name}: {fault or 'as it should be'}\n")
        if fault:
            self._faults.append(f"{step.name}: {fault}")
        self._next()

    def _save(self, name: str) -> None:
        path = self._out / f"{name}.png"
        if not self._window.grab().save(str(path)):
            self._faults.append(f"{name}: the picture could not be written to {path}")

    def _end(self) -> None:
        for fault in self._faults:
            sys.stderr.write(f"tour: {fault}\n")
        self._window.close()
        self.finished.emit(1 if self._faults else 0)
