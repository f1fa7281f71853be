"""Lists of words in a program in Python, or in a file of some other kind.

People hand them to ``subprocess`` and to ``spawn``, and keep them in files. Parsed and never run;
must not know what a word means.
"""

from __future__ import annotations

import ast
import re
from itertools import islice

from app.importing.programs import is_call
from app.importing.python_brackets import LONGEST_CHARACTERS, to_closing

_BEGINS = re.compile(r"[\[(]\s*(?:#[^\n]*\n\s*)?[rf]?[\"']")
_SPAWNED = re.compile(r"[(,=:]\s*[\"'`]([^\"'`\n]{1,300})[\"'`]\s*,\s*(?=\[)")
_MOST_LISTS = 40


def lists_in(text: str) -> tuple[list[tuple[str, ...]], list[str]]:
    """The lists of several lines that call an engine, and problems with what is beside them."""
    found: list[tuple[str, ...]] = []
    more: list[str] = []
    for match in islice(_BEGINS.finditer(text), _MOST_LISTS):
        source = to_closing(text, match.start())
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


def spawned_in(text: str) -> list[tuple[str, ...]]:
    """Programs with a list of their words behind them: ``spawn('llama-server', ['-m', …])``."""
    found: list[tuple[str, ...]] = []
    for match in islice(_SPAWNED.finditer(text), _MOST_LISTS):
        source = to_closing(text, match.end())
        # A name alone in brackets is a type, as before a parameter of PowerShell.
        words = _words(source) if re.search(r"[\"']", source) else ()
        if words and is_call((match.group(1), *words)):
            found.append((match.group(1), *words))
    return found


def flags_in(text: str) -> list[tuple[str, ...]]:
    """Lists that begin with a flag, whatever they stand in."""
    begins = islice(_BEGINS.finditer(text), _MOST_LISTS)
    lists = [_words(to_closing(text, match.start())) for match in begins]
    return [words for words in lists if words and re.match(r"--?[A-Za-z]", words[0])]


def bare_list(text: str) -> list[tuple[str, ...]]:
    """Quoted words with commas between that begin with a flag, where the text holds them alone."""
    bare = text.strip().rstrip(",")
    if not re.match(r"[\"']--?[A-Za-z]", bare) or len(bare) > LONGEST_CHARACTERS:
        return []
    words = _words(f"[{bare}]")
    return [words] if len(words) > 1 else []


def _words(source: str) -> tuple[str, ...]:
    if not source:
        return ()
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
