"""What a context shift dropped: said at the answer, kept with it, and true in the composer."""

from __future__ import annotations

from typing import cast

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.chats import Chats
from app.context_use import ContextUse
from app.conversation import Conversation
from app.figures import answer_figures, counted_tok
from app.shifts import Shifts
from app.storage.journal_state import JournalState
from app.turn_records import records_of
from engine_bridge.client import EngineClient
from engine_bridge.protocol import ContextShifted, RequestTiming
from resources.tokens import DARK
from tests.unit.fake_client import FakeClient
from widgets.message_answer import AnswerView
from widgets.message_record import AnswerRecord
from widgets.message_selection import SelectionGroup

pytestmark = pytest.mark.gui


class Room:
    """One conversation with an answer under way."""

    def __init__(self) -> None:
        self.client = FakeClient()
        self.chats = Chats(cast(EngineClient, self.client))
        self.parent = QObject()
        self.shifts = Shifts(cast(EngineClient, self.client), self.chats, self.parent)
        self.said: list[tuple[str, str]] = []
        self.touched: list[str] = []
        self.shifts.dropped.connect(lambda name, text: self.said.append((name, text)))
        self.conversation = self.chats.open()
        self.chats.send(self.conversation.id, "a long story")
        self.chats.conversation_touched.connect(self.touched.append)

    def shift(self, dropped_tok: int, conversation_id: str = "") -> None:
        name = conversation_id or self.conversation.id
        self.client.event_received.emit(ContextShifted(7, name, dropped_tok, 1, 128))


def test_that_dropped_tokens_add_up_at_the_answer(qapp: object) -> None:
    room = Room()
    room.shift(1000)
    room.shift(24)
    assert [name for name, _ in room.said] == [room.conversation.id] * 2
    assert "1,024 earlier tokens were dropped" in room.said[-1][1]
    assert room.touched == [room.conversation.id] * 2, "it is stored"
    room.conversation.append("Once")
    (_, record) = records_of(room.conversation)
    assert isinstance(record, AnswerRecord)
    assert record.dropped_text == room.said[-1][1]


def test_that_another_s_shift_is_none_of_this_conversation(qapp: object) -> None:
    room = Room()
    room.shift(10, "somebody else")
    room.conversation.finish("cancelled")
    room.shift(10)  # it arrives after the end
    assert not room.said
    assert room.conversation.turns[-1].dropped_tok == 0


def test_that_what_was_dropped_is_stored_with_the_answer() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("question")
    conversation.turns[-1].dropped_tok = 512
    (_, turn) = JournalState.of(conversation).whole().turns
    assert turn.dropped_tok == 512


def test_that_an_answer_shows_what_was_dropped_and_keeps_it(qtbot: QtBot) -> None:
    parent = QObject()
    selection = SelectionGroup(parent)
    view = AnswerView(AnswerRecord("Toy"), DARK, selection)
    qtbot.addWidget(view)
    assert view.dropped.isHidden()
    view.set_dropped_text("12 dropped")
    assert not view.dropped.isHidden()
    assert view.dropped.text() == "12 dropped"
    again = AnswerView(view.record(), DARK, selection)
    qtbot.addWidget(again)
    assert again.dropped.text() == "12 dropped"


def test_that_the_figures_tell_it_and_still_count_the_whole_conversation() -> None:
    timing = RequestTiming(
        queue_s=0.0, prefill_s=0.1, ttft_s=0.1, tpot_s=0.01, itl_p50_s=None, itl_p99_s=None,
        prompt_tok=1000, reused_tok=0, new_tok=5000, dropped_tok=2048,
    )  # fmt: skip
    figures = answer_figures(timing)
    assert "5,000 new · 2,048 dropped" in figures
    assert counted_tok(figures) == 6000


@pytest.mark.parametrize(
    ("shifts", "used_tok", "words"),
    [
        (False, 3072, "When it is full an answer stops;"),
        (True, 3072, "When it is full an answer goes on without its older half;"),
        (False, 3800, "When it is full the answer stops there: start"),
        (True, 3800, "the answer goes on, the model no longer sees the older half, and the"),
        (True, 5000, "5,000 tokens and a slot holds 4,096: another message will not fit."),
    ],
)
def test_that_the_composer_says_what_a_full_context_means(
    shifts: bool, used_tok: int, words: str
) -> None:
    assert words in ContextUse(used_tok, 4096, shifts=shifts).notice()[0]
