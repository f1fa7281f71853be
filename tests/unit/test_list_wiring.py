"""The list, the tabs and the store together: nothing is lost by closing, all of it by two deeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.chat_wiring import ChatWiring
from app.conversation import Conversation
from app.desk import Desk
from app.file_names import safe_file_name
from app.list_wiring import ListWiring
from app.storage.conversation_store import ConversationStore
from engine_bridge.engine_state import death_by_exit
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient
from tests.widgets.finding import child
from widgets.chat_tabs import ChatTabs
from widgets.conversation_list import ConversationList
from widgets.message_text import TextRun


def said(name: str, question: str, answer: str = "An answer.") -> Conversation:
    conversation = Conversation(name, 1)
    conversation.ask(question)
    conversation.append(answer)
    conversation.finish("end")
    return conversation


class Bench(QWidget):
    """A window with tabs and a list over a store with three conversations."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        store = ConversationStore(folder)
        for conversation in (
            said("a", "What is a slot?", "A slot holds the cells of one conversation."),
            said("b", "Write about zebras"),
            said("c", "Größe des Caches"),
        ):
            store.keep(conversation)
        store.close()
        self.client = FakeClient()
        self.desk = Desk(
            EngineConfig(),
            self.client,  # type: ignore[arg-type]
            self,
            store=ConversationStore(folder),
        )
        assert self.desk.keeping is not None
        self.chats, self.keeping = self.desk.chats, self.desk.keeping
        self.tabs = ChatTabs(parent=self)
        self.panel = ConversationList(self)
        chatting = ChatWiring(self.desk, self.tabs, self)
        self.wiring = ListWiring(self.keeping, self.chats, self.tabs, self.panel, chatting.adopt)

    def tab_ids(self) -> set[str]:
        """Ids of the stored conversations that have a tab."""
        return set(self.tabs.conversation_ids()) & {"a", "b", "c"}

    def listed(self) -> set[str]:
        model = self.panel.model
        rows = (model.conversation_at(model.index(at)) for at in range(model.rowCount()))
        return {row.id for row in rows if row is not None}

    def press(self, key: Qt.Key, *, ctrl: bool = False) -> None:
        modifier = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(self.panel.view, key, modifier)


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    qtbot.addWidget(made)
    made.show()
    made.keeping.start()
    qtbot.waitUntil(lambda: made.listed() == {"a", "b", "c"})
    yield made
    assert made.keeping.close() == ""


@pytest.fixture
def opened(bench: Bench, qtbot: QtBot) -> Callable[[str], None]:
    def open_one(name: str) -> None:
        bench.wiring.open(name)
        qtbot.waitUntil(lambda: bench.tabs.current_id() == name)

    return open_one


def test_that_a_row_opens_its_conversation_and_then_brings_its_tab_to_the_front(
    bench: Bench, qtbot: QtBot, opened: Callable[[str], None]
) -> None:
    bench.panel.select("a")
    with qtbot.waitSignal(bench.wiring.conversation_shown) as shown:
        bench.press(Qt.Key.Key_Return)
    assert shown.args == ["a"]
    assert bench.tabs.conversation_ids() == ("a",)  # the untouched one made room
    assert bench.panel.model.is_open("a")
    opened("b")
    bench.panel.select("a")
    with qtbot.waitSignal(bench.wiring.conversation_shown):
        bench.press(Qt.Key.Key_Return)
    assert bench.tabs.current_id() == "a"
    assert bench.tabs.conversation_ids() == ("a", "b")


def test_that_a_closed_tab_is_only_put_away(bench: Bench, opened: Callable[[str], None]) -> None:
    opened("a")
    bench.tabs.conversation_closed.emit("a")
    assert "a" in bench.listed()
    assert not bench.panel.model.is_open("a")
    opened("a")
    assert bench.chats.conversation("a").turns[0].text == "What is a slot?"


def test_that_deleting_closes_the_tab_and_undo_brings_it_back(
    bench: Bench, qtbot: QtBot, opened: Callable[[str], None]
) -> None:
    opened("a")
    bench.panel.select("a")
    bench.press(Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: bench.tab_ids() == set())
    assert bench.listed() == {"b", "c"}
    bench.press(Qt.Key.Key_Z, ctrl=True)
    qtbot.waitUntil(lambda: bench.tabs.current_id() == "a")
    qtbot.waitUntil(lambda: bench.listed() == {"a", "b", "c"})
    assert bench.chats.conversation("a").turns[1].text.startswith("A slot holds")


def test_that_undo_opens_no_tab_that_was_not_there(bench: Bench, qtbot: QtBot) -> None:
    bench.panel.select("b")
    with qtbot.waitSignal(bench.keeping.deleted):
        bench.press(Qt.Key.Key_Delete)
    with qtbot.waitSignal(bench.keeping.restored):
        bench.press(Qt.Key.Key_Z, ctrl=True)
    qtbot.waitUntil(lambda: bench.listed() == {"a", "b", "c"})
    assert bench.tab_ids() == set()
    place = bench.panel.model.conversation_at(bench.panel.view.currentIndex())
    assert place is not None
    assert place.id == "b"


def test_that_what_cannot_be_deleted_is_back_in_the_list(
    bench: Bench, qtbot: QtBot, tmp_path: Path
) -> None:
    """It is open in another copy of the program."""
    other = ConversationStore(tmp_path)
    other.open("b")
    bench.panel.select("b")
    bench.press(Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: bool(bench.panel.problem_bar.sentence()))
    assert "another window" in bench.panel.problem_bar.sentence()
    assert "b" in bench.listed()
    other.close()


def test_that_a_new_title_is_in_the_list_and_on_the_tab(
    bench: Bench, qtbot: QtBot, opened: Callable[[str], None]
) -> None:
    opened("a")
    for name, title in (("a", "Open one"), ("b", "Closed one")):
        bench.panel.select(name)
        bench.press(Qt.Key.Key_F2)
        editor = child(bench.panel.view.viewport(), QLineEdit)
        editor.setText(title)
        with qtbot.waitSignal(bench.keeping.entries_listed):
            QTest.keyClick(editor, Qt.Key.Key_Return)
        assert bench.panel.model.place_of(name).data() == title
    assert bench.chats.conversation("a").title == "Open one"


def test_that_a_copy_is_a_conversation_of_its_own(bench: Bench, qtbot: QtBot) -> None:
    bench.panel.conversation_duplicated.emit("a")
    qtbot.waitUntil(lambda: len(bench.listed()) == 4)


def test_that_a_search_finds_what_was_said(bench: Bench, qtbot: QtBot) -> None:
    QTest.keyClicks(bench.panel.search, "cells")
    qtbot.waitUntil(lambda: bench.listed() == {"a"})
    row = bench.panel.model.conversation_at(bench.panel.model.index(0))
    assert row is not None
    (mark,) = row.marks
    assert row.words[mark[0] : mark[1]] == "cells"
    bench.panel.search.setText("grosse")
    qtbot.waitUntil(lambda: bench.listed() == {"c"})
    bench.panel.search.setText("nobody said this")
    qtbot.waitUntil(lambda: "No conversation" in bench.panel.message())
    QTest.keyClick(bench.panel.search, Qt.Key.Key_Escape)
    assert bench.listed() == {"a", "b", "c"}


def test_that_an_answer_is_marked_while_it_is_written(
    bench: Bench, opened: Callable[[str], None]
) -> None:
    opened("b")
    bench.chats.send("b", "And lions?")
    assert bench.panel.model.is_streaming("b")
    bench.client.engine_died.emit(death_by_exit(1, "idle", [], ()))
    assert not bench.panel.model.is_streaming("b")


def test_that_what_is_said_moves_a_conversation_up(
    bench: Bench, qtbot: QtBot, opened: Callable[[str], None]
) -> None:
    before = bench.panel.model.conversation_at(bench.panel.model.place_of("a"))
    assert before is not None
    opened("a")
    with qtbot.waitSignal(bench.keeping.entry_changed):
        bench.chats.send("a", "More")
    after = bench.panel.model.conversation_at(bench.panel.model.place_of("a"))
    assert after is not None
    assert after.changed_s > before.changed_s
    assert bench.panel.model.place_of("a").row() == 1  # behind “Today”


@pytest.mark.parametrize(("kind", "ending"), [("markdown", "md"), ("json", "json")])
def test_that_an_export_is_asked_for_with_a_safe_name_and_written(
    bench: Bench, qtbot: QtBot, tmp_path: Path, kind: str, ending: str
) -> None:
    bench.panel.export_chosen.emit("a", kind)
    dialog = child(bench, QFileDialog)
    assert not dialog.isModal() or dialog.isVisible()  # the window goes on meanwhile
    assert Path(dialog.selectedFiles()[0]).name == f"What is a slot.{ending}"
    target = tmp_path / f"out.{ending}"
    with qtbot.waitSignal(bench.keeping.exported):
        dialog.fileSelected.emit(str(target))
    dialog.reject()
    assert str(target) in bench.panel.problem_bar.sentence()
    text = target.read_text(encoding="utf-8")
    assert "A slot holds" in (json.loads(text)["turns"][1]["text"] if kind == "json" else text)


def test_that_a_failed_export_is_a_sentence(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    bench.keeping.export_to("a", target, "json")
    qtbot.waitUntil(lambda: bool(bench.panel.problem_bar.sentence()))
    assert "could not be exported" in bench.panel.problem_bar.sentence()


def test_that_a_list_that_cannot_be_read_can_be_read_again(qtbot: QtBot, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    qtbot.addWidget(bench)
    bench.keeping.failed.emit("The conversations could not be read: the drive does not answer.")
    assert "could not be read" in bench.panel.message()
    bench.panel.retried.emit()
    qtbot.waitUntil(lambda: bench.listed() == {"a", "b", "c"})
    bench.keeping.close()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Why is prefill slower?", "Why is prefill slower"),
        ('a/b\\c: d*e\n"f"', "a b c d e f"),
        ("..hidden. ", "hidden"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console", "console"),
        ("\u202egnp.exe", "gnp.exe"),
        ("", "conversation"),
        ("///", "conversation"),
        ("\ud800", "conversation"),
        ("🚲" * 200, "🚲" * 50),
        ("x" * 300, "x" * 80),
    ],
)
def test_that_a_title_makes_a_file_name_that_every_system_takes(words: str, name: str) -> None:
    assert safe_file_name(words, "conversation") == name


def test_that_a_hit_in_another_branch_opens_that_branch_and_marks_the_words(
    bench: Bench, qtbot: QtBot, opened: Callable[[str], None]
) -> None:
    opened("b")
    conversation = bench.chats.conversation("b")
    first = conversation.turns[-1]
    first.text = "Zebras are Größer than this."
    conversation.answer_again(first.id)
    conversation.append("Another answer.")
    conversation.finish("end")
    bench.chats.branch_changed.emit("b")
    bench.chats.conversation_touched.emit("b")
    assert conversation.turns[-1].id != first.id
    QTest.keyClicks(bench.panel.search, "GROSSER")
    qtbot.waitUntil(lambda: bench.listed() == {"b"})
    bench.panel.conversation_opened.emit("b")
    assert conversation.turns[-1].id == first.id
    view = bench.tabs.conversation("b")

    def marked() -> list[str]:
        return [
            QTextCursor(selection.cursor).selectedText()
            for run in view.findChildren(TextRun)
            for selection in run.extraSelections()
        ]

    qtbot.waitUntil(lambda: marked() == ["Größer"])
    QTest.keyClick(bench.panel.search, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: marked() == [])


def test_that_a_hit_in_a_closed_conversation_is_marked_once_it_is_open(
    bench: Bench, qtbot: QtBot
) -> None:
    QTest.keyClicks(bench.panel.search, "cells")
    qtbot.waitUntil(lambda: bench.listed() == {"a"})
    bench.panel.conversation_opened.emit("a")
    qtbot.waitUntil(lambda: bench.tabs.current_id() == "a")
    view = bench.tabs.conversation("a")
    qtbot.waitUntil(lambda: any(r.extraSelections() for r in view.findChildren(TextRun)))
