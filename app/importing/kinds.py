"""What kind of text this is, by what stands in it.

Knows the marks of each kind; must not know any engine's flags.
"""

from __future__ import annotations

import re
from enum import StrEnum

from app.importing.programs import base_name
from app.importing.python_calls import is_python
from app.importing.shell_text import begins_call, calls_inside


class Kind(StrEnum):
    """Who reads the text."""

    SHELL = "shell"
    SYSTEMD = "systemd"
    PRESET = "preset"
    MODELFILE = "modelfile"
    DOCKERFILE = "dockerfile"
    YAML = "yaml"
    JSON = "json"
    ENV = "env"
    PYTHON = "python"


_BY_ENDING = {
    "ini": Kind.PRESET,
    "service": Kind.SYSTEMD,
    "container": Kind.SYSTEMD,
    "conf": Kind.SYSTEMD,
    "yaml": Kind.YAML,
    "yml": Kind.YAML,
    "modelfile": Kind.MODELFILE,
    "dockerfile": Kind.DOCKERFILE,
    "containerfile": Kind.DOCKERFILE,
    "json": Kind.JSON,
    "kcpps": Kind.JSON,
    "env": Kind.ENV,
    "dotenv": Kind.ENV,
}
_SHELLS = {
    "bat": "cmd",
    "cmd": "cmd",
    "batch": "cmd",
    "dosbatch": "cmd",
    "ps1": "powershell",
    "powershell": "powershell",
    "pwsh": "powershell",
    "sh": "posix",
    "bash": "posix",
    "zsh": "posix",
    "shell": "",
    "console": "",
}
_M = re.MULTILINE
_UNIT = re.compile(r"^[ \t]*\[(?:Unit|Service|Install|Container)\]\s*$", _M)
_UNIT_LINE = re.compile(r"^[ \t]*(?:ExecStart|Environment|EnvironmentFile)\s*=", _M)
_SECTION = re.compile(r"^[ \t]*\[[^\]\n]+\][ \t]*(?:[;#].*)?$", _M)
_INI_LINE = re.compile(r"^[ \t]*[A-Za-z][\w.-]*[ \t]*=", _M)
_PRESET_LINE = re.compile(r"[ \t]*[a-z][a-z0-9-]*[ \t]+=[ \t]")
_MODEL_KEY = re.compile(
    r"^[ \t]*(?:(?:m|model)[ \t]+=[^\n]*\.gguf|(?:hf|hfr|hf-repo)[ \t]+=[ \t]*[\w.-]+/[\w.-]+)", _M
)
_MODEL_LINE = re.compile(
    r"[ \t]*(?:(?:FROM|PARAMETER|TEMPLATE|SYSTEM|ADAPTER|MESSAGE|LICENSE)[ \t]+\S"
    r"|from[ \t]+\S+[ \t]*$|>{0,3}[ \t]*/set[ \t]+(?:parameter|system|template)[ \t])"
)
_ONLY_MODEL_LINE = re.compile(r"^[ \t]*(?:PARAMETER[ \t]+\w+[ \t]|TEMPLATE[ \t]|ADAPTER[ \t])", _M)
_TYPED_INTO_OLLAMA = re.compile(r"^[ \t]*>{3}[ \t]*/set[ \t]+parameter[ \t]", _M)
_DOCKER_LINE = re.compile(
    r"^[ \t]*(?:ENTRYPOINT|CMD|RUN|COPY|WORKDIR|EXPOSE|ENV|ARG|VOLUME)[ \t]+\S", _M
)
_YAML_KEY = re.compile(r"^[ \t]*(?:- )?[\w.\"'/*&-][\w.\"'/ :*&-]{0,80}:(?:[ \t]|$)", _M)
_FIRST_KEY = re.compile(r"[ \t]*(?:- )?(\"[^\"\n]*\"|'[^'\n]*'|[\w./-]+)[ \t]*:(?:[ \t]|$)")
_COMMAND_KEYS = frozenset({"cmd", "command", "args", "entrypoint", "environment", "env"})
_YAML_ITEM = re.compile(r"^[ \t]*- \S", _M)
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*['\"]?[A-Za-z_]\w*")
# A line of a log begins like a variable too.
_ENV_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?(?!time=\S+ level=)[A-Za-z_]\w*=")

_POSIX_MARKS = (
    (3, re.compile(r"[ \t]\\[ \t]*$|[ \t]\\[ \t]+-", _M)),
    (1, re.compile(r"[^ \t\\:.]\\$", _M)),
    (2, re.compile(r"\$(?:[A-Za-z_]\w*|\{)(?!:)")),
    (3, re.compile(r"^[ \t]*(?:export|source|alias|unset)\s", _M)),
    (5, re.compile(r"\A\s*#!")),
    (3, re.compile(r"^[ \t]*[A-Z_][A-Z0-9_]*=\S*[ \t]+[\w./~]", _M)),
    (1, re.compile(r"(?:^|[\s=])~/|(?:^|\s)/(?:usr|home|opt|mnt|models?|data|srv|var)/", _M)),
)
_CMD_MARKS = (
    (5, re.compile(r"[ \t]\^[ \t]*$", _M)),
    # A quote that the shell is not to see: no other shell is written so.
    (3, re.compile(r"(?:^|[\s\\])\^\"", _M)),
    (3, re.compile(r"%(?:~\w+|[A-Za-z_]\w*%)")),
    (3, re.compile(r"^[ \t]*@?(?:echo (?:off|on)|rem |setlocal|::)", _M | re.IGNORECASE)),
    (3, re.compile(r"^[ \t]*set\s+\"?\w+\s?=", _M | re.IGNORECASE)),
    (3, re.compile(r"^[ \t]*(?:setx\s+\w|start\s+\"|pushd\s+\"?%)", _M | re.IGNORECASE)),
)
_POWERSHELL_MARKS = (
    (5, re.compile(r"[ \t]`[ \t]*$", _M)),
    (4, re.compile(r"\$env:\w|\[(?:System\.)?Environment\]::", re.IGNORECASE)),
    (3, re.compile(r"\{[ \t]*&[ \t]")),
    (4, re.compile(r"^[ \t]*(?:Start|Set|Get|New|Write|Invoke|Push|Import)-[A-Z]\w+\s", _M)),
    (3, re.compile(r"^[ \t]*&\s*[\"'$.]", _M)),
    (4, re.compile(r"^[ \t]*(?:set-location|push-location|start-process|write-host)\s", _M | re.I)),
    (3, re.compile(r"^[ \t]*\$\w+\s*\+?=", _M)),
    (
        4,
        re.compile(
            r"(?<!\$)@[\"'][ \t]*$|(?<=\s)--%(?=\s)|^[ \t]*(?:function[ \t]+\w+-|param[ \t]*\()", _M
        ),
    ),
    (3, re.compile(r"(?<=\s)@(?:\(|[A-Za-z]\w+[ \t]*$)", _M)),
)
_WINDOWS_MARKS = (
    (2, re.compile(r"(?:^|[\s\"'=])[A-Za-z]:\\[^\s]", _M)),
    (2, re.compile(r"(?:^|\s)\.{1,2}\\(?=[\s\w])", _M)),
    (2, re.compile(r"[\w-]\.exe\b", re.IGNORECASE)),
)
# Text in single quotes that holds blanks or quotes: cmd.exe knows no single quotes.
_SINGLE_QUOTED = re.compile(r"(?:^|[\s=])'([^'\n]*)'", _M)
_CALLED_WITH_SLASH = re.compile(r"^[ \t]*\.{1,2}/\S+\.exe\b", _M)
_STRONG = 3
# Members of an object whose braces were left behind; a YAML key in quotes has no comma behind it.
_MEMBERS = re.compile(r"\"\w+\"\s*:\s*(?:\"[^\"\n]*\"|[\w.-]+|\[[^\]\n]*\])\s*,\s*\"\w+\"\s*:")
# What may stand before JSON of an editor; what stands behind it begins with // too.
_BEFORE_JSON = re.compile(r"\A(?:\s*(?://[^\n]*\n|/\*[^*]*\*/))+")
_SCRIPT_BEGINS = re.compile(
    r"\s*(?:#!|@?echo\s+off\s*$|<#|param\s*\(|\[CmdletBinding)", re.IGNORECASE | re.MULTILINE
)


def kind_of(text: str, hint: str = "") -> Kind:
    """Who reads ``text``.

    Args:
        text: As :func:`app.importing.pasted_text.plain` leaves it.
        hint: The name of its file, or a language; empty where nothing is known.
    """
    hinted = _BY_ENDING.get(_ending(hint))
    if hinted is Kind.PRESET and _UNIT.search(text):
        return Kind.SYSTEMD
    if hinted is not None and (hinted is not Kind.JSON or _looks_like_json(text)):
        return hinted
    if _looks_like_json(text):
        return Kind.JSON
    if _ending(hint) == "py" or is_python(text):
        return Kind.PYTHON if is_python(text) else Kind.SHELL
    if _ending(hint) in _SHELLS or _HERE_DOCUMENT.search(text):
        return Kind.SHELL
    return _by_lines(text)


def _by_lines(text: str) -> Kind:
    if _UNIT.search(text) or _begins_with(text, _UNIT_LINE):
        return Kind.SYSTEMD
    if _is_ini(text):
        return Kind.PRESET
    is_typed = _TYPED_INTO_OLLAMA.search(text) is not None
    if is_typed or _ONLY_MODEL_LINE.search(text) or _begins_with(text, _MODEL_LINE):
        return Kind.DOCKERFILE if _DOCKER_LINE.search(text) else Kind.MODELFILE
    if _begins_with(text, _DOCKER_LINE):
        return Kind.DOCKERFILE
    if _is_yaml(text):
        return Kind.YAML
    return Kind.ENV if _is_env(text) else Kind.SHELL


def shell_of(text: str, hint: str = "") -> str:
    """Which shell a text is for: ``posix``, ``cmd`` or ``powershell``."""
    known = _SHELLS.get(_ending(hint), "")
    posix = _weight(text, _POSIX_MARKS)
    cmd = _weight(text, _CMD_MARKS)
    powershell = _weight(text, _POWERSHELL_MARKS)
    windows = _weight(text, _WINDOWS_MARKS)
    if known in {"cmd", "powershell"}:
        return known
    if max(cmd, powershell) > posix:
        return "cmd" if cmd >= powershell else "powershell"
    # What is called bash in a posting may be anything that is pasted into a terminal.
    if known and windows < _STRONG:
        return known
    if windows > 0 and posix < _STRONG:
        return _by_windows(text)
    return "posix"


def is_script(text: str, hint: str = "") -> bool:
    """Whether a text is a script, whose every line a shell reads, by its name or its first line."""
    name = base_name(hint).lower()
    is_named = name.rpartition(".")[2] in _SHELLS and "." in name
    return is_named or _SCRIPT_BEGINS.match(text) is not None


def _by_windows(text: str) -> str:
    quoted = _SINGLE_QUOTED.findall(text)
    is_quoted = any(re.search(r"[\s\"]", each) for each in quoted)
    # Behind a sign of a comment nothing is meant for the program, and cmd.exe has no such sign.
    is_quoted |= re.search(r"[ \t]#[ \t]|;[ \t]+[\w.\\/-]+", text) is not None
    return "powershell" if is_quoted or _CALLED_WITH_SLASH.search(text) else "cmd"


def _ending(hint: str) -> str:
    name = base_name(hint).lower()
    stem, dot, ending = name.rpartition(".")
    if name.startswith(("modelfile", "dockerfile", "containerfile")):
        return stem or name
    return ending if dot else name


def _weight(text: str, marks: tuple[tuple[int, re.Pattern[str]], ...]) -> int:
    return sum(weight for weight, pattern in marks if pattern.search(text))


def _first_line(text: str) -> str:
    for line in text.split("\n"):
        bare = line.strip()
        if bare and not bare.startswith(("#", ";")):
            return line
    return ""


def _lines(text: str) -> list[str]:
    """The lines that hold something, comments left out."""
    filled = filter(str.strip, text.split("\n"))
    return [line for line in filled if not line.lstrip().startswith("#")]


def _begins_with(text: str, pattern: re.Pattern[str]) -> bool:
    """Whether the first line that is no comment is of the kind."""
    return pattern.match(_first_line(text)) is not None


def _looks_like_json(text: str) -> bool:
    lines = _BEFORE_JSON.sub("", text, 1).split("\n")
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("//")):
        del lines[-1]
    bare = "\n".join(lines).strip()
    is_object = bare.startswith("{") and bare.endswith("}")
    is_list = re.match(r"\[\s*[\"{]", bare) is not None and bare.endswith("]")
    return is_object or is_list or _MEMBERS.match(bare) is not None


def _is_ini(text: str) -> bool:
    section = _SECTION.search(text)
    if section is None:
        return _is_part_of_preset(text)
    first = _first_line(text)
    return _SECTION.match(first) is not None or _INI_LINE.match(first) is not None


def _is_part_of_preset(text: str) -> bool:
    """Whether the lines of one section stand alone, as no shell takes them: blanks around ``=``."""
    lines = [line for line in _lines(text) if not line.lstrip().startswith(";")]
    return (
        len(lines) > 1
        and all(map(_PRESET_LINE.match, lines))
        and _MODEL_KEY.search(text) is not None
    )


def _is_yaml(text: str) -> bool:
    """Whether the first line is a key or an item, and so are most lines that begin one."""
    lines = _lines(text)
    first = lines[0] if lines else ""
    if first.strip() == "---":
        return True
    is_key = _FIRST_KEY.match(first)
    if is_key:
        rest = first[is_key.end() :].strip()
        # A sentence may have a colon too; a key has nothing, or a short value, behind it.
        is_short = len(rest.split()) < 2 or rest[:1] in "|>&\"'[{$"
        is_more = len(lines) > 1 and _YAML_KEY.match(lines[1]) is not None
        return is_short or is_more or is_key.group(1) in _COMMAND_KEYS
    items = [line for line in lines if _YAML_ITEM.match(line)]
    is_flags = any(re.match(r"[ \t]*- [\"']?(?:-|[A-Z][A-Z0-9_]*=)", line) for line in lines)
    return bool(items) and len(items) == len(lines) and is_flags


def _is_env(text: str) -> bool:
    """Whether each line sets a variable and none of them starts anything besides."""
    lines = _lines(text)
    sets = all(_ENV_LINE.match(line) for line in lines)
    return bool(lines) and sets and not any(map(_starts_something, lines))


def _starts_something(line: str) -> bool:
    has_operator = re.search(r"&&|\|\||;[ \t]", line) is not None
    return has_operator or begins_call(line) or bool(calls_inside(line))
