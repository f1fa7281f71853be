"""What a shell works out of values that are known: ``${NAME%.gguf}``, ``$((8 * 1024))``.

Pure text; nothing is executed, and what cannot be worked out is None.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from app.importing.expansion import put, spend

CUTTING = ("##", "#", "%%", "%")
REPLACING = ("//", "/")
CASES: Mapping[str, Callable[[str], str]] = {
    ",,": str.lower,
    "^^": str.upper,
    ",": lambda text: text[:1].lower() + text[1:],
    "^": lambda text: text[:1].upper() + text[1:],
}
"""Operators that change the case of letters."""
# A pattern of a file name is short, and a sum too; longer ones are made to cost time.
_LONGEST_PATTERN_CHARACTERS = 60
_LONGEST_VALUE_CHARACTERS = 2_000
_LONGEST_SUM_CHARACTERS = 120
# So many tries take as long as a character that a variable puts in.
_TRIES_PER_CHARACTER, _MOST_TRIES = 200, 100_000
_MOST_STARS = 3
_HIGHEST = 2**63 - 1
_NAME = re.compile(r"\$?\{?([A-Za-z_]\w*)\}?")
_NO_SUM = re.compile(r"[^0-9A-Za-z_+\-*/%() \t]")
_IN_PATTERN = re.compile(r"\[[!^]?[^\]]+\]|\\?.", re.DOTALL)


def changed(value: str, operator: str, operand: str) -> str | None:
    """``value`` as ``${NAME`` ``operator`` ``operand}`` makes it; None where it is not plain.

    Args:
        value: Of the variable.
        operator: One of :data:`CUTTING`, :data:`REPLACING` and :data:`CASES`.
        operand: What stands behind it, variables put in.
    """
    if operator in CASES:
        return None if operand else CASES[operator](value)
    pattern, _, instead = operand.partition("/") if operator in REPLACING else (operand, "", "")
    # A pattern with stars tries all ways to part the value.
    tries = len(value) ** (pattern.count("*") + 1) // _TRIES_PER_CHARACTER
    if len(value) > _LONGEST_VALUE_CHARACTERS or tries > _MOST_TRIES:
        return None
    spend(tries)
    regex = _regex(pattern)
    if regex is None:
        return None
    if operator in REPLACING:
        count = 0 if operator == "//" else 1
        return re.sub(regex, lambda _: instead, value, count=count) if pattern else value
    return _cut(value, operator, re.compile(regex))


def _cut(value: str, operator: str, pattern: re.Pattern[str]) -> str:
    """Without the shortest or the longest beginning, or end, that the pattern fits."""
    is_end = operator[0] == "%"
    lengths = range(len(value) + 1)
    for length in reversed(lengths) if len(operator) > 1 else lengths:
        part = value[len(value) - length :] if is_end else value[:length]
        if pattern.fullmatch(part):
            return value[: len(value) - length] if is_end else value[length:]
    return value


def _regex(pattern: str) -> str | None:
    """A pattern of a shell as a regular expression; None where it is too much of one."""
    is_too_much = len(pattern) > _LONGEST_PATTERN_CHARACTERS or pattern.count("*") > _MOST_STARS
    if is_too_much or re.search(r"[@!+?*]\(", pattern):
        return None
    parts: list[str] = []
    for part in _IN_PATTERN.findall(pattern.replace("'", "").replace('"', "")):
        if part == "*":
            parts.append("[\\s\\S]*")
        elif part == "?":
            parts.append("[\\s\\S]")
        elif part[0] == "[" and len(part) > 1:
            inside = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[{inside.replace('!', '^', 1) if inside[0] == '!' else inside}]")
        else:
            parts.append(re.escape(part[-1]))
    return "".join(parts)


def total(text: str, known: Mapping[str, str]) -> int | None:
    """What ``$((text))`` is; None where it is no plain sum of numbers and known variables."""
    named = _NAME.sub(lambda match: f" {put(known.get(match.group(1), match.group(1)))} ", text)
    if len(named) > _LONGEST_SUM_CHARACTERS or _NO_SUM.search(named) or "**" in named:
        return None
    # A number that begins with a zero is octal there and nothing here.
    if re.search(r"\b0\d", named):
        return None
    try:
        return _number(ast.parse(named.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and node.value <= _HIGHEST else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        inner = _number(node.operand)
        return None if inner is None else -inner if isinstance(node.op, ast.USub) else inner
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    made = _worked_out(node.op, left, right)
    return made if made is not None and abs(made) <= _HIGHEST else None


def _worked_out(operator: ast.operator, left: int, right: int) -> int | None:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return left * right
    if not isinstance(operator, (ast.FloorDiv, ast.Div, ast.Mod)) or not right:
        return None
    # The shell rounds towards nought, as C does.
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return left - quotient * right if isinstance(operator, ast.Mod) else quotient
