"""How full each conversation's context is, shown beside its draft before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer

from app.chats import Chats
from app.context_use import ContextUse, TokenRate, text_bytes
from app.conversation import Turn
from app.desk import Desk
from app.figures import counted_tok
from app.request import Request
from engine_bridge.protocol import (
    Applied,
    ContextShifted,
    RequestFinished,
    RequestStarted,
    StepsMeasured,
)
from widgets.chat_view import ChatView

# Typing goes on undisturbed; the estimate follows.
_DRAFT_MS = 250
# What a template puts around a short question would count as tokens of its text.
_TELLING_TOK = 256


class _Watched:
    """What is known of one conversation."""

    def __init__(self, view: ChatView, timer: QTimer) -> None:
        self.view = view
        self.timer = timer
        self.rate = TokenRate()
        # In the slot while an answer is under way; None before its prompt was counted.
        self.live_tok: int | None = None
        # By the id of a turn: tokens of all up to its end, as the engine counted them.
        self.counted_tok: dict[int, int] = {}
        # By the id of a turn: characters and bytes of its text, which only grows.
        self.sizes: dict[int, tuple[int, int]] = {}
        self.answer_bytes = 0

    def turn_bytes(self, turn: Turn) -> int:
        """Bytes of a turn's text, counted anew only where it has grown."""
        known = self.sizes.get(turn.id)
        if known is None or known[0] != len(turn.text):
            known = self.sizes[turn.id] = len(turn.text), text_bytes(turn.text)
        return known[1]


class ContextWiring(QObject):
    """Counts for every watched conversation, and tells its view."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        """Listen to ``desk``; nothing is watched yet."""
        super().__init__(parent)
        self._desk = desk
        self._chats: Chats = desk.chats
        self._watched: dict[str, _Watched] = {}
        self._model: tuple[str, int] | None = None
        desk.session.applied_changed.connect(self._on_applied_changed)
        self._chats.answer_opened.connect(self.show)
        self._chats.answer_started.connect(self._on_answer_started)
        self._chats.answer_failed.connect(self._on_answer_failed)
        self._chats.text_arrived.connect(self._on_text_arrived)
        self._chats.answer_finished.connect(self._on_answer_finished)
        self._chats.branch_changed.connect(self.recount)
        desk.client.event_received.connect(self._on_event_received)

    def watch(self, conversation_id: str, view: ChatView) -> None:
        """Show in ``view`` how full the context of a conversation is."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(_DRAFT_MS)
        timer.timeout.connect(partial(self.show, conversation_id))
        view.draft_changed.connect(timer.start)
        self._watched[conversation_id] = _Watched(view, timer)
        self.show(conversation_id)

    def forget(self, conversation_id: str) -> None:
        """The conversation is closed."""
        watched = self._watched.pop(conversation_id, None)
        if watched is not None:
            watched.timer.stop()
            watched.timer.deleteLater()

    def show_all(self) -> None:
        """Another context: tell every view."""
        for name in self._watched:
            self.show(name)

    def recount(self, conversation_id: str) -> None:
        """Another branch is shown: what the slot held says nothing of it."""
        watched = self._watched.get(conversation_id)
        if watched is not None:
            watched.live_tok = None
            self.show(conversation_id)

    def has_room(self, conversation_id: str) -> bool:
        """Whether an answer could go on; an estimate alone does not say that it cannot."""
        use = self._use(conversation_id)
        return use is not None and (use.is_estimate or use.left_tok > 0)

    def show(self, conversation_id: str) -> None:
        """Tell the view of one conversation."""
        use = self._use(conversation_id)
        if use is None:
            return
        text, is_warning = use.notice()
        composer = self._watched[conversation_id].view.composer
        composer.set_context_text(use.line(), is_warning=is_warning)
        composer.set_notice(text, is_warning=is_warning)

    def _use(self, conversation_id: str) -> ContextUse | None:
        applied = self._desk.session.applied
        watched = self._watched.get(conversation_id)
        if applied is None or watched is None:
            return None
        used_tok, is_estimate = self._used(conversation_id, watched)
        return ContextUse(
            used_tok=used_tok,
            cap_tok=applied.effective.ctx_per_slot_tok,
            draft_tok=watched.rate.tok(watched.view.composer.size_bytes()),
            is_estimate=is_estimate,
            shifts=applied.config.context_shift and applied.effective.can_shift,
        )

    def _used(self, conversation_id: str, watched: _Watched) -> tuple[int, bool]:
        """Tokens of the branch that is shown, and whether some of them are estimated.

        Counted up to the last turn of which that is known, estimated from there on.
        """
        if watched.live_tok is not None:
            return watched.live_tok, False
        conversation = self._chats.conversation(conversation_id)
        turns = conversation.turns
        later_bytes = later = 0
        for place in range(len(turns) - 1, -1, -1):
            turn = turns[place]
            counted = watched.counted_tok.get(turn.id)
            told = counted or self._told_tok(turn)
            if told is not None:
                if counted is None:
                    self._learn(watched, turns[: place + 1], told)
                is_estimate = counted is None or later > 0
                return told + watched.rate.tok(later_bytes, messages=later), is_estimate
            if turn.text:
                later_bytes += watched.turn_bytes(turn)
                later += 1
        if turns and conversation.system_prompt and not self._chats.is_completion:
            later_bytes += text_bytes(conversation.system_prompt)
            later += 1
        return watched.rate.tok(later_bytes, messages=later), bool(turns)

    def _told_tok(self, turn: Turn) -> int | None:
        """What the figures of a stored answer tell, if this model gave it."""
        return counted_tok(turn.figures) if turn.model == self._chats.model_name else None

    def _learn(self, watched: _Watched, turns: Sequence[Turn], tok: int) -> None:
        """A stored conversation tells as well how much of its text makes a token."""
        if tok >= _TELLING_TOK and not watched.rate.is_measured:
            watched.rate.note(sum(map(watched.turn_bytes, turns)), tok)

    def _on_applied_changed(self, applied: Applied | None) -> None:
        """Another model: tokens that the one before counted say nothing of it."""
        if applied is None or applied.model is None:
            return
        model = applied.model.path, applied.model.file_bytes
        if model == self._model:
            return
        self._model = model
        for name, watched in self._watched.items():
            watched.rate = TokenRate()
            watched.counted_tok.clear()
            self.recount(name)

    def _on_answer_started(self, conversation_id: str, event: RequestStarted) -> None:
        watched = self._watched.get(conversation_id)
        if watched is None:
            return
        watched.answer_bytes = 0
        turns = self._chats.conversation(conversation_id).turns
        is_first = len(turns) == 2 and not turns[-1].text  # nothing but the question was read
        if is_first and event.prompt_tok >= _TELLING_TOK:
            watched.rate.note(text_bytes(turns[0].text), event.prompt_tok)
        # What the slot holds now is less than what is being read into it.
        watched.live_tok = event.prompt_tok
        self.show(conversation_id)

    def _on_text_arrived(self, conversation_id: str, text: str) -> None:
        watched = self._watched.get(conversation_id)
        if watched is not None:
            watched.answer_bytes += text_bytes(text)

    def _on_answer_finished(self, conversation_id: str, event: RequestFinished, _: Request) -> None:
        watched = self._watched.get(conversation_id)
        if watched is not None:
            watched.rate.note(watched.answer_bytes, event.timing.new_tok)
            # What was dropped belongs to the conversation, and would have to fit in next time.
            self._end(conversation_id, watched, event.used_tok + event.timing.dropped_tok)

    def _on_answer_failed(self, conversation_id: str, _: str) -> None:
        watched = self._watched.get(conversation_id)
        if watched is not None:
            self._end(conversation_id, watched, watched.live_tok)

    def _end(self, conversation_id: str, watched: _Watched, used_tok: int | None) -> None:
        """An answer is over; ``used_tok`` is what the slot held then, None where unknown."""
        last = self._chats.conversation(conversation_id).last
        watched.live_tok = None
        if last is not None and used_tok is not None:
            watched.counted_tok[last.id] = used_tok
        self.show(conversation_id)

    def _on_event_received(self, event: object) -> None:
        if isinstance(event, ContextShifted):
            self._on_shifted(event)
        if not isinstance(event, StepsMeasured):
            return
        for slot in event.slots:
            watched = self._watched.get(slot.conversation_id)
            if slot.request_id is None or watched is None or watched.live_tok is None:
                continue
            # A prompt that is being read again counts in full from the start.
            if slot.used_tok > watched.live_tok:
                watched.live_tok = slot.used_tok
                self.show(slot.conversation_id)

    def _on_shifted(self, event: ContextShifted) -> None:
        """The slot holds less than before, and the answer goes on."""
        watched = self._watched.get(event.conversation_id)
        if watched is not None and watched.live_tok is not None:
            watched.live_tok = event.used_tok
            self.show(event.conversation_id)
