"""Variables of ``cmd.exe``: what is put in for them, what ``set /a`` works out, what ``if`` asks.

Nothing is asked of a real environment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from app.importing.cmd_grammar import SHIELD
from app.importing.name_sets import names

_VARIABLE = re.compile(
    rf"%([^%^\n:=\s~*0-9{SHIELD}][^%\n:={SHIELD}]{{0,99}})(?::([^%\n]{{1,200}}))?%"
)
_DELAYED = re.compile(r"!([A-Za-z_]\w{0,99})(?::([^!\n]{1,200}))?!")
_GIVEN = re.compile(r"%(?:~([a-z]{0,8}))?([1-9*])(?![A-Za-z%])", re.IGNORECASE)
_DOUBLED = re.compile(r"%%(?![A-Za-z~])")
_SLICE = re.compile(r"~(-?\d{1,4})?(?:,(-?\d{1,4}))?$")
LEFT_OVER = re.compile(
    r"%~[a-z]{0,8}[0-9]|%%~?[a-z]{1,5}(?![\w%])|%[0-9*](?![0-9A-Za-z])"
    r"|%[A-Za-z_][\w()]*(?::[^%\n]{1,200})?%|![A-Za-z_]\w*(?::[^!\n]{1,200})?!",
    re.IGNORECASE,
)
"""What stands where nobody knows a value."""
# Windows sets them itself, each time.
_ALWAYS_SET = names(
    "number_of_processors userprofile appdata localappdata programfiles programfiles(x86) temp tmp "
    "systemroot systemdrive windir computername username path comspec homedrive homepath os "
    "processor_architecture programdata public"
)
_MOST_FORMULA_CHARACTERS = 200
_LARGEST = 1 << 31
_QUESTION = re.compile(
    r"(?P<flags>(?:(?:/i|not)\s+)*)(?:(?P<kind>exist|defined|errorlevel|cmdextversion)\s+(?P<of>.*)"
    r"|(?P<left>\"[^\"]*\"|[^\s=]*)\s*(?P<sign>==|\b(?:equ|neq|lss|leq|gtr|geq)\b)\s*(?P<right>.*))$",
    re.IGNORECASE | re.DOTALL,
)
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "lss": lambda left, right: left < right,
    "leq": lambda left, right: left <= right,
    "gtr": lambda left, right: left > right,
    "geq": lambda left, right: left >= right,
}


def put_in(
    text: str,
    value_of: Callable[[str], str | None],
    given: tuple[str, ...] | None = None,
    *,
    is_batch: bool = False,
) -> str:
    """``text`` with its variables replaced.

    Args:
        text: Of a command or a condition.
        value_of: The value by the name; None where it is not known.
        given: What the part of the text is called with; None where nobody knows.
        is_batch: Whether it stands in a batch file, where ``%%`` is one sign.
    """

    def value(match: re.Match[str]) -> str:
        known = value_of(match.group(1))
        how = match.group(2)
        if known is None or (how and LEFT_OVER.search(known)):
            return _unchanged(match.group(), known, how)
        return _changed(known, how)

    def argument(match: re.Match[str]) -> str:
        if given is None:
            return match.group()
        if match.group(2) == "*":
            return " ".join(given)
        number = int(match.group(2))
        text = given[number - 1] if number <= len(given) else ""
        return text.strip('"') if match.group(1) is not None else text

    text = _VARIABLE.sub(value, _GIVEN.sub(argument, text))
    text = _DELAYED.sub(value, text)
    return (_DOUBLED.sub("%", text) if is_batch else text).replace(SHIELD, "")


def without_given(text: str) -> str:
    """``text`` where what a script is called with is nothing."""
    return _GIVEN.sub("", text)


def has_given(text: str) -> bool:
    """Whether a text takes what its script is called with."""
    return _GIVEN.search(text) is not None


def _unchanged(written: str, value: str | None, how: str | None) -> str:
    """A piece of what nobody knows; of a folder without the backslash at its end the folder."""
    is_folder = value is not None and re.fullmatch(r"%~d?p0\\?", value) is not None
    return value if value is not None and is_folder and how == "~0,-1" else written


def _changed(value: str, how: str | None) -> str:
    """``%NAME:~0,3%`` and ``%NAME:old=new%``."""
    if not how:
        return value
    piece = _SLICE.match(how)
    if piece:
        start = int(piece.group(1) or 0)
        rest = value[start:] if start >= 0 or -start <= len(value) else value
        return rest if piece.group(2) is None else rest[: int(piece.group(2))]
    old, sign, new = how.partition("=")
    if not sign or not old:
        return value
    if old.startswith("*") and len(old) > 1:
        at = value.lower().find(old[1:].lower())
        return value if at < 0 else new + value[at + len(old) - 1 :]
    return re.sub(re.escape(old), lambda _: new, value, flags=re.IGNORECASE)


def worked_out(formula: str, value_of: Callable[[str], str | None]) -> int | None:
    """What ``set /a`` makes of a formula of whole numbers; None where that is not in the text."""
    text = formula.strip().strip('"')
    if not text or len(text) > _MOST_FORMULA_CHARACTERS:
        return None
    try:
        return _number(ast.parse(text.replace("%%", "%"), mode="eval").body, value_of)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _number(node: ast.expr, value_of: Callable[[str], str | None]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        found = node.value
    elif isinstance(node, ast.Name):
        found = int(value_of(node.id) or "")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = -_number(node.operand, value_of)
    elif isinstance(node, ast.BinOp):
        found = _of_two(node, _number(node.left, value_of), _number(node.right, value_of))
    else:
        found = _LARGEST + 1
    if abs(found) > _LARGEST:
        raise ValueError
    return found


def _of_two(node: ast.BinOp, left: int, right: int) -> int:
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div() | ast.FloorDiv():
            return int(left / right)
        case ast.Mod():
            return left - right * int(left / right)
        case _:
            raise ValueError


def answer(question: str, value_of: Callable[[str], str | None]) -> bool | None:
    """What a condition is by the text alone; None where it is decided when the text runs.

    A variable that the text does not set is taken as not set where a script asks just that: such
    a question is how defaults are written.

    Args:
        question: Without ``if``, as it was written.
        value_of: The value of a variable by its name.
    """
    match = _QUESTION.match(question.strip())
    if match is None:
        return None
    flags = match.group("flags").lower().split()
    found = _defined(match.group("of"), value_of) if _asks_defined(match) else None
    if match.group("sign"):
        found = _compared(match, value_of, ignores_case="/i" in flags)
    return found if found is None or "not" not in flags else not found


def _asks_defined(match: re.Match[str]) -> bool:
    return (match.group("kind") or "").lower() == "defined"


def _defined(name: str, value_of: Callable[[str], str | None]) -> bool | None:
    name = name.strip().strip('"')
    value = value_of(name)
    if value is None and name.lower() in _ALWAYS_SET:
        return True
    return None if value is not None and LEFT_OVER.search(value) else bool(value)


def _compared(
    match: re.Match[str], value_of: Callable[[str], str | None], *, ignores_case: bool
) -> bool | None:
    sides = [_side(match.group(name), value_of) for name in ("left", "right")]
    written = [_bare(match.group(name)) for name in ("left", "right")]
    if "" in written:  # a variable that nobody set is compared with nothing
        sides = ["" if LEFT_OVER.fullmatch(side) else side for side in sides]
    if any(LEFT_OVER.search(side) for side in sides):
        return None
    left, right = (side.lower() if ignores_case else side for side in sides)
    sign = match.group("sign").lower()
    if sign in ("==", "equ"):
        return left == right
    if sign == "neq":
        return left != right
    is_number = all(re.fullmatch(r"-?\d{1,9}", side) for side in (left, right))
    return _COMPARED[sign](int(left), int(right)) if is_number else None


def _side(text: str, value_of: Callable[[str], str | None]) -> str:
    return _bare(without_given(put_in(without_given(text), value_of)))


def _bare(text: str) -> str:
    return text.strip().strip('"').strip()
