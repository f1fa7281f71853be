"""The mark at the end of text that still comes: never left standing where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QPaintEvent, QRegion, QTextCursor
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from resources.chat_tokens import CARET_WIDTH_PX
from resources.tokens import DARK
from widgets.message_body import MarkdownBody
from widgets.message_selection import SelectionGroup
from widgets.message_text import TextRun

pytestmark = pytest.mark.gui

_TEXT = """The lighthouse keeper wrote in his log every evening about the weather and the **light**.

The next day a storm came from the west and `lasted` until night, which he wrote down as well.

1. First he counted the lamps
2. then the oil

> a quote that goes on for a while, and for another while

| a | b |
|---|---|
| 1 | 2 |

سلام، این متن از راست به چپ است

Then it was over.
"""


class Watched:
    """A body in a scroll area, what of its last run was painted, and where its caret is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.painted: list[QRegion] = []
        real = TextRun.paintEvent

        def paint(run: TextRun, event: QPaintEvent) -> None:
            if run is self.run:
                self.painted.append(event.region())
            real(run, event)

        monkeypatch.setattr(TextRun, "paintEvent", paint)
        self.area = QScrollArea()
        self.area.resize(420, 900)
        self.area.setWidgetResizable(True)
        host = QWidget()
        self.body = MarkdownBody(DARK, SelectionGroup(self.area))
        column = QVBoxLayout(host)
        column.addWidget(self.body)
        column.addStretch(1)
        self.area.setWidget(host)

    @property
    def run(self) -> TextRun | None:
        last = self.body.parts[-1] if self.body.parts else None
        return last if isinstance(last, TextRun) else None

    def caret(self) -> QRect | None:
        """Where the mark is painted, inside of what can be seen."""
        if self.run is None:
            return None
        end = QTextCursor(self.run.document())
        end.movePosition(QTextCursor.MoveOperation.End)
        at = self.run.cursorRect(end)
        mark = QRect(at.x() + 1, at.y(), CARET_WIDTH_PX, at.height())
        return mark & self.run.viewport().rect()

    def show(self, text: str, *, is_growing: bool = True) -> None:
        """One tick."""
        self.body.push(text)
        self.painted.clear()
        self.body.show_some(float("inf"), is_growing=is_growing)
        for _ in range(3):
            QApplication.processEvents()


@pytest.fixture
def watched(shown: Callable[[QWidget], None], monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    made = Watched(monkeypatch)
    shown(made.area)
    yield made
    made.area.close()


def pieces(seed: int) -> Iterator[str]:
    random, at = Random(seed), 0
    while at < len(_TEXT):
        size = random.randint(1, 25)
        yield _TEXT[at : at + size]
        at += size


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_that_the_places_where_it_was_and_where_it_is_are_painted(
    watched: Watched, seed: int
) -> None:
    moves = 0
    for piece in pieces(seed):
        run, before = watched.run, watched.caret()
        watched.show(piece)
        after = watched.caret()
        is_same = watched.run is run
        if run is None or not is_same or before is None or after is None or before == after:
            continue
        moves += 1
        for place in (before & run.viewport().rect(), after):
            # At the end of a full line it stands outside of what can be seen.
            is_painted = any(QRegion(place).subtracted(each).isEmpty() for each in watched.painted)
            assert place.isEmpty() or is_painted, (place, piece)
    assert moves > 20


def test_that_it_goes_when_the_text_is_over(watched: Watched) -> None:
    for piece in pieces(1):
        watched.show(piece)
    place = watched.caret()
    assert place is not None
    watched.show("", is_growing=False)
    assert any(QRegion(place).subtracted(each).isEmpty() for each in watched.painted)
