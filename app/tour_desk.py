"""The first part of the tour: load, chat twice at once, drag, apply, take the line along."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.tour_step import Step
from app.window import Window

# Both work as a question and as the beginning of a text, since the demo model may be a base model.
_PROMPTS = (
    "Write a long story about a lighthouse keeper who waits for a ship.",
    "Write a Python class for a priority queue with tests.",
)
_ANSWER_TOK = 160


class DeskTour:
    """Tuning: what the program is for."""

    def __init__(self, window: Window, model: str | None) -> None:
        """Prepare the steps for ``window``; without ``model`` the demo model is loaded."""
        self._window = window
        self._desk = window.desk
        self._model = model
        self._ids: list[str] = []
        self._command_before = ""

    def steps(self) -> list[Step]:
        """The steps in their order."""
        return [
            Step("01-loaded", self._load, self._is_loaded, self._fault_of_loaded, timeout_s=300),
            Step("02-two-chats", self._ask_twice, self._both_stream, self._fault_of_chats,
                 must_settle=False),
            Step("03-answered", lambda: None, self._both_answered, self._fault_of_answers,
                 timeout_s=180),
            Step("04-drag", self._drag_context, self._is_predicted, self._fault_of_drag),
            Step("05-applied", self._release, self._is_applied, self._fault_of_applied),
            Step("06-export", self._copy, lambda: True, self._fault_of_export),
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
        # On a slow machine the first tokens lie before the stretch that is shown.
        if view.tpot.last_tpot_s is None or view.ttft.last is None:
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
