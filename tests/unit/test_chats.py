from __future__ import annotations

from typing import cast

import msgspec
import pytest

from app.chats import Chats
from app.conversation import Conversation
from engine_bridge.client import EngineClient
from engine_bridge.protocol import (
    Cancel,
    Forget,
    Generate,
    Refused,
    RequestFinished,
    RequestStarted,
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
    assert failures == ["The engine is not running; restart it. Your text is kept."]
    assert conversation.turns[0].text == "one"


def test_that_trying_again_with_a_dead_engine_keeps_why_the_answer_ended(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    client.event_received.emit(TokensDelivered(sent(client).request_id, "so far", (1,), (1,), 2))
    client.engine_died.emit(None)
    ended = conversation.turns[-1].note
    assert "ended during this answer" in ended
    client.is_alive = False
    failures: list[str] = []
    chats.answer_failed.connect(lambda _, sentence: failures.append(sentence))
    chats.go_on(conversation.id)
    assert len(failures) == 1
    assert (conversation.turns[-1].end, conversation.turns[-1].note) == ("failed", ended)


def test_that_what_is_kept_of_a_question_to_a_dead_engine_is_true_later_too(
    chats: Chats, client: FakeClient
) -> None:
    client.is_alive = False
    conversation = chats.open()
    chats.send(conversation.id, "one")
    assert conversation.turns[-1].note == "The engine was not running, so nothing was answered."


def test_that_an_answer_cut_by_closing_the_program_says_so(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    touched: list[str] = []
    chats.send(conversation.id, "one")
    number = sent(client).request_id
    client.event_received.emit(TokensDelivered(number, "so far", (1,), (1,), 2))
    chats.conversation_touched.connect(touched.append)
    chats.end_all()
    last = conversation.turns[-1]
    assert (last.text, last.note) == ("so far", "You closed the program during this answer.")
    assert conversation.can_continue
    assert touched == [conversation.id]
    client.engine_died.emit(None)  # as the program ends
    assert last.note == "You closed the program during this answer."


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
    assert conversation.last is not None
    assert conversation.last.is_completion, "kept, so that it is shown as it came"
    chats.is_completion = False
    other = chats.open()
    chats.send(other.id, "Once upon")
    assert other.last is not None
    assert not other.last.is_completion


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


def answered(chats: Chats, client: FakeClient, conversation_id: str, text: str) -> None:
    """Bring the answer under way to its end."""
    number = sent(client).request_id
    client.event_received.emit(TokensDelivered(number, text, (1,), (1,), 2))
    client.event_received.emit(RequestFinished(number, "end", "", TIMING, 12))


def touched(chats: Chats) -> list[str]:
    names: list[str] = []
    chats.conversation_touched.connect(names.append)
    return names


def test_that_everything_worth_storing_is_told(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    names = touched(chats)

    def told() -> bool:
        was = bool(names)
        assert set(names) <= {conversation.id}
        names.clear()
        return was

    chats.set_system_prompt(conversation.id, "Be brief.")
    assert told()
    chats.set_system_prompt(conversation.id, "Be brief.")
    assert not told()
    chats.rename(conversation.id, "  My\n chat ")
    assert conversation.title == "My chat"
    assert told()
    chats.send(conversation.id, "one")
    assert told()
    number = sent(client).request_id
    client.event_received.emit(TokensDelivered(number, "A", (1,), (1,), 2))
    assert told()
    client.event_received.emit(RequestFinished(number, "end", "", TIMING, 12))
    assert told()
    chats.answer_again(conversation.id, 2)
    answered(chats, client, conversation.id, "B")
    assert told()
    chats.choose(conversation.id, 2)
    assert told()


def test_that_an_answer_keeps_its_figures_its_model_and_its_end(
    chats: Chats, client: FakeClient
) -> None:
    chats.model_name = "Toy"
    conversation = chats.open()
    chats.send(conversation.id, "one")
    number = sent(client).request_id
    timing = msgspec.structs.replace(TIMING, think_tok=3)
    client.event_received.emit(RequestFinished(number, "token_limit", "", timing, 12))
    last = conversation.turns[-1]
    assert (last.model, last.end, last.think_tok) == ("Toy", "token_limit", 3)
    assert "5 new (3 thought)" in last.figures
    assert last.note == "The limit of 5 new tokens is reached."


def test_that_another_answer_is_asked_for_with_what_came_before_only(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    answered(chats, client, conversation.id, "A")
    shown: list[str] = []
    chats.branch_changed.connect(shown.append)
    chats.answer_again(conversation.id, 2)
    command = sent(client)
    assert [m.content for m in command.messages] == ["one"]
    assert command.conversation_id == conversation.id
    assert shown == [conversation.id]
    answered(chats, client, conversation.id, "B")
    assert [turn.text for turn in conversation.turns] == ["one", "B"]


def test_that_a_question_put_otherwise_is_sent(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    answered(chats, client, conversation.id, "A")
    titles: list[str] = []
    chats.title_changed.connect(lambda _, title: titles.append(title))
    chats.ask_instead(conversation.id, 1, "uno")
    assert [m.content for m in sent(client).messages] == ["uno"]
    assert titles == ["uno"]


def test_that_nothing_branches_while_an_answer_is_under_way(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    count = len(client.sent)
    chats.answer_again(conversation.id, 2)
    chats.ask_instead(conversation.id, 1, "uno")
    chats.choose(conversation.id, 1)
    assert len(client.sent) == count
    assert len(conversation.tree) == 2


def test_that_a_stored_conversation_is_taken_up(chats: Chats, client: FakeClient) -> None:
    stored = Conversation("stored", 1)
    stored.ask("one")
    stored.append("so far")
    names = touched(chats)
    chats.adopt(stored)
    assert (stored.last and stored.last.end) == "failed"
    assert names == ["stored"]
    chats.go_on("stored")
    assert sent(client).continue_answer
    other = Conversation("stored", 9)
    chats.adopt(other)
    assert chats.conversation("stored") is stored


def test_that_thoughts_add_up_over_a_continued_answer(chats: Chats, client: FakeClient) -> None:
    conversation = chats.open()
    chats.send(conversation.id, "one")
    number = sent(client).request_id
    started = RequestStarted(number, 0, 5, 0, "", 0, starts_in_thought=True)
    client.event_received.emit(started)
    client.event_received.emit(TokensDelivered(number, "Hm", (1,), (1,), 2, think_tok=2))
    timing = msgspec.structs.replace(TIMING, think_tok=4)
    client.event_received.emit(RequestFinished(number, "token_limit", "", timing, 12))
    chats.go_on(conversation.id)
    number = sent(client).request_id
    client.event_received.emit(RequestStarted(number, 0, 5, 0, "", 0))
    client.event_received.emit(TokensDelivered(number, "m", (1,), (1,), 2, think_tok=1))
    last = conversation.turns[-1]
    assert last.think_tok == 5
    assert last.starts_in_thought


def test_that_half_a_character_does_not_make_a_conversation_mute(
    chats: Chats, client: FakeClient
) -> None:
    conversation = chats.open()
    chats.rename(conversation.id, "a \ud83d")
    chats.set_system_prompt(conversation.id, "Be \udfff kind.")
    chats.send(conversation.id, "File: \udcff.txt and \ud83d\ude00")
    assert [message.content for message in sent(client).messages] == [
        "Be \ufffd kind.",
        "File: \ufffd.txt and 😀",
    ]
    msgspec.json.encode(client.sent)
    assert conversation.name == "a \ufffd"
