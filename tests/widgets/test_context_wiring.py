"""How full a context is and how far a prompt is read, from what the engine says to the view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.chats import Chats
from app.context_wiring import ContextWiring
from app.conversation import Conversation
from app.desk import Desk
from app.figures import answer_figures, counted_tok
from app.reading import Reading
from engine_bridge.client import EngineClient
from engine_bridge.protocol import (
    ContextShifted,
    Generate,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    SlotFacts,
    StepsMeasured,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient, applied, model_facts
from widgets.attached_text import Attached
from widgets.chat_view import ChatView
from widgets.message_answer import AnswerView

pytestmark = pytest.mark.gui
CAP_TOK = 8192


class FakeSession(QObject):
    """A session that runs one configuration."""

    applied_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        config = EngineConfig.from_values({"ctx_per_slot_tok": CAP_TOK})
        self.applied = applied(config, model=model_facts())


class Room:
    """One conversation with its view, on an engine that the test plays."""

    def __init__(self) -> None:
        self.client = FakeClient()
        self.chats = Chats(cast(EngineClient, self.client))
        self.chats.model_name = "Toy"
        self.parent = QObject()
        self.session = FakeSession()
        desk = cast(
            Desk, SimpleNamespace(chats=self.chats, client=self.client, session=self.session)
        )
        self.context = ContextWiring(desk, self.parent)
        self.reading = Reading(desk, self.parent)
        self.conversation = self.chats.open()
        self.view = ChatView()
        self.chats.answer_opened.connect(lambda _: self.view.begin_answer("Toy"))
        self.chats.text_arrived.connect(lambda _, text: self.view.append_text(text))
        self.chats.answer_finished.connect(lambda *_: self.view.finish_answer("", None, False))
        self.watch()

    def watch(self) -> None:
        self.context.watch(self.conversation.id, self.view)
        self.reading.watch(self.conversation.id, self.view)

    def adopt(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.chats.adopt(conversation)
        self.watch()

    def send(self, text: str) -> None:
        self.view.add_user_message(text)
        self.chats.send(self.conversation.id, text)

    @property
    def number(self) -> int:
        return [c for c in self.client.sent if isinstance(c, Generate)][-1].request_id

    def start(self, prompt_tok: int, reused_tok: int = 0) -> None:
        self.client.event_received.emit(
            RequestStarted(self.number, 0, prompt_tok, reused_tok, "", 1)
        )

    def say(self, text: str) -> None:
        self.client.event_received.emit(TokensDelivered(self.number, text, (1,), (1,), 1))

    def measure(self, used_tok: int) -> None:
        slot = SlotFacts(0, used_tok, self.number, self.conversation.id)
        self.client.event_received.emit(
            StepsMeasured(0, 1, 0.1, 1, 0, 0.0, 0, 0, 1, 0.1, 0.1, 1, (slot,))
        )

    def shift(self, dropped_tok: int, used_tok: int) -> None:
        self.client.event_received.emit(
            ContextShifted(self.number, self.conversation.id, dropped_tok, 1, used_tok)
        )

    def finish(self, used_tok: int, prompt_tok: int = 800) -> None:
        timing = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, prompt_tok, 0, 27)
        self.client.event_received.emit(RequestFinished(self.number, "end", "", timing, used_tok))

    @property
    def line(self) -> str:
        return self.view.composer.context_label.text()

    @property
    def used_tok(self) -> int:
        return int(self.line.split(" of ")[0].split()[-1].replace(",", ""))

    @property
    def waiting(self) -> str:
        answer = self.view.rows.last_answer()
        assert isinstance(answer, AnswerView)
        return next(
            label.text() for label in answer.findChildren(QLabel) if "prompt" in label.text()
        )


@pytest.fixture
def room(shown: Callable[[QWidget], None]) -> Iterator[Room]:
    made = Room()
    shown(made.view)
    yield made
    made.context.forget(made.conversation.id)


# --- The context -----------------------------------------------------------------------------


def test_that_what_is_attached_and_typed_counts_before_it_is_sent(room: Room, qtbot: QtBot) -> None:
    room.send("Hello")
    room.start(46)
    room.say("Hi")
    room.finish(60)
    assert room.line == "context 60 of 8,192 · 8,132 left"
    room.view.composer.attach(Attached("notes.txt", "words of it " * 300))
    qtbot.waitUntil(lambda: room.used_tok > 1000)
    assert "your text ≈" in room.line
    assert "draft" not in room.line  # that word means speculation
    attached = room.used_tok
    QTest.keyClicks(room.view.composer.editor, "and what does this say? " * 4)
    qtbot.waitUntil(lambda: room.used_tok > attached)


def test_that_a_question_counts_from_the_moment_it_is_sent(room: Room) -> None:
    room.send("Hello")
    room.start(46)
    room.finish(60)
    room.send("words of it " * 300)
    assert room.used_tok > 1000


def test_that_the_prompt_counts_in_full_while_it_is_read(room: Room) -> None:
    room.send("Read this")
    room.start(827)
    assert room.line == "context 827 of 8,192 · 7,365 left"
    room.measure(512)
    assert room.used_tok == 827
    room.measure(840)
    assert room.used_tok == 840


def test_that_the_count_stays_true_when_a_question_is_taken_back(room: Room) -> None:
    room.send("Hello")
    room.start(46)
    room.say("Hi")
    room.finish(55)
    room.send("Something that is refused")
    answer = room.conversation.last
    assert answer is not None
    answer.end = "failed"
    room.chats.take_back(room.conversation.id)
    assert room.line == "context 55 of 8,192 · 8,137 left"


def test_that_a_stored_conversation_counts_what_its_last_answer_counted(room: Room) -> None:
    stored = Conversation("stored", 1)
    stored.ask("A question", "Toy")
    stored.append("An answer")
    timing = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, 1300, 12, 28)
    stored.finish("end", answer_figures(timing))
    room.adopt(stored)
    assert room.line.startswith("context ≈ 1,328 of")


def test_that_another_models_count_says_nothing(room: Room) -> None:
    stored = Conversation("stored", 1)
    stored.ask("A question", "Another")
    stored.append("An answer")
    timing = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, 1300, 12, 28)
    stored.finish("end", answer_figures(timing))
    room.adopt(stored)
    assert room.used_tok < 100


def test_that_an_answer_cut_by_a_death_counts_as_far_as_it_came(room: Room) -> None:
    room.send("Read this")
    room.start(827)
    room.say("so far")
    room.measure(840)
    room.client.engine_died.emit(None)
    assert room.used_tok == 840


@pytest.mark.parametrize("prompt_tok", [7, 1_234_567])
def test_that_figures_can_be_read_back(prompt_tok: int) -> None:
    timing = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, prompt_tok, 5, 1500, 3, 0, think_tok=40)
    assert counted_tok(answer_figures(timing)) == prompt_tok + 1500
    assert counted_tok("TTFT 1 s") is None


# --- Reading ---------------------------------------------------------------------------------


def test_that_it_is_said_how_far_a_prompt_is_read(room: Room) -> None:
    room.send("Read this")
    room.start(827, reused_tok=12)
    assert room.waiting == "Reading the prompt · 12 of 827 tok"
    room.measure(512)
    assert room.waiting == "Reading the prompt · 512 of 827 tok"
    room.say("Done")
    room.measure(830)
    assert "Reading" not in visible(room.view)
    room.finish(835)
    assert "Reading" not in visible(room.view)


def test_that_a_conversation_read_again_in_the_middle_of_an_answer_says_so(room: Room) -> None:
    room.send("Read this")
    room.start(827)
    room.say("So far")
    room.measure(900)
    room.measure(899)  # a draft that was refused is no reading
    assert "Reading" not in visible(room.view)
    room.measure(128)
    assert "Reading the conversation again · 128 of 900 tok" in visible(room.view)
    room.measure(890)
    assert "890 of 900" in visible(room.view)
    room.measure(901)
    assert "Reading" not in visible(room.view)


def test_that_what_a_full_slot_dropped_is_not_said_to_be_read_again(room: Room) -> None:
    room.send("Read this")
    room.start(200)
    room.say("So far")
    room.measure(255)
    room.shift(dropped_tok=127, used_tok=128)
    room.measure(130)
    assert "Reading" not in visible(room.view)


def test_that_nothing_is_said_to_be_read_after_the_engine_has_died(room: Room) -> None:
    room.send("Read this")
    room.start(827)
    room.say("So far")
    room.measure(900)
    room.measure(128)
    room.client.engine_died.emit(None)
    assert "Reading the conversation" not in visible(room.view)


def visible(view: ChatView) -> str:
    """All words of all labels that are shown."""
    return "\n".join(label.text() for label in view.findChildren(QLabel) if not label.isHidden())
