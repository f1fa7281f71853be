"""Dockerfiles, whole or a line of one: what the image starts, with which variables.

Knows the format; must not know any engine's flags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from app.importing.call import Call, once
from app.importing.docker_run_reader import Container
from app.importing.expansion import put
from app.importing.invocation import Invocation
from app.importing.posix_reader import read_script
from app.importing.posix_words import read_words
from app.importing.unwrapping import of_container

_LINE = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^{}\n]*))?\}|([A-Za-z_]\w*))")


def read_dockerfile(text: str) -> tuple[Invocation, ...]:
    """What a container of the image starts; nothing where the text says neither."""
    said: dict[str, str] = {}
    env: dict[str, str] = {}
    known: dict[str, str] = {}
    for line in _joined(text):
        match = _LINE.match(line)
        if match is None:
            continue
        word, rest = match.group(1).upper(), match.group(2).strip()
        if word == "FROM":
            # Each stage begins anew; the last one is the image.
            said, env = {}, {}
        if word in {"ENV", "ARG"}:
            pairs = _pairs(rest, known)
            known |= pairs
            env |= pairs if word == "ENV" else {}
        elif word in {"FROM", "ENTRYPOINT", "CMD"}:
            said[word] = rest
    if not {"ENTRYPOINT", "CMD"} & set(said) and not env:
        return ()
    problems: list[str] = []
    entry = _words(said.get("ENTRYPOINT", ""), problems, known)
    # A program that a shell starts gets nothing of what stands in CMD.
    is_shell_s = bool(entry) and not said["ENTRYPOINT"].startswith("[")
    command = () if is_shell_s else _words(said.get("CMD", ""), problems, known)
    if is_shell_s and said.get("CMD"):
        problems.append(
            "broken_file: ENTRYPOINT is written without brackets, so that docker drops what CMD "
            f"says: {said['CMD'][:80]}"
        )
    container = Container(
        image=said.get("FROM", "").partition(" ")[0],
        words=(*entry, *command),
        has_own_program=bool(entry),
        env=env,
    )
    return of_container(container, Call((), problems=once(problems)), "dockerfile")


def _joined(text: str) -> list[str]:
    lines: list[str] = []
    parts: list[str] = []
    for line in text.split("\n"):
        if line.lstrip().startswith("#"):
            continue
        is_open = line.rstrip().endswith("\\")
        parts.append(line.rstrip()[:-1] if is_open else line)
        if not is_open:
            lines.append(" ".join(parts))
            parts = []
    return [*lines, " ".join(parts)]


def _words(text: str, problems: list[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """A list in JSON as it is; anything else as a shell would part it."""
    if text.startswith("["):
        try:
            words = json.loads(text)
        except (ValueError, RecursionError):
            problems.append(
                "broken_file: a list of words is no JSON (its quotes have to be double ones); it "
                "is read as a shell would"
            )
        else:
            return tuple(word for word in words if isinstance(word, str))
        text = text.strip("[]").replace(",", " ")
    call = read_words(text, known)
    if [each.words for each in read_script(text, known).calls] != [call.words]:
        # More than one plain command is the shell's; which of them is meant is told there.
        return ("sh", "-c", text) if text else ()
    problems += call.problems
    return call.words


def _pairs(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """``NAME=value …``, or ``NAME value`` of old."""
    if "=" not in text.partition(" ")[0]:
        name, _, value = text.partition(" ")
        return {name: _put_in(value.strip(), known)} if value else {}
    found: dict[str, str] = {}
    for word in read_words(text).words:
        name, equals, value = word.partition("=")
        if equals:
            found[name] = _put_in(value, known)
    return found


def _put_in(text: str, known: Mapping[str, str]) -> str:
    def one(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(3)
        return put(known.get(name, match.group(2) or match.group()))

    return _VARIABLE.sub(one, text)
