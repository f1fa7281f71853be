from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.widgets.chatting import runs
from widgets.chat_view import ChatView
from widgets.message_record import Branch, UserRecord

pytestmark = pytest.mark.gui


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ChatView:
    view = ChatView()
    shown(view)
    return view


def entered(view: QWidget, data: QMimeData) -> QDragEnterEvent:
    event = QDragEnterEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    event.ignore()
    QApplication.sendEvent(view, event)
    return event


def test_that_files_dropped_on_a_conversation_are_told(view: ChatView) -> None:
    told: list[object] = []
    view.files_dropped.connect(told.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/some/notes.txt")])
    assert entered(view, data).isAccepted()
    assert view.composer.note_label.accessibleName() == "Drop to attach"
    drop = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(view, drop)
    assert told == [["/some/notes.txt"]]
    assert view.composer.note_label.accessibleName() != "Drop to attach"


def test_that_files_are_taken_over_a_message_too(view: ChatView) -> None:
    view.show_turns([UserRecord("You", "words", Branch(1))])
    view.messages_area.rows[0].wake()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/some/notes.txt")])
    assert entered(runs(view)[0].viewport(), data).isAccepted()
    assert view.composer.note_label.accessibleName() == "Drop to attach"


def test_that_what_is_no_file_is_not_taken(view: ChatView) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/picture.png")])
    assert not entered(view, data).isAccepted()


def test_that_files_that_go_elsewhere_leave_no_words(view: ChatView) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/some/notes.txt")])
    entered(view, data)
    QApplication.sendEvent(view, QDragLeaveEvent())
    assert view.composer.note_label.accessibleName() != "Drop to attach"
