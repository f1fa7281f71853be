"""Calls of programs in a text for PowerShell: what a program gets, and what starts one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.importing.call import Call, Document, home_problems, is_relative_file, kept_env, once
from app.importing.loose_json import is_json
from app.importing.name_sets import names
from app.importing.posix_tokens import Token
from app.importing.powershell_functions import Function
from app.importing.powershell_variables import Variables
from app.importing.windows_words import windows_words

_SHOWN_CHARACTERS = 80
_LOST_QUOTES = (
    "shell_quoting: Windows PowerShell 5 takes the double quotes out of {word} before the program "
    "gets it; PowerShell 7.3 and newer leave them"
)
_RELATIVE = "relative_path: paths are relative to {folder}, to which the text goes before"
_ITEM = re.compile(r"env:\\?(\w+)$", re.IGNORECASE)
_MODEL_FILE = re.compile(r"(?:\s*#[^\n]*\n)*\s*FROM\s+\S[^\n]*\n", re.IGNORECASE)
_SWITCHES = names("-nonewwindow -passthru -wait -usenewenvironment -loaduserprofile")
_PROGRAM = names("-filepath -execute")
_WORDS = names("-argumentlist -args -argument")
_VALUED = (
    _PROGRAM
    | _WORDS
    | names(
        "-workingdirectory -windowstyle -verb -credential -redirectstandardoutput "
        "-redirectstandarderror -redirectstandardinput -environment -name -scriptblock"
    )
)


class Calls:
    """Collects them.

    Attributes:
        found: In the order of the text.
        folder: The folder that the text went to.
    """

    def __init__(self, variables: Variables) -> None:
        """Begin with none."""
        self.found: list[Call] = []
        self.folder = ""
        self._variables = variables

    def add(self, words: list[str], written: Sequence[str]) -> None:
        """A call.

        Args:
            words: As the program gets them, itself first.
            written: As PowerShell has them; empty where they were one text.
        """
        problems = self._variables.take_problems(words)
        if not words or not words[0]:
            return
        problems += [
            _LOST_QUOTES.format(word=word[:_SHOWN_CHARACTERS])
            for word in written[1:]
            if '"' in word.replace('\\"', "")
        ]
        problems += home_problems(words)
        if self.folder and any(map(is_relative_file, words)):
            problems.append(_RELATIVE.format(folder=self.folder[:_SHOWN_CHARACTERS]))
        env = kept_env(self._variables.env(), self._variables.used)
        self.found.append(Call(tuple(words), env, "", self.folder, once(problems)))

    def tell(self, problems: Iterable[str]) -> None:
        """Problems of the call that comes next."""
        self._variables.drop_problems("shell_")
        self._variables.add_problems(problems)


def started(words: list[str], calls: Calls) -> list[str] | None:
    """The words of ``Start-Process program -ArgumentList …``: one text, whatever it is given in."""
    said: dict[str, list[str]] = {}
    name = ""
    for word in words:
        flag = _flag(word)
        if flag:
            name = "" if flag in _SWITCHES else flag
        else:
            said.setdefault(name, []).append(word)
    calls.folder = " ".join(said.get("-workingdirectory", [calls.folder]))
    alone = said.get("", [])
    programs = [word for flag in _PROGRAM for word in said.get(flag, [])]
    # The program may be said by its place alone, and its words too.
    program, *texts = [*programs, *alone] or [""]
    texts += [word for flag in sorted(_WORDS) for word in said.get(flag, [])]
    if not program or re.match(r"[a-z]{3,}:", program):
        return None
    inside, problems = windows_words(" ".join(texts))
    if re.search(r"(?:powershell|pwsh)(?:\.exe)?$", program, re.IGNORECASE):
        problems = []  # which knows single quotes
    calls.tell(problems)
    return [program, *inside]


def _flag(word: str) -> str:
    """The flag of ``Start-Process`` that a word is, which may be cut short; empty where none is."""
    lower = word.lower()
    if lower in _SWITCHES | _VALUED:
        return lower
    is_cut = re.fullmatch(r"-[a-z]{3,}", lower) is not None
    meant = [each for each in sorted(_SWITCHES | _VALUED) if is_cut and each.startswith(lower)]
    return meant[0] if len(meant) == 1 else ""


def item_set(words: Sequence[str]) -> tuple[str, str] | None:
    """The variable and the value of ``Set-Item Env:NAME value`` and of ``setx NAME value``."""
    texts = [word for word in words if not re.match(r"-\w|/", word)]
    name = _ITEM.match(texts[0]) if texts else None
    if name and texts[1:]:
        return name.group(1), texts[-1]
    is_plain = not name and len(texts) == 2 and re.fullmatch(r"[A-Z_]\w*", texts[0])
    return (texts[0], texts[1]) if is_plain else None


def model_files(tokens: Sequence[Token]) -> tuple[Document, ...]:
    """The Modelfiles that stand in a script as texts of several lines."""
    texts = [token.pieces[0].text for token in tokens if len(token.pieces) == 1]
    texts += [token.written for token in tokens if len(token.pieces) > 1]
    return tuple(Document("Modelfile", text) for text in texts if _MODEL_FILE.match(text))


def bound(function: Function, words: list[str]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """What a call gives the parameters, by the names of their variables, and what is left."""
    given: dict[str, tuple[str, ...]] = {}
    alone: list[str] = []
    at = 0
    while at < len(words):
        name = words[at].lower().lstrip("-")
        parameter = next(
            (p for p in function.parameters if words[at][:1] == "-" and p.piece.name == name), None
        )
        at += 1
        if parameter is None:
            alone.append(words[at - 1])
        elif parameter.is_switch:
            given[name] = ("True",)
        elif at < len(words):
            given[name] = (words[at],)
            at += 1
    for parameter in function.parameters:
        if parameter.piece.name not in given and not parameter.is_switch and alone:
            given[parameter.piece.name] = (alone.pop(0),)
    return given, alone


def meant(word: str) -> str:
    r"""JSON whose quotes were written ``\"`` for Windows PowerShell, as the program gets it."""
    if '\\"' not in word or word[:1] not in "{[":
        return word
    plain = word.replace('\\"', '"')
    return plain if is_json(plain) and not is_json(word) else word
