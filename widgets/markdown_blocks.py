"""Cuts a stream of Markdown into finished blocks, code and an unfinished tail.

Knows the shape of Markdown's lines and nothing of Qt. A finished block never changes again, so
that it is rendered once; only the tail, which is short by construction, is rendered as it grows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from widgets.markdown_bidi import safe_cut

# Rendering 4 Ki characters takes about 2 ms, which leaves room within a tick of 10 ms.
MAX_BLOCK_CHARS = 4096
# A list costs about twice as much as text of its length; a cell of a table 0.05 ms.
MAX_LIST_CHARS = 2048
MAX_TABLE_CELLS = 120

_FENCE = re.compile(r"^([ \t]{0,12})(`{3,}+|~{3,}+)([^`]*)$")
_HEADING = re.compile(r"^ {0,3}#{1,6}([ \t]|$)")
_UNDERLINE = re.compile(r"^ {0,3}(-{3,}|={3,})[ \t]*$")
_RULE = re.compile(r"^ {0,3}([-*_])([ \t]*\1){2,}[ \t]*$")
_ITEM = re.compile(r"^ {0,3}([-*+]|\d{1,9}[.)])([ \t]|$)")
_FIRST_ITEM = re.compile(r"^ {0,3}([-*+]|1[.)])[ \t]+\S")
_INDENTED = re.compile(r"^( {2,}|\t)")
_TABLE_RULE = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
# The start of a line that may still turn into a fence, an underline, a bullet or a number.
_UNDECIDED = re.compile(r"^(`{1,2}|`{3,}+[^`]*|~{1,2}|~{3,}+.*|[-=*_+#>]+|\d{1,9}[.)]?)?$")
_BACKTICKS = re.compile(r"`+")
_STRONG = re.compile(r"\*\*")


@dataclass(frozen=True)
class Prose:
    """A finished piece of Markdown without fenced code."""

    markdown: str


@dataclass(frozen=True)
class CodeStart:
    """A fence opened.

    Attributes:
        language: First word after the fence, may be empty.
        indent: Columns the fence stands in from the left, 0 to 12.
    """

    language: str
    indent: int


@dataclass(frozen=True)
class CodeText:
    """More of the open code block, as it is."""

    text: str


@dataclass(frozen=True)
class CodeEnd:
    """The open fence closed."""


Piece: TypeAlias = Prose | CodeStart | CodeText | CodeEnd


@dataclass(frozen=True)
class _Fence:
    mark: str
    indent: int


class BlockSplitter:
    """Takes text as it comes and gives back what is finished.

    ``feed`` costs time in proportion to what it is fed plus at most one block.
    """

    def __init__(self) -> None:
        """Start with an empty text."""
        self._lines: list[str] = []
        self._size_chars = 0
        self._partial = ""
        self._is_list = False
        self._has_blank = False
        self._dedent = 0
        self._fence: _Fence | None = None
        self._is_mid_line = False
        self._has_code_line = False
        self._code: list[str] = []
        self._pieces: list[Piece] = []

    @property
    def is_in_code(self) -> bool:
        """Whether a fence is open."""
        return self._fence is not None

    def feed(self, text: str) -> list[Piece]:
        """Take more text.

        Args:
            text: Any characters, cut anywhere.

        Returns:
            What is finished now, in order; code comes as soon as it can be told from a fence.
        """
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            self._take_line(line.removesuffix("\r"))
        self._take_partial()
        self._flush_code()
        pieces, self._pieces = self._pieces, []
        return pieces

    def tail(self, *, is_final: bool = False) -> str:
        """The Markdown of the block not yet finished, to be shown for now.

        Args:
            is_final: The text has ended: nothing is held back or mended.
        """
        if self.is_in_code:
            return ""
        lines = list(self._lines)
        partial = _dedented(self._partial, self._dedent)
        if is_final:
            return "\n".join([*lines, partial]).rstrip("\n")
        if not _UNDECIDED.match(partial.strip()):
            lines.append(partial)
        return mended("\n".join(lines).rstrip("\n"))

    def take_held_code(self) -> str:
        """The last line of open code, held back because it might have become the closing fence."""
        if self._fence is None or not self._partial or self._closes(self._partial):
            return ""
        self._add_code(self._partial)
        self._partial = ""
        self._is_mid_line = True
        held, self._code = "".join(self._code), []
        return held

    # --- Code ---------------------------------------------------------------------------------

    def _closes(self, line: str) -> bool:
        fence = self._fence
        if fence is None or self._is_mid_line:
            return False
        bare = line.strip()
        return len(bare) >= len(fence.mark) and set(bare) == {fence.mark[0]}

    def _take_code_line(self, line: str) -> None:
        if self._closes(line):
            self._flush_code()
            fence, self._fence = self._fence, None
            self._dedent = fence.indent if fence else 0
            self._pieces.append(CodeEnd())
            return
        self._add_code(line)
        self._is_mid_line = False
        self._has_code_line = True

    def _add_code(self, text: str) -> None:
        if not self._is_mid_line:
            fence = self._fence
            text = _dedented(text, fence.indent if fence else 0)
            if self._has_code_line:
                text = "\n" + text
        self._code.append(text)

    def _flush_code(self) -> None:
        text = "".join(self._code)
        self._code.clear()
        if text:
            self._pieces.append(CodeText(text))

    # --- Prose --------------------------------------------------------------------------------

    def _take_line(self, line: str) -> None:
        if self._fence is not None:
            self._take_code_line(line)
            return
        fence = _FENCE.match(line)
        if fence is not None:
            self._open_fence(fence)
            return
        if self._dedent and line.strip() and not line.startswith((" ", "\t")):
            self._dedent = 0
            self._finish()  # the list item that held the code is over
        line = _dedented(line, self._dedent)
        if not line.strip():
            self._take_blank()
            return
        self._take_prose_line(line)

    def _open_fence(self, match: re.Match[str]) -> None:
        self._finish()
        indent = len(match[1].expandtabs(4))
        self._fence = _Fence(match[2], indent)
        self._is_mid_line = self._has_code_line = False
        words = match[3].split()
        self._pieces.append(CodeStart(words[0] if words else "", indent))

    def _take_blank(self) -> None:
        if not self._lines:
            return
        if self._is_list:
            self._lines.append("")
            self._has_blank = True
        else:
            self._finish()

    def _take_prose_line(self, line: str) -> None:
        is_item = _ITEM.match(line) is not None
        if self._ends_open_block(line, is_item):
            self._finish()
        while len(line) > MAX_BLOCK_CHARS:
            line = self._cut_off_front(line)
        is_first = not self._lines
        if is_first:
            self._is_list = is_item and _RULE.match(line) is None
        self._lines.append(line)
        self._size_chars += len(line) + 1
        self._has_blank = False
        if self._is_whole(line, is_first):
            self._finish()
        elif self._is_too_long():
            self._force_split()

    def _ends_open_block(self, line: str, is_item: bool) -> bool:
        if not self._lines:
            return False
        if _HEADING.match(line):
            return True
        if self._is_list:
            if _RULE.match(line):
                return True
            return self._has_blank and not is_item and _INDENTED.match(line) is None
        return _FIRST_ITEM.match(line) is not None

    def _is_whole(self, line: str, is_first: bool) -> bool:
        if _HEADING.match(line):
            return True
        if is_first:
            return _RULE.match(line) is not None
        return not self._is_list and len(self._lines) > 1 and _UNDERLINE.match(line) is not None

    def _is_too_long(self) -> bool:
        if self._is_table() and sum(map(_table_cost, self._lines)) > MAX_TABLE_CELLS:
            return True
        return self._size_chars > (MAX_LIST_CHARS if self._is_list else MAX_BLOCK_CHARS)

    def _is_table(self) -> bool:
        return len(self._lines) > 2 and _TABLE_RULE.match(self._lines[1]) is not None

    def _force_split(self) -> None:
        lines = self._lines
        if self._is_list:
            starts = [i for i, line in enumerate(lines) if i and _ITEM.match(line)]
            keep_from = starts[-1] if starts else len(lines)
            self._finish(keep_from, is_list=True)
        elif self._is_table():
            head = lines[:2]
            self._finish()
            # The rest of a long table is a table too.
            self._lines = head
            self._size_chars = sum(len(line) + 1 for line in head)
        else:
            self._finish()

    def _finish(self, upto: int | None = None, *, is_list: bool = False) -> None:
        done = self._lines[:upto]
        rest = [] if upto is None else self._lines[upto:]
        if any(line.strip() for line in done):
            self._pieces.append(Prose("\n".join(done).rstrip("\n")))
        self._lines = rest
        self._size_chars = sum(len(line) + 1 for line in rest)
        self._is_list = is_list and bool(rest)
        self._has_blank = False

    def _cut_off_front(self, line: str) -> str:
        cut = line.rfind(" ", MAX_BLOCK_CHARS // 2, MAX_BLOCK_CHARS) + 1
        if cut <= 0:
            cut = safe_cut(line, MAX_BLOCK_CHARS)
        self._lines.append(line[:cut])
        self._finish()
        return line[cut:]

    def _take_partial(self) -> None:
        if self._fence is not None:
            partial = self._partial
            if not partial or partial.endswith("\r"):
                return
            if not self._is_mid_line and set(partial.strip()) <= {self._fence.mark[0]}:
                return  # may become the closing fence, or is indentation so far
            self._add_code(partial)
            self._partial = ""
            self._is_mid_line = True
            return
        while len(self._partial) > MAX_BLOCK_CHARS:
            self._partial = self._cut_off_front(self._partial)


def mended(markdown: str) -> str:
    """``markdown`` with a bold or inline-code span that is still open closed for now.

    Looks at the last paragraph only; what a stream shows for a moment should not flicker.
    """
    last = markdown[markdown.rfind("\n\n") + 1 :]
    prose, ending = _outside_code(last)
    if ending and last.endswith(ending):
        return markdown  # just opened: there is nothing in it yet
    marks = list(_STRONG.finditer(prose))
    after = prose[marks[-1].end() :] if marks else ""
    if len(marks) % 2 and after and not after[0].isspace():
        ending += "**"
    return markdown.rstrip() + ending if ending else markdown


def _outside_code(text: str) -> tuple[str, str]:
    """``text`` with each code span made an ``x``, and the backticks of a span left open."""
    runs = list(_BACKTICKS.finditer(text))
    last_of_length = {len(run[0]): index for index, run in enumerate(runs)}
    kept: list[str] = []
    start = index = 0
    while index < len(runs):
        run = runs[index]
        if last_of_length[len(run[0])] == index:  # nothing closes it
            return "".join(kept) + text[start : run.start()] + "x", run[0]
        closing = next(i for i in range(index + 1, len(runs)) if len(runs[i][0]) == len(run[0]))
        kept += [text[start : run.start()], "x"]
        start = runs[closing].end()
        index = closing + 1
    return "".join(kept) + text[start:], ""


def _table_cost(line: str) -> int:
    """Cells of a table's line; what is bold or code in it costs as much again."""
    return line.count("|") + (line.count("*") + line.count("`")) // 3


def _dedented(line: str, columns: int) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(blanks, columns) :]
