"""The lines of a text for ``cmd.exe`` as it reads them: those that go on joined, comments left out.

Knows the marks of lines; must not know what commands mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_CONTINUED = re.compile(r"\^[^\S\n]*$")
_COMMENT = re.compile(r"\s*@?(?:rem(?:\s|$)|::)", re.IGNORECASE)
_LABEL = re.compile(r"\s*:([A-Za-z_][\w.-]*)\s*$")
_FLAG = re.compile(r"\s*--?[A-Za-z]")
# What has a meaning in batch files alone.
_BATCH = re.compile(
    r"^\s*(?:@?echo\s+off|setlocal|goto\b|@?rem\s|::|:[A-Za-z_][\w-]*\s*$)|%~|%\*|%[1-9](?![\w%])|\bfor\s.*%%[A-Za-z]",
    re.IGNORECASE | re.MULTILINE,
)
_LATE_MARK = (
    "broken_continuation: a blank stands behind the ^ that continues a line, so that cmd.exe ends "
    "the command there; the next line is read as part of it"
)
_ELSE = re.compile(r"\s*else(?=[\s(]|$)", re.IGNORECASE)
_LATE_ELSE = (
    "broken_continuation: else begins a line, where cmd.exe takes it for a program; it is read as "
    "part of the condition before it"
)
_MISSING_MARK = (
    "broken_continuation: lines that begin with a flag are read as part of the command before "
    "them, though no ^ continues it"
)
_COMMENT_INSIDE = (
    "broken_continuation: a comment stands among lines that ^ joins, where cmd.exe takes it for "
    "words of the command; it is left out"
)


@dataclass
class Lines:
    """A text by its lines.

    Attributes:
        lines: As cmd.exe reads them.
        labels: Where each label of the text is, by its name in lower case: the number of the line
            behind it.
        is_batch: Whether it is a batch file, and no line that is typed.
        problems: ``code: sentence``.
    """

    lines: list[str] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    is_batch: bool = False
    problems: list[str] = field(default_factory=list)


def lines_of(text: str) -> Lines:
    """The lines of ``text``."""
    found = Lines(is_batch=_BATCH.search(text) is not None)
    for line in _joined(text, found.problems):
        label = _LABEL.match(line)
        if label:
            found.labels.setdefault(label.group(1).lower(), len(found.lines))
        else:
            found.lines.append(line)
    return found


def _joined(text: str, problems: list[str]) -> Iterator[str]:
    whole: list[str] = []
    is_open = False
    for line in text.split("\n"):
        is_comment = _COMMENT.match(line) is not None
        if is_comment:
            if is_open:
                problems.append(_COMMENT_INSIDE)
            continue
        begins_with_flag = _FLAG.match(line) is not None
        if whole and not is_open and _ELSE.match(line) and whole[-1].rstrip().endswith(")"):
            problems.append(_LATE_ELSE)
            is_open = True
        if whole and not is_open and not begins_with_flag:
            yield "".join(whole)
            whole = []
        if whole and not is_open and not _FLAG.match(whole[0]):
            problems.append(_MISSING_MARK)
        part, is_open = _part(line, problems)
        if part.strip() or whole:
            whole.append(part)
    if whole:
        yield "".join(whole)


def _part(line: str, problems: list[str]) -> tuple[str, bool]:
    """A line without its mark, and whether the next one belongs to it."""
    continued = _CONTINUED.search(line)
    if not continued or not _is_mark(line, continued.start()):
        return (f"{line} " if line.strip() else line), False
    if continued.group() != "^":
        problems.append(_LATE_MARK)
    return f"{line[: continued.start()]} ", True


def _is_mark(line: str, at: int) -> bool:
    """Whether the ``^`` at a place is no plain character: others before it pair up."""
    before = line[:at]
    return (len(before) - len(before.rstrip("^"))) % 2 == 0
