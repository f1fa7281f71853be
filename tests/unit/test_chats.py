from __future__ import annotations

from typing import cast

import pytest

from app.chats import Chats
from engine_bridge.client import EngineClient
from engine_bridge.protocol import (
    Cancel,
    Forget,
    Generate,
    Refused,
    RequestFinished,
    RequestTiming,
    TokensDelivered,
)
from engine_bridge.settings.rules import Problem
from tests.unit.fake_client import FakeClient

TIMING = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, 10, 0, 5)


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def chats(client: FakeClient) -> Chats:
    return Chats(cast(EngineClient, client))


def sent(client: FakeClient) -> Generate:
    command = client.sent[-1]
    assert isinstance(command, Generate)
    return command


def test_that_two_conversations_keep_their_texts_apart(chats: Chats, client: FakeClient) -> None:
    first, second = chats.open(), chats.open()
    chats.send(first.id, "one")
    chats.send(second.id, "two")
    one, two = (c.request_id for c in client.sent if isinstance(c, Generate))
    client.event_received.emit(TokensDelivered(two, "B", (1,), (1,), 2))
    client.event_received.emit(TokensDelivered(one, "A", (1,), (1,), 2))
    assert (first.turns[-1].text, second.turns[-1].text) == ("A", "B")


def test_that_a_message_during_an_answer_is_not_sent(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    chats.send(conversation.id, "two")
    assert len(client.sent) == 1


def test_that_a_dead_engine_fails_the_answer_and_keeps_its_words(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    failures: list[str] = []
    chats.answer_failed.connect(lambda _, sentence: failures.append(sentence))
    chats.send(conversation.id, "one")
    client.event_received.emit(TokensDelivered(sent(client).request_id, "so far", (1,), (1,), 2))
    client.engine_died.emit(None)
    assert conversation.turns[-1].text == "so far"
    assert len(failures) == 1
    assert chats.answering_count() == 0


def test_that_sending_to_a_dead_engine_says_so(chats: Chats, client: FakeClient) -> None:
    client.is_alive = False
    conversation = chats.open()
    failures: list[str] = []
    chats.answer_failed.connect(lambda _, sentence: failures.append(sentence))
    chats.send(conversation.id, "one")
    assert "Restart" in failures[0]
    assert conversation.turns[0].text == "one"


def test_that_going_on_after_a_cut_continues_the_answer(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "count")
    number = sent(client).request_id
    client.event_received.emit(TokensDelivered(number, "1, 2", (1,), (1,), 2))
    client.event_received.emit(RequestFinished(number, "token_limit", "", TIMING, 12))
    chats.go_on(conversation.id)
    assert sent(client).continue_answer
    assert [m.content for m in sent(client).messages] == ["count", "1, 2"]


def test_that_a_retry_after_nothing_was_said_asks_anew(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "count")
    number = sent(client).request_id
    client.event_received.emit(Refused("generate", number, Problem((), "Too long.")))
    chats.go_on(conversation.id)
    assert not sent(client).continue_answer
    assert [turn.role for turn in conversation.turns] == ["user", "assistant"]


def test_that_a_base_model_gets_the_text_as_completion(chats: Chats, client: FakeClient) -> None:
    chats.is_completion = True
    conversation = chats.open()
    chats.send(conversation.id, "Once upon")
    assert sent(client).as_completion
    assert [m.content for m in sent(client).messages] == ["Once upon"]


def test_that_closing_a_conversation_cancels_and_frees_its_slot(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    number = sent(client).request_id
    chats.close(conversation.id)
    assert client.sent[-2:] == [Cancel(number), Forget(conversation.id)]


def test_that_only_the_first_paint_counts(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    requests: list[object] = []
    chats.answer_finished.connect(lambda _, __, request: requests.append(request))
    chats.send(conversation.id, "one")
    chats.note_painted(conversation.id, 111)
    chats.note_painted(conversation.id, 222)
    client.event_received.emit(RequestFinished(sent(client).request_id, "end", "", TIMING, 12))
    assert [request.painted_ns for request in requests] == [111]  # type: ignore[attr-defined]


def test_that_nothing_is_said_of_a_conversation_that_was_closed(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    said: list[str] = []
    for signal in (chats.text_arrived, chats.answer_finished, chats.answer_queued):
        signal.connect(lambda name, *_: said.append(name))
    chats.send(conversation.id, "one")
    number = sent(client).request_id
    chats.close(conversation.id)
    client.event_received.emit(TokensDelivered(number, "late", (1,), (1,), 2))
    client.event_received.emit(RequestFinished(number, "cancelled", "", TIMING, 12))
    assert not said
    assert chats.answering_count() == 0
