"""Takes out of a text what says who somebody is, where they live on the disk, or what they wrote.

Pure but for asking the system once for the names to look for. Must not know what the text is for.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import platform
import re
import socket
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

# Of short names ("me", "ai", "kv") only the exact spelling is taken for one; of a single letter
# only that in a path.
_SHORTEST_IN_ANY_CASE, _SHORTEST_WORD = 4, 2
# Every piece of a conversation of 24 characters or more is recognised: windows of 16, each 8.
_WINDOW, _STEP = 16, 8
# Signs that stand in for what was taken out until all of it is: a user may be called "user".
_USER, _HOST, _TOKEN, _ADDRESS, _SERIAL = (chr(0xE000 + number) for number in range(5))
_WORDS = str.maketrans(
    {
        _USER: "<user>",
        _HOST: "<host>",
        _TOKEN: "<token>",
        _ADDRESS: "<address>",
        _SERIAL: "<serial>",
    }
)
_LEFT_OUT = "[a line was left out: it repeats words of a conversation]"
# A home whose name has spaces is known by the separator behind it.
_ANY_HOME = re.compile(
    r"(?i)((?:[/\\]home|[/\\]Users|[A-Z]:[/\\]+Users)[/\\]+)"
    r"(?:[^/\\\s\"'“”:;,]+(?: [^/\\\s\"'“”:;,]+){1,3}(?=[/\\])|[^/\\\s\"'“”:;,]+)"
)
# From where a path begins to the name of its file, folders with spaces included; not over another
# file's name, and no longer than paths are.
_SPACED_MODEL_FILE = re.compile(
    r"(?<![^\s\"'“(=:,\[])(?:[A-Za-z]:|~|\.{1,2})?[/\\](?=\S)"
    r"(?:(?!\.gguf)[^\"“”<>|]){0,300}[/\\](?=[^/\\]{1,255}\.gguf)",
    re.I,
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt])")
_MODEL_FILE = re.compile(
    r"(?:[A-Za-z]:|~|\.{1,2})?[/\\][^\s\"'“”()<>|]*[/\\](?=[^\s/\\]+\.gguf)", re.I
)
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:hf|api_org|sk|ghp|gho|glpat|xox[bp])[-_][A-Za-z0-9_-]{8,}"), _TOKEN),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/._~-]{8,}=*"), rf"\1 {_TOKEN}"),
    (
        re.compile(
            r"(?i)((?:token|secret|passw(?:or)?d|api[_-]?key)[\"']?\s*[=:]\s*[\"']?)"
            r"(?![\d,.]+(?:\s|$))[^\s\"',;&]{6,}"
        ),
        rf"\1{_TOKEN}",
    ),
    (re.compile(r"://[^/\s@]+@"), f"://{_USER}@"),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), _ADDRESS),
    (re.compile(r"\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]{27,}", re.I), _SERIAL),
)


@dataclass(frozen=True)
class Names:
    """What must not be told.

    Attributes:
        homes: Home folders, as the system writes them.
        users: Names of the user.
        hosts: Names of this machine.
        paths: Files of which the name alone may be told.
    """

    homes: tuple[str, ...]
    users: tuple[str, ...]
    hosts: tuple[str, ...]
    paths: tuple[str, ...] = ()


def names_here(paths: Sequence[str] = (), other_hosts: Iterable[str] = ()) -> Names:
    """The names of whoever runs this, by every way the system has of telling them.

    Args:
        paths: Files of which the name alone may be told.
        other_hosts: Machines that this one works with.
    """
    homes = {os.environ.get("HOME", ""), os.environ.get("USERPROFILE", "")}
    users = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")}
    with contextlib.suppress(OSError, KeyError, ImportError):
        users.add(getpass.getuser())
    with contextlib.suppress(RuntimeError):
        homes.add(str(Path.home()))
    homes |= {str(Path(home).resolve()) for home in homes if home}
    users |= {Path(home).name for home in homes if home} | _full_names()
    hosts = {platform.node(), os.environ.get("HOSTNAME", ""), os.environ.get("COMPUTERNAME", "")}
    with contextlib.suppress(OSError):
        hosts.add(socket.gethostname())
    hosts |= {host.partition(".")[0] for host in hosts} | set(other_hosts)
    return Names(_longest_first(homes), _longest_first(users), _longest_first(hosts), tuple(paths))


def _full_names() -> set[str]:
    """The name by which the system's user list knows its user, where there is one."""
    try:
        import pwd  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return set()
    with contextlib.suppress(KeyError):
        entry = pwd.getpwuid(os.getuid())
        return {entry.pw_name, entry.pw_gecos.partition(",")[0]}
    return set()


def _longest_first(names: Iterable[str]) -> tuple[str, ...]:
    told = {name for name in names if name.strip("/\\ ") and name.lower() != "localhost"}
    return tuple(sorted(told, key=lambda name: (-len(name), name)))


class Redactor:
    """Cleans texts of some names and of every conversation it was told of."""

    def __init__(self, names: Names, conversations: Iterable[str] = ()) -> None:
        """Look for ``names``, and for whatever stands in ``conversations``."""
        self._models = [
            (re.compile(re.escape(path), re.IGNORECASE), re.split(r"[/\\]", path)[-1])
            for path in names.paths
            if re.search(r"[/\\]", path)
        ]
        self._homes = [_spelled_any_way(home) for home in _spellings(names.homes)]
        self._users = [_as_word(name) for name in _spellings(names.users)]
        self._hosts = [_as_word(name) for name in _spellings(names.hosts)]
        self._windows = {window for text in conversations for window in _windows(text, _STEP)}

    def text(self, text: str) -> str:
        """``text`` without names, homes and tokens; of model files only the names are left."""
        for pattern, name in self._models:
            text = pattern.sub(lambda _, name=name: name, text)  # type: ignore[misc]
        # Asked first, since the pattern looks at each slash again for each slash.
        if ".gguf" in text.casefold():
            text = _MODEL_FILE.sub("", _SPACED_MODEL_FILE.sub("", text))
        for pattern in self._homes:
            text = pattern.sub("~", text)
        text = _ANY_HOME.sub(rf"\1{_USER}", text)
        for pattern, instead in _SECRETS:
            text = pattern.sub(instead, text)
        for patterns, instead in ((self._users, _USER), (self._hosts, _HOST)):
            for pattern in patterns:
                text = pattern.sub(instead, text)
        return text.translate(_WORDS)

    def line(self, text: str) -> str:
        """The same for a line that a program wrote, which may quote what it was given."""
        if self._quotes(text) or ("\\" in text and self._quotes(_unescaped(text))):
            return _LEFT_OUT
        return self.text(text)

    def _quotes(self, text: str) -> bool:
        return bool(self._windows) and not self._windows.isdisjoint(_windows(text, 1))

    def value(self, value: object) -> object:
        """Every text in a structure of mappings and lists."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _windows(text: str, step: int) -> Iterable[str]:
    flat = " ".join(text.split()).casefold()
    return (flat[at : at + _WINDOW] for at in range(0, len(flat) - _WINDOW + 1, step))


def _spellings(names: Iterable[str]) -> list[str]:
    """Names as they are, and as addresses, JSON and other systems' files write them."""
    found: dict[str, None] = {}
    for name in names:
        for form in ("NFC", "NFD"):
            plain = unicodedata.normalize(form, name)
            found |= dict.fromkeys((plain, quote(plain), ascii(plain)[1:-1], _as_json(plain)))
    return list(found)


def _as_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _unescaped(text: str) -> str:
    """A text that was written down as JSON or by ``repr``, with its characters again."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def _spelled_any_way(path: str) -> re.Pattern[str]:
    r"""A path with slashes either way, doubled as in JSON and C; never half of a folder's name."""
    parts = [re.escape(part) for part in re.split(r"[/\\]+", path.strip("/\\"))]
    flags = re.IGNORECASE if "\\" in path or ":" in path else 0
    begin = "/" if path.startswith("/") else ""
    return re.compile(begin + r"[/\\]+".join(parts) + r"(?![\w.-])", flags)


def _as_word(name: str) -> re.Pattern[str]:
    name = name.strip()
    if len(name) < _SHORTEST_WORD:
        return re.compile(rf"(?<=[/\\]){re.escape(name)}(?=[/\\]|$)", re.IGNORECASE)
    flags = re.IGNORECASE if len(name) >= _SHORTEST_IN_ANY_CASE else 0
    return re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", flags)
