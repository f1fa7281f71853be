"""YAML as other programs read it: texts in quotes or as blocks, so that none becomes a number.

Readers differ in what they take for a number, a date or a truth value when it stands bare; in
quotes they all read the same text. Must not know who reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

# Wide enough that no line is folded.
_WIDTH = 1 << 30


class _Block(str):
    """A text of several lines that stands as it is, indented."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Quotes all texts that are values; keys stay bare where they can."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key, as most files of this kind are written."""
        super().increase_indent(flow, indentless=False)


def block(text: str) -> str:
    """``text`` as a block of lines, where YAML can hold it so; else it stands in quotes."""
    return _Block(text)


def yaml_text(value: Mapping[str, object]) -> str:
    """``value`` as a YAML document with a newline at its end.

    Args:
        value: Mappings, lists, texts, numbers and truth values.
    """
    return yaml.dump(
        _dressed(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH
    )


class _Quoted(str):
    """A text in double quotes."""

    __slots__ = ()


def _dressed(value: object) -> Any:  # noqa: ANN401, what PyYAML takes
    if isinstance(value, Mapping):
        return {key: _dressed(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_dressed(held) for held in value]
    if isinstance(value, str) and not isinstance(value, _Block):
        return _Quoted(value)
    return value


def _represent_quoted(dumper: yaml.SafeDumper, text: _Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')


def _represent_block(dumper: yaml.SafeDumper, text: _Block) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")


_Dumper.add_representer(_Quoted, _represent_quoted)
_Dumper.add_representer(_Block, _represent_block)
