"""Text that comes in pieces: of Markdown runs and code blocks below each other, else as it came.

What comes only fills a buffer; whoever owns the body calls ``show_some`` when there is time, and
finished blocks are rendered once, the tail as it grows.
"""

from __future__ import annotations

import time
from collections import deque

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from resources.tokens import STEP_PX, Palette
from widgets.markdown_blocks import BlockSplitter, CodeEnd, CodeStart, CodeText, Piece, Prose
from widgets.message_code import CodeBlock
from widgets.message_code import CodeText as CodeView
from widgets.message_selection import SelectionGroup
from widgets.message_text import TextRun

_SLICE_CHARS = 512


class MarkdownBody(QWidget):
    """The parts of one text.

    Signals:
        link_activated: A web address that was clicked.
        painted: ``time.perf_counter_ns()`` after the first paint that showed text.
    """

    link_activated = Signal(str)
    painted = Signal(object)

    def __init__(
        self, palette: Palette, selection: SelectionGroup, parent: QWidget | None = None
    ) -> None:
        """Create an empty body.

        Args:
            palette: Colours.
            selection: Of the conversation; the parts belong to this widget.
            parent: Owner.
        """
        super().__init__(parent)
        self._palette = palette
        self._selection = selection
        self._owner: QWidget = self
        self._pending: deque[str] = deque()
        self._splitter = BlockSplitter()
        self._run: TextRun | None = None
        self._code: CodeBlock | None = None
        self.parts: list[TextRun | CodeBlock] = []
        self._is_paint_awaited = False
        self._focus_before: QWidget | None = None
        self._role = "bare"
        self._is_plain = False
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(2 * STEP_PX)

    @property
    def has_pending(self) -> bool:
        """Whether text has come that is not shown yet."""
        return bool(self._pending)

    def be_muted(self) -> None:
        """Show text in the colour of what is beside the point."""
        self._role = "bare-muted"

    def be_plain(self) -> None:
        """Show what comes as it comes, every line of it: it may be code, and is no Markdown."""
        self._is_plain = True

    def belong_to(self, owner: QWidget, focus_before: QWidget) -> None:
        """Let Ctrl+A take all of ``owner``; copy buttons are reached before ``focus_before``."""
        self._owner = owner
        self._focus_before = focus_before

    def push(self, text: str) -> None:
        """Take more text; costs no more than keeping it."""
        if self._pending and len(self._pending[-1]) + len(text) <= _SLICE_CHARS:
            self._pending[-1] += text  # one piece to render, however many tokens made it
        else:
            self._pending.extend(
                text[start : start + _SLICE_CHARS] for start in range(0, len(text), _SLICE_CHARS)
            )

    def show_some(self, deadline_s: float, *, is_growing: bool) -> None:
        """Show what came, as far as the time goes.

        Args:
            deadline_s: By ``time.perf_counter``; one block may go over by about 5 ms.
            is_growing: More text may follow.
        """
        while self._pending and time.perf_counter() < deadline_s:
            text = self._pending.popleft()
            if self._is_plain:
                self._take_plain(text)
                continue
            for piece in self._splitter.feed(text):
                self._take(piece)
        if self._is_plain:
            self._show_caret(is_growing=is_growing)
        else:
            self._show_tail(is_growing=is_growing)

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        for part in self.parts:
            part.set_palette(palette)

    def fit(self) -> None:
        """Be laid out now instead of in the next turn."""
        self._layout.activate()

    def await_paint(self) -> None:
        """Say once, by ``painted``, when text has been painted."""
        self._is_paint_awaited = True

    def forget_paint(self) -> None:
        """Say nothing of paints."""
        self._is_paint_awaited = False
        for part in self.parts[:1]:
            _text_of(part).forget_paint()

    # --- Inside -------------------------------------------------------------------------------

    def _take(self, piece: Piece) -> None:
        match piece:
            case Prose(markdown):
                self._prose_run().append_finished(markdown)
            case CodeStart(language, indent):
                self._open_code(language, indent)
            case CodeText(text):
                if self._code is not None:
                    self._code.append_code(text)
            case CodeEnd():
                if self._code is not None:
                    self._code.text.set_caret(is_shown=False)
                self._code = None

    def _take_plain(self, text: str) -> None:
        run = self._run
        if run is not None and run.is_full and "\n" in text:
            # The next run stands on a line of its own, which is what this line end is for.
            before, _, text = text.partition("\n")
            run.append_plain(before)
            run = None
        elif run is not None and run.is_overfull:
            run = None
        if run is None:
            self._run = None
            run = self._prose_run()
        run.append_plain(text)

    def _show_tail(self, *, is_growing: bool) -> None:
        is_final = not is_growing and not self._pending
        tail = self._splitter.tail(is_final=is_final)
        if tail:
            self._prose_run().set_tail(tail)
        elif self._run is not None:
            self._run.set_tail("")
        if is_final and self._code is not None and (held := self._splitter.take_held_code()):
            self._code.append_code(held)
        self._show_caret(is_growing=is_growing)

    def _show_caret(self, *, is_growing: bool) -> None:
        last = self.parts[-1] if self.parts else None
        for part in self.parts[-2:]:
            _text_of(part).set_caret(is_shown=is_growing and part is last)

    def _prose_run(self) -> TextRun:
        if self._run is None or self._run.is_full:
            run = TextRun(self._palette)
            run.setProperty("role", self._role)
            run.link_activated.connect(self.link_activated)
            if self._is_plain:
                run.be_mono()
            self._add(run)
            self._run = run
        return self._run

    def _open_code(self, language: str, indent: int) -> None:
        if self._run is not None:
            self._run.set_tail("")
            self._run = None
        self._code = CodeBlock(language, indent, self._palette)
        self._add(self._code)

    def _add(self, part: TextRun | CodeBlock) -> None:
        text = _text_of(part)
        text.painted.connect(self.painted)
        if self._is_paint_awaited and not self.parts:
            text.await_paint()
        self.parts.append(part)
        self._selection.add(text, self._owner)
        row = QHBoxLayout()
        row.setContentsMargins(part.indent_px if isinstance(part, CodeBlock) else 0, 0, 0, 0)
        row.addWidget(part)
        self._layout.addLayout(row)
        part.show()  # now, not in the next turn: it counts in the layout from here on
        if isinstance(part, CodeBlock) and self._focus_before is not None:
            _order_focus(part, self._focus_before)


def _text_of(part: TextRun | CodeBlock) -> TextRun | CodeView:
    return part.text if isinstance(part, CodeBlock) else part


def _order_focus(part: CodeBlock, last: QWidget) -> None:
    """Reach the copy button of ``part`` before ``last``."""
    # Qt's chain is not asked for what stands before it: PySide takes what it names for a child of
    # ``last``, and declares dead what belongs to it when ``last`` goes.
    QWidget.setTabOrder(last, part.copy_button)
    QWidget.setTabOrder(part.copy_button, last)
