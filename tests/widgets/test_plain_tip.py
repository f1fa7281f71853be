"""Words that others wrote are shown as they are: as a tip, and with the found part marked."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from widgets.conversation_list_delegate import utf16_length
from widgets.conversation_list_model import ConversationListModel, ListedConversation
from widgets.elided_label import ElidedLabel
from widgets.plain_tip import plain_tip

pytestmark = pytest.mark.gui

NASTY = ["<img src='/dev/zero'>", "<b>bold</b> & <br>", "&lt;p&gt;", "a\n<i>b", "5 < 6 & 7 > 2"]


def shown(tip: str) -> str:
    """What a tip reads as, by the rule of Qt: what begins like markup is markup."""
    document = QTextDocument()
    if tip.startswith("<"):
        document.setHtml(tip)
    else:
        document.setPlainText(tip)
    return document.toPlainText()


@pytest.mark.parametrize("words", [*NASTY, "plain", "two\nlines"])
def test_that_a_tip_shows_the_words_as_they_are(qtbot: QtBot, words: str) -> None:
    assert shown(plain_tip(words)) == words


def test_that_a_tip_of_a_book_is_short() -> None:
    assert len(plain_tip("<" * 5_000_000)) < 10_000


@pytest.mark.parametrize("title", NASTY)
def test_that_a_title_in_the_list_is_no_markup(qtbot: QtBot, title: str) -> None:
    model = ConversationListModel()
    model.show([ListedConversation("a", title, 1_780_000_000.0)])
    tip = model.data(model.index(1), Qt.ItemDataRole.ToolTipRole)
    assert isinstance(tip, str)
    assert shown(tip).startswith(title)


def test_that_a_shortened_title_is_no_markup(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.resize(20, 20)
    label.set_text("<img src='/dev/zero'> is the title")
    assert shown(label.toolTip()) == "<img src='/dev/zero'> is the title"


def test_that_a_mark_behind_an_emoji_is_where_the_hit_is() -> None:
    text = "🎛 ünï 模 hit"
    assert utf16_length(text[: text.index("hit")]) == text.index("hit") + 1
