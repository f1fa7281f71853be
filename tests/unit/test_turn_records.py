from __future__ import annotations

from app.conversation import Conversation
from app.turn_records import branch_of, records_of
from widgets.message_record import AnswerRecord, Branch, UserRecord


def talked() -> Conversation:
    conversation = Conversation("a", 1)
    conversation.ask("one", "Toy")
    conversation.append("A")
    conversation.finish("token_limit", "TTFT 1 s", "The limit is reached.")
    return conversation


def test_that_a_stored_answer_shows_what_it_cost_and_why_it_ended() -> None:
    conversation = talked()
    conversation.tree[2].think_tok = 7
    conversation.tree[2].starts_in_thought = True
    assert records_of(conversation) == [
        UserRecord("You", "one", Branch(1)),
        AnswerRecord(
            "Toy", "A", False, "TTFT 1 s", "The limit is reached.", True, Branch(2), 7, True
        ),
    ]


def test_that_branches_are_counted_in_their_place() -> None:
    conversation = talked()
    conversation.answer_again(2)
    conversation.append("B")
    conversation.finish("end")
    conversation.ask_instead(1, "uno")
    conversation.append("C")
    conversation.finish("end")
    assert [record.branch for record in records_of(conversation)] == [Branch(4, 2, 2), Branch(5)]
    assert branch_of(conversation, 2) == Branch(2, 1, 2)
    conversation.choose(1)
    assert [record.branch for record in records_of(conversation)] == [
        Branch(1, 1, 2),
        Branch(3, 2, 2),
    ]


def test_that_an_answer_that_only_begins_is_left_to_who_begins_it() -> None:
    conversation = talked()
    conversation.ask("two")
    assert [record.text for record in records_of(conversation)] == ["one", "A", "two"]
    conversation.append("B")
    last = records_of(conversation)[-1]
    assert isinstance(last, AnswerRecord)
    assert last.is_streaming


def test_that_what_a_base_model_wrote_is_plain_whatever_is_loaded_now() -> None:
    conversation = talked()
    conversation.tree[2].is_completion = True
    for is_completion in (True, False):
        record = records_of(conversation, is_completion=is_completion)[-1]
        assert isinstance(record, AnswerRecord)
        assert record.is_plain


def test_that_a_base_model_s_user_writes_text() -> None:
    [first, _] = records_of(talked(), is_completion=True)
    assert isinstance(first, UserRecord)
    assert first.sender == "Text"
