"""Lists of words in a program in Python, as people hand them to ``subprocess``.

Parsed and never run; must not know what a word means.
"""

from __future__ import annotations

import ast
import re

from app.importing.programs import is_call

_BEGINS = re.compile(r"[\[(]\s*(?:#[^\n]*\n\s*)?[rf]?[\"']")
_LONGEST_CHARACTERS = 20_000
_MOST_LISTS = 40
_STRINGS = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[\[\](){}]",
    re.DOTALL,
)


def lists_in(text: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """The lists of several lines that call an engine, and problems with what is beside them."""
    found: list[tuple[str, ...]] = []
    more: list[str] = []
    for match in list(_BEGINS.finditer(text))[:_MOST_LISTS]:
        source = _to_end(text, match.start())
        words = _words(source) if source else ()
        if words and is_call(words) and "\n" in source:
            found.append(words)
        elif words and words[0].startswith("-"):
            more.append(" ".join(words))
    problems = [
        f"unresolved_variable: “{words[:80]}” is added to the list in some case; it is left out"
        for words in more
    ]
    return found, problems if found else []


def _to_end(text: str, start: int) -> str:
    """From a bracket to the one that closes it; empty where none does."""
    depth = 0
    for match in _STRINGS.finditer(text, start, start + _LONGEST_CHARACTERS):
        sign = match.group()
        if len(sign) != 1:
            continue
        depth += 1 if sign in "[({" else -1
        if not depth:
            return text[start : match.end()]
    return ""


def _words(source: str) -> tuple[str, ...]:
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return tuple(map(_word, items))


def _word(node: ast.expr) -> str:
    """A text, a number as text; everything else is what the program alone knows."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        is_text = node.func.id in {"str", "repr", "Path"}
        return _word(node.args[0]) if is_text else f"${{{ast.unparse(node)}}}"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_part, node.values))
    return f"${{{ast.unparse(node)}}}"


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        return f"${{{ast.unparse(node.value)}}}"
    return _word(node)
