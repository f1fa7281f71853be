"""YAML as texts, lists and mappings: every value is the text that stands there.

A word that an engine gets is read as text, never as a number, a time or a truth, which YAML 1.1
would make of ``11434:11434`` or ``on``. Aliases share what they name, so that a few lines that
multiply cost nothing, and depth and size have limits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import yaml

from app.importing.text_error import NotOfThisKindError, TextError

Node = str | list["Node"] | dict[str, "Node"]

# The pure reader takes a second for more; the longest real file of settings is a tenth of it.
_LONGEST_CHARACTERS = 64 * 1024
_MOST_NODES = 20_000
_DEEPEST = 60
_MERGE = "<<"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Keyed(dict[str, "Node"]):
    """A mapping that knows which of its keys stood more than once; the last of them was taken."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.doubled: list[str] = []


class Folded(str):
    """A text of several lines that the file made one of, with the lines as they stood."""

    __slots__ = ("lines",)
    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str, lines: tuple[str, ...]) -> Folded:
        """``text`` with its lines."""
        made = cls(text)
        made.lines = lines
        return made


@dataclass
class _Open:
    """A list or a mapping whose end has not come yet.

    Attributes:
        node: It.
        key: Of a mapping, the key whose value comes next; None where a key comes next.
        merged: Mappings that this one takes over what it does not say itself.
    """

    node: list[Node] | dict[str, Node]
    key: str | None = None
    merged: list[Node] = field(default_factory=list)


def documents_of(text: str) -> list[Node]:
    """The documents of ``text``.

    Raises:
        TextError: If it is no YAML, or larger and deeper than files of settings are.
    """
    if len(text) > _LONGEST_CHARACTERS:
        raise TextError(
            f"The YAML has {len(text):,} characters; files of settings have at most "
            f"{_LONGEST_CHARACTERS:,}. Paste the part of the service or of the model."
        )
    plain = _without_tabs(text)
    builder = _Builder(plain)
    try:
        for event in yaml.parse(plain, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise NotOfThisKindError(
            f"The text looks like YAML and is none{where}: {error.problem or 'it breaks off'}. "
            "Paste it with its indents, or paste the command alone."
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise NotOfThisKindError(
            "The text looks like YAML and cannot be read as such. Paste the command alone."
        ) from error
    return builder.documents


# Written in C where the package has it, which is twenty times as fast.
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _without_tabs(text: str) -> str:
    """YAML forbids tabs in indents; editors and postings put them there all the same."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        blanks = line[: len(line) - len(line.lstrip(" \t"))]
        if "\t" in blanks:
            lines[number] = blanks.replace("\t", "  ") + line[len(blanks) :]
    return "\n".join(lines)


class _Builder:
    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self.documents: list[Node] = []
        self._open: list[_Open] = []
        self._named: dict[str, Node] = {}
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        """One event of the reader."""
        if isinstance(event, yaml.ScalarEvent):
            is_null = event.implicit[0] and event.value in _NULLS
            self._add("" if is_null else self._text(event), event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._named.get(event.anchor or "", ""), None)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._begin([], event.anchor)
        elif isinstance(event, yaml.MappingStartEvent):
            self._begin(Keyed(), event.anchor)
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            self._end()

    def _text(self, event: yaml.ScalarEvent) -> str:
        if event.style != ">" or "#" not in event.value:
            return event.value
        start = event.start_mark.line + 1 if event.start_mark is not None else 0
        return Folded.of(event.value, tuple(_block(self._lines[start:])))

    def _begin(self, node: list[Node] | dict[str, Node], anchor: str | None) -> None:
        self._add(node, anchor)
        self._open.append(_Open(node))
        if len(self._open) > _DEEPEST:
            raise TextError(
                f"The YAML is nested more than {_DEEPEST} levels deep, which no file of settings "
                "is. Paste the part of the service or of the model."
            )

    def _end(self) -> None:
        ended = self._open.pop()
        for merged in ended.merged:
            for mapping in merged if isinstance(merged, list) else [merged]:
                if isinstance(mapping, dict) and isinstance(ended.node, dict):
                    self._count(len(mapping))
                    for key, value in mapping.items():
                        ended.node.setdefault(key, value)

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > _MOST_NODES:
            raise TextError(
                f"The YAML has more than {_MOST_NODES:,} values, which no file of settings has. "
                "Paste the part of the service or of the model."
            )

    def _add(self, node: Node, anchor: str | None) -> None:
        self._count(1)
        if anchor:
            self._named[anchor] = node
        if not self._open:
            self.documents.append(node)
            return
        parent = self._open[-1]
        if isinstance(parent.node, list):
            parent.node.append(node)
        elif parent.key is None:
            # A key that is a list or a mapping is read by no engine.
            parent.key = node if isinstance(node, str) else ""
        else:
            if parent.key == _MERGE:
                parent.merged.append(node)
            else:
                if parent.key in parent.node and isinstance(parent.node, Keyed):
                    parent.node.doubled.append(parent.key)
                parent.node[parent.key] = node
            parent.key = None


def _block(lines: list[str]) -> list[str]:
    """The lines of a block: those that are indented as its first one is, or deeper."""
    first = next((line for line in lines if line.strip()), "")
    indent = len(first) - len(first.lstrip())
    return list(
        takewhile(lambda line: not line.strip() or line[:indent].isspace() or not indent, lines)
    )


def mappings_in(node: Node) -> Iterator[tuple[tuple[str, ...], dict[str, Node]]]:
    """Every mapping in ``node``, each once, with the keys that lead to it."""
    seen: set[int] = set()
    waiting: deque[tuple[tuple[str, ...], Node]] = deque([((), node)])
    while waiting:
        path, each = waiting.popleft()
        if isinstance(each, str) or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, dict):
            yield path, each
            waiting.extend(((*path, key), value) for key, value in each.items())
        else:
            waiting.extend((path, value) for value in each)


def doubled_in(node: Node | Mapping[str, Node]) -> list[str]:
    """Keys that stand more than once in a mapping."""
    return list(dict.fromkeys(node.doubled)) if isinstance(node, Keyed) else []


def texts_of(node: Node | None) -> list[str]:
    """The texts of a list; one text as a list of it; what is neither as none."""
    if isinstance(node, str):
        return [node]
    return [each for each in node if isinstance(each, str)] if isinstance(node, list) else []


def flat(node: Node, longest: int = _MOST_NODES) -> dict[str, tuple[str, ...]]:
    """What a file says by keys: nested keys joined by dots, lists as several values.

    Args:
        node: As it was read.
        longest: How many values are taken at most.
    """
    found: dict[str, list[str]] = {}
    waiting: list[tuple[str, Node]] = [("", node)]
    while waiting and longest > 0:
        name, each = waiting.pop()
        longest -= 1 if isinstance(each, str) else 1 + len(each)
        if isinstance(each, str):
            if each:
                found.setdefault(name, []).append(each)
        elif isinstance(each, dict):
            inside = [(f"{name}.{key}" if name else key, value) for key, value in each.items()]
            waiting += reversed(inside)
        else:
            waiting += reversed([(name, value) for value in each])
    found.pop("", None)
    return {name: tuple(values) for name, values in found.items()}
