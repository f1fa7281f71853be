"""How full each conversation's context is, shown beside its draft before anything is sent."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer

from app.chats import Chats, Request
from app.context_use import ContextUse, TokenRate, text_bytes
from app.desk import Desk
from engine_bridge.protocol import Applied, RequestFinished, RequestStarted, StepsMeasured
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
        self.used_tok: int | None = None
        self.text_bytes: int | None = None
        self.answer_bytes = 0


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
        self._chats.answer_started.connect(self._on_answer_started)
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
            watched.used_tok = watched.text_bytes = None
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
        used = watched.used_tok
        return ContextUse(
            used_tok=self._estimated(conversation_id, watched) if used is None else used,
            cap_tok=applied.effective.ctx_per_slot_tok,
            draft_tok=watched.rate.tok(watched.view.composer.size_bytes()),
            is_estimate=used is None and bool(self._chats.conversation(conversation_id).turns),
        )

    def _estimated(self, conversation_id: str, watched: _Watched) -> int:
        turns = self._chats.conversation(conversation_id).turns
        if watched.text_bytes is None:
            watched.text_bytes = sum(text_bytes(turn.text) for turn in turns)
        return watched.rate.tok(watched.text_bytes, messages=len(turns))

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

    def _on_text_arrived(self, conversation_id: str, text: str) -> None:
        watched = self._watched.get(conversation_id)
        if watched is not None:
            watched.answer_bytes += text_bytes(text)

    def _on_answer_finished(self, conversation_id: str, event: RequestFinished, _: Request) -> None:
        watched = self._watched.get(conversation_id)
        if watched is not None:
            watched.rate.note(watched.answer_bytes, event.timing.new_tok)
            watched.used_tok = event.used_tok
            self.show(conversation_id)

    def _on_event_received(self, event: object) -> None:
        if not isinstance(event, StepsMeasured):
            return
        for slot in event.slots:
            watched = self._watched.get(slot.conversation_id)
            if slot.request_id is not None and watched is not None:
                # A prompt that is being read again counts in full from the start.
                watched.used_tok = max(slot.used_tok, watched.used_tok or 0)
                self.show(slot.conversation_id)
