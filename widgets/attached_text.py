"""How a text file travels inside a message: fenced, under its name. Knows text only, not Qt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

_TICKS = re.compile(r"`{3,}")
_HEAD = re.compile(r"File: ([^\n]{1,255})\n(`{3,})[\w+#-]{0,20}\n")
_LANGUAGE = re.compile(r"[\w+#-]{1,20}")


@dataclass(frozen=True)
class Attached:
    """A text file in a message.

    Attributes:
        name: Of the file, without folders; empty for a pasted text.
        text: What it says.
    """

    name: str
    text: str

    def as_sent(self) -> str:
        """The text as the model gets it: fenced under its name, a paste as it is."""
        if not self.name:
            return self.text
        longest = max((len(run) for run in _TICKS.findall(self.text)), default=2)
        fence = "`" * (longest + 1)
        suffix = PurePath(self.name).suffix.removeprefix(".").lower()
        language = suffix if _LANGUAGE.fullmatch(suffix) else ""
        end = "" if self.text.endswith("\n") or not self.text else "\n"
        return f"File: {_one_line(self.name)}\n{fence}{language}\n{self.text}{end}{fence}"


def message_text(attached: Iterable[Attached], typed: str) -> str:
    """A whole message: what is attached first, as it changes least from question to question."""
    return "\n\n".join(
        [*(item.as_sent() for item in attached), *([typed] if typed.strip() else [])]
    )


def parts_of(message: str) -> tuple[tuple[Attached, ...], str]:
    """The files at the beginning of ``message``, and what is said after them."""
    found: list[Attached] = []
    at = 0
    while (head := _HEAD.match(message, at)) is not None:
        end = message.find("\n" + head[2] + "\n", head.end() - 1)
        if end < 0:
            if not message.endswith("\n" + head[2]) or len(message) < head.end() + len(head[2]):
                break
            end = len(message) - len(head[2]) - 1
        found.append(Attached(head[1], message[head.end() : end]))
        at = min(end + len(head[2]) + 1, len(message))
        while at < len(message) and message[at] == "\n":
            at += 1
    return tuple(found), message[at:]


def _one_line(name: str) -> str:
    return " ".join(name.split())[:255] or "file"
