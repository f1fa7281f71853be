"""Conversations between their store, the engine and their views, with a real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.conversation import Conversation
from app.window import Window
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama
from tests.window.conftest import PATIENCE_MS
from widgets.attached_text import Attached
from widgets.chat_view import ChatView
from widgets.message_answer import AnswerView
from widgets.message_user import UserMessage

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def front(window: Window) -> tuple[Conversation, ChatView]:
    name = window.chat.current_id()
    return window.desk.chats.conversation(name), window.chat.conversation(name)


def wait_quiet(window: Window, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.desk.chats.answering_count() == 0, timeout=PATIENCE_MS)


def ask(window: Window, qtbot: QtBot, text: str) -> None:
    front(window)[1].submit(text)
    wait_quiet(window, qtbot)


def shown(view: ChatView) -> list[str]:
    """The texts of all messages that stand in the view."""
    return [row.record.text for row in view.messages_area.rows]


def stored() -> Conversation:
    conversation = Conversation("stored", 1, "Be brief.", "My chat")
    for number in range(30):
        conversation.ask(f"Question {number}", "Toy")
        conversation.append(f"<think>Hm {number}</think>Answer {number}")
        conversation.finish("end", f"TTFT {number} s")
    return conversation


def test_that_another_answer_and_the_first_one_can_both_be_seen(
    loaded_window: Window, qtbot: QtBot
) -> None:
    ask(loaded_window, qtbot, "Hello")
    conversation, view = front(loaded_window)
    first = conversation.turns[-1].text
    used = loaded_window.desk.chats
    reused: list[int] = []
    used.answer_started.connect(lambda _, event: reused.append(event.reused_tok))
    view.rows.ask_again()
    wait_quiet(loaded_window, qtbot)
    assert conversation.siblings(2) == (2, 3)
    answer = view.rows.last_answer()
    assert answer is not None
    assert answer.footer.switch.label.text() == "2/2"
    assert reused[0] > 0  # the question lies in the slot already
    answer.footer.switch.previous_button.click()
    assert shown(view) == ["Hello", first]
    assert view.rows.last_answer() is not answer


def test_that_a_question_put_otherwise_is_answered_in_a_branch(
    loaded_window: Window, qtbot: QtBot
) -> None:
    ask(loaded_window, qtbot, "Hello")
    ask(loaded_window, qtbot, "And then?")
    conversation, view = front(loaded_window)
    before = shown(view)
    message = view.messages_area.rows[0].live
    assert isinstance(message, UserMessage)
    message.start_edit()
    assert message.editor is not None
    message.editor.editor.setPlainText("Good morning")
    message.editor.send_button.click()
    wait_quiet(loaded_window, qtbot)
    assert shown(view) == ["Good morning", conversation.turns[-1].text]
    view.rows.step_branch(-1)
    assert shown(view) == before


def test_that_a_second_answer_that_is_refused_leaves_the_first(
    loaded_window: Window, qtbot: QtBot
) -> None:
    ask(loaded_window, qtbot, "Hello")
    conversation, view = front(loaded_window)
    before = shown(view)
    view.header.set_system_prompt("many words " * 2000)
    with qtbot.waitSignal(loaded_window.desk.chats.answer_refused, timeout=PATIENCE_MS):
        view.rows.ask_again()
    assert shown(view) == before
    assert len(conversation.tree) == 2
    assert not view.draft()


def test_that_a_refused_question_is_not_lost_to_what_is_written_meanwhile(
    loaded_window: Window, qtbot: QtBot
) -> None:
    _, view = front(loaded_window)
    with qtbot.waitSignal(loaded_window.desk.chats.answer_refused, timeout=PATIENCE_MS):
        view.submit("many words " * 1000)
        assert view.set_draft_text("Something else")
    draft = view.composer.draft()
    assert draft.typed == "Something else"
    assert draft.attached == (Attached("", "many words " * 1000),)


def test_that_a_stored_conversation_is_opened_as_it_was_and_goes_on(
    loaded_window: Window, qtbot: QtBot
) -> None:
    untouched = loaded_window.chat.current_id()
    loaded_window.chat_wiring.adopt(stored())
    conversation, view = front(loaded_window)
    assert conversation.id == "stored"
    assert untouched not in loaded_window.chat.conversation_ids()
    assert view.system_prompt() == "Be brief."
    answer = view.rows.last_answer()
    assert isinstance(answer, AnswerView)
    assert answer.footer.figures_text() == "TTFT 29 s"
    assert answer.answer_text() == "Answer 29"
    assert "≈" in view.composer.context_label.text()
    loaded_window.chat_wiring.adopt(stored())
    assert loaded_window.chat.conversation_ids().count("stored") == 1
    loaded_window.desk.session.commit("ctx_per_slot_tok", 2048)
    loaded_window.desk.session.apply()
    qtbot.waitUntil(lambda: loaded_window.desk.session.cost() is None, timeout=PATIENCE_MS)
    ask(loaded_window, qtbot, "Go on")
    assert len(view.messages_area.rows) == 62
    assert "≈" not in view.composer.context_label.text()


def test_that_another_model_does_not_inherit_the_count_of_tokens(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    loaded_window.desk.session.want({"max_new_tok": -1})
    loaded_window.desk.session.apply()
    ask(loaded_window, qtbot, "Hello")
    conversation, view = front(loaded_window)
    label = view.composer.context_label
    answer = view.rows.last_answer()
    assert answer is not None
    assert conversation.turns[-1].end == "context_full"
    assert "≈" not in label.text()
    assert answer.footer.continue_button.isHidden()
    other = write_tiny_llama(tmp_path / "other.gguf", TinyLlama(chat_template=CHATML))
    loaded_window.engine_wiring.load(str(other))
    qtbot.waitUntil(lambda: "≈" in label.text(), timeout=PATIENCE_MS)


def test_that_files_are_read_and_attached_and_a_model_is_told_of(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    _, view = front(loaded_window)
    (tmp_path / "notes.txt").write_text("one\n")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\0\0\0" + bytes(range(256)))
    told: list[str] = []
    loaded_window.chat_wiring.model_dropped.connect(told.append)
    view.files_dropped.emit([str(tmp_path / "notes.txt"), str(tmp_path / "Model.GGUF")])
    qtbot.waitUntil(lambda: bool(view.composer.chips()))
    assert view.composer.draft().attached == (Attached("notes.txt", "one\n"),)
    assert told == [str(tmp_path / "Model.GGUF")]
    view.files_dropped.emit([str(tmp_path / "photo.png")])
    qtbot.waitUntil(view.composer.trouble_label.isVisible)
    assert "not a text file" in view.composer.trouble_label.text()


def test_that_a_thought_the_template_opened_is_folded_and_counted(
    open_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    template = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
    shape = TinyLlama(vocab_tok=512, chat_template=template)
    window = open_window(temperature=0.0, max_new_tok=8)
    window.engine_wiring.load(str(write_tiny_llama(tmp_path / "thinker.gguf", shape)))
    qtbot.waitUntil(lambda: window.desk.session.applied is not None, timeout=PATIENCE_MS)
    ask(window, qtbot, "Hello")
    conversation, view = front(window)
    turn = conversation.turns[-1]
    answer = view.rows.last_answer()
    assert answer is not None
    assert answer.thought is not None
    assert turn.starts_in_thought
    assert turn.think_tok > 0
    assert answer.thought.button.text() == f"Thought · {turn.think_tok} tok"
    assert f"({turn.think_tok} thought)" in answer.footer.figures_text()
    assert answer.answer_text() == ""


def test_that_many_files_at_once_are_taken_within_reason(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    _, view = front(loaded_window)
    paths = []
    for number in range(30):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(b"\0\1\2" * 50 if number < 6 else b"words")
        paths.append(str(path))
    view.files_dropped.emit(paths)
    qtbot.waitUntil(view.composer.trouble_label.isVisible)
    assert len(view.composer.chips()) == 14
    lines = view.composer.trouble_label.text().split("\n")
    assert lines[0] == "0.txt is not a text file; the model could make nothing of it."
    assert lines[-2:] == [
        "3 more of them were not taken.",
        "Only the first 20 of 30 files were looked at.",
    ]


def test_that_an_answer_cut_by_the_end_of_the_program_can_be_gone_on_with(
    open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window = open_window(temperature=0.0, max_new_tok=8)
    conversation = Conversation("cut", 1)
    conversation.ask("Hello")
    conversation.append("so far")
    window.chat_wiring.adopt(conversation)
    answer = front(window)[1].rows.last_answer()
    assert answer is not None
    assert answer.footer.reason.text() == "The program ended during this answer."
    assert not answer.footer.continue_button.isVisible()
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(answer.footer.continue_button.isVisible, timeout=PATIENCE_MS)
    answer.footer.continue_button.click()
    wait_quiet(window, qtbot)
    assert conversation.turns[-1].text.startswith("so far")
    assert len(conversation.turns[-1].text) > len("so far")


def test_that_a_file_read_for_a_closed_conversation_is_for_nobody(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("one\n")
    name = loaded_window.chat_wiring.open_conversation()
    loaded_window.chat.conversation(name).files_dropped.emit([str(tmp_path / "notes.txt")])
    loaded_window.chat.conversation_closed.emit(name)
    _, view = front(loaded_window)
    ask(loaded_window, qtbot, "Hello")
    assert not view.composer.chips()


def test_that_a_draft_too_long_is_said_before_it_is_sent(
    loaded_window: Window, qtbot: QtBot
) -> None:
    _, view = front(loaded_window)
    view.composer.attach(Attached("book.txt", "many words " * 1000))
    qtbot.waitUntil(view.composer.notice_label.isVisible, timeout=PATIENCE_MS)
    assert "will not fit" in view.composer.notice_label.text()


def test_that_the_whole_conversation_can_be_copied(loaded_window: Window, qtbot: QtBot) -> None:
    loaded_window.chat_wiring.adopt(stored())
    _, view = front(loaded_window)
    view.conversation_copy_requested.emit()
    text = QGuiApplication.clipboard().text()
    assert "Question 0" in text
    assert "Answer 29" in text
