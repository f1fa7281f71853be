from __future__ import annotations

import pytest

from app.conversation import Conversation
from engine_bridge.protocol import ChatMessage


def test_that_a_question_opens_an_answer() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Why?")
    assert conversation.is_answering
    assert conversation.to_messages() == (ChatMessage("user", "Why?"),)


def test_that_words_said_before_a_failure_are_kept() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Why?")
    conversation.append("Because the ")
    conversation.finish("failed")
    assert conversation.turns[-1].text == "Because the "
    assert conversation.can_continue


def test_that_text_after_the_end_of_an_answer_is_not_taken() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Why?")
    conversation.finish("end")
    conversation.append("late")
    assert conversation.turns[-1].text == ""


def test_that_the_system_prompt_comes_first_and_only_if_it_says_something() -> None:
    conversation = Conversation("a", 1, system_prompt="  ")
    conversation.ask("Hi")
    assert [m.role for m in conversation.to_messages()] == ["user"]
    conversation.system_prompt = "Be brief."
    assert [m.role for m in conversation.to_messages()] == ["system", "user"]


def test_that_going_on_takes_up_the_same_answer() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Count")
    conversation.append("1, 2")
    conversation.finish("token_limit")
    conversation.open_answer()
    conversation.append(", 3")
    assert [turn.text for turn in conversation.turns] == ["Count", "1, 2, 3"]


def test_that_an_answer_without_words_is_dropped_before_a_retry() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Count")
    conversation.finish("failed")
    conversation.drop_empty_answer()
    assert [turn.role for turn in conversation.turns] == ["user"]


def test_that_a_completion_is_the_whole_text_as_one() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Once upon")
    conversation.append(" a time")
    conversation.finish("token_limit")
    assert conversation.to_completion() == (ChatMessage("user", "Once upon a time"),)


def test_that_a_title_is_the_first_words_on_one_line() -> None:
    conversation = Conversation("a", 3)
    assert conversation.title == "Chat 3"
    conversation.ask("Rename the class\nto PromptLookup and keep the rest as it is.")
    assert conversation.title == "Rename the class to PromptL…"


def test_that_a_question_without_an_answer_is_told_with_the_next_one() -> None:
    conversation = Conversation("a", 1, system_prompt="Be brief.")
    conversation.ask("Why?")
    conversation.finish("failed")
    conversation.ask("I mean the sky.")
    conversation.append("Rayleigh")
    assert conversation.to_messages() == (
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Why?\n\nI mean the sky."),
        ChatMessage("assistant", "Rayleigh"),
    )
    assert [turn.text for turn in conversation.turns] == ["Why?", "", "I mean the sky.", "Rayleigh"]


def test_that_a_refused_question_can_be_taken_back() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("first")
    conversation.append("answer")
    conversation.finish("end")
    conversation.ask("far too long")
    conversation.finish("failed")
    assert conversation.take_back() == "far too long"
    assert [turn.text for turn in conversation.turns] == ["first", "answer"]


def test_that_a_question_with_an_answer_is_not_taken_back() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("first")
    conversation.append("so far")
    conversation.finish("failed")
    assert conversation.take_back() == ""
    assert len(conversation.turns) == 2


def answered(conversation: Conversation, question: str, answer: str) -> None:
    conversation.ask(question, "Toy")
    conversation.append(answer)
    conversation.finish("end", "TTFT 1 s")


def test_that_another_answer_stands_beside_the_old_one() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "Why?", "Because.")
    conversation.answer_again(2, "Other")
    conversation.append("No reason.")
    conversation.finish("end")
    assert [turn.text for turn in conversation.turns] == ["Why?", "No reason."]
    assert conversation.siblings(3) == (2, 3)
    conversation.choose(2)
    assert [turn.text for turn in conversation.turns] == ["Why?", "Because."]
    assert [turn.model for turn in conversation.tree.values()] == ["", "Toy", "Other"]


def test_that_a_question_put_otherwise_leaves_what_followed_the_old_one() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "one", "1")
    answered(conversation, "two", "2")
    conversation.ask_instead(1, "uno")
    conversation.append("I")
    conversation.finish("end")
    assert [turn.text for turn in conversation.turns] == ["uno", "I"]
    conversation.choose(1)
    assert [turn.text for turn in conversation.turns] == ["one", "1", "two", "2"]


def test_that_a_refused_second_answer_brings_the_first_one_back() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "one", "1")
    answered(conversation, "two", "2")
    conversation.answer_again(2)
    conversation.finish("failed")
    assert conversation.take_back() == ""
    assert [turn.text for turn in conversation.turns] == ["one", "1", "two", "2"]
    assert len(conversation.tree) == 4


def test_that_a_refused_question_put_otherwise_brings_the_old_one_back() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "one", "1")
    answered(conversation, "two", "2")
    conversation.ask_instead(1, "far too long")
    conversation.finish("failed")
    assert conversation.take_back() == "far too long"
    assert [turn.text for turn in conversation.turns] == ["one", "1", "two", "2"]


def test_that_a_refused_branch_leads_back_to_the_one_it_was_begun_from() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "one", "1")
    conversation.ask_instead(1, "uno")
    conversation.append("I")
    conversation.finish("end")
    conversation.choose(1)
    conversation.ask_instead(1, "far too long")
    conversation.finish("failed")
    conversation.take_back()
    assert [turn.text for turn in conversation.turns] == ["one", "1"]


def test_that_branches_are_not_changed_while_an_answer_is_written() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "one", "1")
    conversation.ask("two")
    with pytest.raises(ValueError, match="being written"):
        conversation.choose(1)
    with pytest.raises(ValueError, match="being written"):
        conversation.answer_again(2)
    with pytest.raises(ValueError, match="being written"):
        conversation.ask_instead(1, "uno")
    assert conversation.is_answering


def test_that_only_the_branch_shown_is_told_to_the_engine() -> None:
    conversation = Conversation("a", 1)
    answered(conversation, "one", "1")
    conversation.answer_again(2)
    assert conversation.to_messages() == (ChatMessage("user", "one"),)
