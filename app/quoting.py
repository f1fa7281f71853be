"""Words as one command line that a shell takes apart into exactly them again.

Three shells: POSIX ``sh`` (and bash, zsh, dash), the prompt of Windows' ``cmd.exe``, and
PowerShell. On Windows a program gets one text and takes it apart itself, by the rules of
CommandLineToArgvW.
Pure; must not know any engine's flags.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

# Python keeps a byte b of a file name that is no UTF-8 as the character U+DC00 + b.
_FIRST_STRAY_BYTE, _LAST_STRAY_BYTE = 0xDC80, 0xDCFF
_STRAY_BYTE = re.compile(r"[\udc80-\udcff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Of these a line feed and a tab do no harm inside quotes, and every shell takes them.
_KEYS = re.compile(r"[\x01-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Words that need no quotes: every character is an ordinary one at every place.
_BARE_IN_CMD = re.compile(r"[A-Za-z0-9_\-./\\:,=+]+")
# PowerShell makes numbers, arrays, splats and expressions of others.
_PLAIN = r"[A-Za-z_][A-Za-z0-9_\-./\\:]*"
_BARE_IN_POWERSHELL = re.compile(rf"--?[A-Za-z][A-Za-z0-9_-]*|0|[1-9][0-9]{{0,8}}|{_PLAIN}")
_BARE_POWERSHELL_PROGRAM = re.compile(_PLAIN)
_CMD_MEANS_SOMETHING_BY = frozenset('()^"<>&|!')
# PowerShell ends a text in single quotes at any of these; two in a row stand for one.
_POWERSHELL_QUOTES = re.compile("(['\u2018\u2019\u201a\u201b])")
# A grammar may have thousands of characters; in a sentence its beginning tells which word is meant.
_LONGEST_QUOTED = 60
_FLAG = re.compile(r"--?[A-Za-z]")


class Shell(StrEnum):
    """Who will read the line."""

    POSIX = "posix"
    CMD = "cmd"
    POWERSHELL = "powershell"


class QuotingError(ValueError):
    """A word that the shell cannot be given; the message is a sentence for the user."""


@dataclass(frozen=True)
class _Rules:
    """How one shell is written for.

    Attributes:
        program: Quotes the first word.
        argument: Quotes any other.
        break_line: What stands at the end of a line that goes on in the next.
    """

    program: Callable[[str], str]
    argument: Callable[[str], str]
    break_line: str


def own_shell(platform: str = sys.platform) -> Shell:
    """The shell that people of this system have at hand."""
    return Shell.POWERSHELL if platform == "win32" else Shell.POSIX


def quote(words: Sequence[str], shell: Shell) -> str:
    """``words`` as one line.

    Raises:
        QuotingError: If the shell cannot be given one of them.
    """
    return " ".join(_quoted(words, shell))


def quote_lines(words: Sequence[str], shell: Shell, begins_line: int = 0) -> str:
    """The same with a line for each flag, broken as the shell lets lines be broken.

    Args:
        words: The command, the program first.
        shell: Who will read it.
        begins_line: Place of a word that is no flag and has a line of its own; 0 for none.

    Raises:
        QuotingError: If the shell cannot be given one of them.
    """
    text = ""
    for number, (word, quoted) in enumerate(zip(words, _quoted(words, shell), strict=True)):
        if number and (number == begins_line or _FLAG.match(word)):
            text += f" {_RULES[shell].break_line}\n  {quoted}"
        else:
            text += f" {quoted}" if number else quoted
    return text


def notes_on(words: Sequence[str], shell: Shell) -> tuple[str, ...]:
    """What the user should know before pasting the line, in sentences."""
    notes = []
    if shell is Shell.POSIX and any(map(_needs_escapes, words)):
        notes.append(
            "A word holds control characters or bytes that are no text: the line is for bash, zsh "
            "or ksh; dash and other plain shells do not know $'…'."
        )
    if shell is Shell.CMD and any("%" in word for word in words):
        notes.append(
            "A word holds a percent sign: the line is for the prompt; in a .bat file write each % "
            "as %% and leave the rest as it is."
        )
    if shell is Shell.CMD and any("!" in word for word in words):
        notes.append("A word holds “!”, which is text unless cmd was started with /v:on.")
    if shell is Shell.POWERSHELL and any(map(_is_mangled_by_old_powershell, words)):
        notes.append(
            "The line needs PowerShell 7.3 or newer: Windows PowerShell 5.1 passes empty words, "
            "words with double quotes and words with spaces that end in a backslash on as others."
        )
    return tuple(notes)


def has_stray_bytes(word: str) -> bool:
    """Whether ``word`` holds bytes of a file name that are no UTF-8."""
    return _STRAY_BYTE.search(word) is not None


def _quoted(words: Sequence[str], shell: Shell) -> list[str]:
    rules = _RULES[shell]
    for word in words:
        if "\0" in word:
            raise QuotingError(f"No command line can hold the word {word!r}: it has a NUL in it.")
    return [*map(rules.program, words[:1]), *map(rules.argument, words[1:])]


# --- POSIX ----------------------------------------------------------------------------------


def _for_posix(word: str) -> str:
    # Control characters are keys to a terminal that a line is pasted into, quoted or not: Ctrl+U
    # takes back what came before it and Return runs what comes after.
    if not _needs_escapes(word):
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _needs_escapes(word: str) -> bool:
    return has_stray_bytes(word) or _KEYS.search(word) is not None


def _escaped(character: str) -> str:
    code = ord(character)
    if _FIRST_STRAY_BYTE <= code <= _LAST_STRAY_BYTE:
        return f"\\{code - 0xDC00:03o}"
    if _KEYS.match(character):
        return f"\\{code:03o}"
    return f"\\{character}" if character in "\\'" else character


# --- Windows --------------------------------------------------------------------------------


def in_windows_quotes(word: str) -> str:
    r"""As CommandLineToArgvW wants it: \" for a quote, and backslashes before one doubled."""
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'


def _for_cmd(word: str) -> str:
    _refuse_what_windows_cannot_say(word, "cmd.exe")
    if _BARE_IN_CMD.fullmatch(word):
        return word
    quoted = in_windows_quotes(word)
    if '"' not in word and "%" not in word:
        return quoted
    # Quotes hide neither a quote nor a variable from cmd: so it gets to see no quotes at all.
    text, is_after_percent = "", False
    for character in quoted:
        # %NAME% is looked up before any ^ is taken away; no variable has a name that begins so.
        if is_after_percent or character in _CMD_MEANS_SOMETHING_BY:
            text += "^"
        text += character
        is_after_percent = character == "%"
    return text


def _cmd_program(word: str) -> str:
    if '"' in word or "%" in word:
        raise QuotingError(f"cmd.exe cannot be given a program with the name {word!r}; rename it.")
    # The prompt takes the name of a program to end at each of these.
    return in_windows_quotes(word) if re.search("[,=]", word) else _for_cmd(word)


def _for_powershell(word: str) -> str:
    _refuse_what_windows_cannot_say(word, "PowerShell")
    if _BARE_IN_POWERSHELL.fullmatch(word):
        return word
    return _in_powershell_quotes(word)


def _powershell_program(word: str) -> str:
    if _BARE_POWERSHELL_PROGRAM.fullmatch(word):
        return word
    _refuse_what_windows_cannot_say(word, "PowerShell")
    return f"& {_in_powershell_quotes(word)}"


def _in_powershell_quotes(word: str) -> str:
    return "'" + _POWERSHELL_QUOTES.sub(r"\1\1", word) + "'"


def _refuse_what_windows_cannot_say(word: str, shell: str) -> None:
    if _CONTROL.search(word):
        raise QuotingError(
            f"{shell} cannot be given {_short(word)}: line breaks and other control characters "
            "cannot be pasted there. Rename the file; a text of several lines has to be one."
        )
    if _SURROGATE.search(word):
        raise QuotingError(
            f"{shell} cannot be given {word!r}: it holds bytes that are no text. Rename the file."
        )


def _short(word: str) -> str:
    text = repr(word)
    return text if len(text) <= _LONGEST_QUOTED else f"{text[: _LONGEST_QUOTED - 1]}…"


def _is_mangled_by_old_powershell(word: str) -> bool:
    return not word or '"' in word or (word.endswith("\\") and any(map(str.isspace, word)))


_RULES = {
    Shell.POSIX: _Rules(_for_posix, _for_posix, "\\"),
    Shell.CMD: _Rules(_cmd_program, _for_cmd, "^"),
    Shell.POWERSHELL: _Rules(_powershell_program, _for_powershell, "`"),
}
