"""Modules of NixOS: ``services.llama-cpp`` with its flags, and units with a command.

Knows the shape of such a module, no language; must not know any engine's flags.
"""

from __future__ import annotations

import re

from app.importing.call import Call, once
from app.importing.invocation import Invocation
from app.importing.posix_words import read_words
from app.importing.unwrapping import unwrapped

_MARK = re.compile(r"\bservices\.llama-cpp\b|\bExecStart[ \t]*=[ \t]*(?:\"|'')[^\n]*")
_SERVICE = re.compile(r"\bservices\.llama-cpp\b")
_NIX = re.compile(r"\bservices\.|\bserviceConfig\b|\$\{pkgs\.")
_EXEC = re.compile(r"\bExecStart[ \t]*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|''(.*?)'')", re.DOTALL)
_VALUE = r"(?:^|[\s{.;])%s[ \t]*=[ \t]*(\"(?:[^\"\\]|\\.)*\"|[^;\n]+)"
_FLAGS = re.compile(r"\bextra(?:Flags|Args)[ \t]*=\s*\[(.*?)\]", re.DOTALL)
_ITEM = re.compile(
    r"\"((?:[^\"\\]|\\.)*)\"|''(.*?)''|\(\s*(?:builtins\.)?toString\s+([\w.-]+)\s*\)|([\w.$-]+)",
    re.DOTALL,
)
_COMMENT = re.compile(r"(?m)(?:^|[ \t])#[^\n]*$|/\*.*?\*/", re.DOTALL)
_PACKAGE = re.compile(r"\$\{[^{}\n]*\}(?=/)")
_PUT_IN = re.compile(r"\$\{([^{}\n]*)\}")
_SAID = (("model", "-m"), ("host", "--host"), ("port", "--port"))


def is_nix(text: str) -> bool:
    """Whether the text is a module that starts llama.cpp's server."""
    return _MARK.search(text) is not None and _NIX.search(text) is not None


def read_nix(text: str) -> tuple[Invocation, ...]:
    """What the service starts, or each unit."""
    bare = _COMMENT.sub("", text)
    found: list[Invocation] = []
    for quoted, indented in _EXEC.findall(bare):
        command = _PACKAGE.sub("", (quoted.replace('\\"', '"') or indented).replace("''$", "$"))
        call = read_words(command)
        found += unwrapped(Call(call.words, problems=call.problems), "nix") if call.words else ()
    service = _service(bare) if _SERVICE.search(bare) and not found else None
    return (service,) if service is not None and service.words else tuple(found)


def _service(text: str) -> Invocation:
    problems: list[str] = []
    words: list[str] = []
    # Of the service's own lines, not of what stands before it.
    match = _SERVICE.search(text)
    own = text[match.start() :] if match else text
    flags = _FLAGS.search(own)
    outside = own[: flags.start()] + own[flags.end() :] if flags else own
    for key, flag in _SAID:
        said = re.search(_VALUE % key, outside)
        if said:
            words += [flag, _word(said.group(1).strip(), problems)]
    for quoted, indented, number, name in _ITEM.findall(flags.group(1) if flags else ""):
        words.append(_word(number or name, problems) if number or name else quoted or indented)
    problems += [
        f"unresolved_variable: ${{{name}}} is worked out by Nix"
        for name in _PUT_IN.findall(" ".join(words))
    ]
    return Invocation("nix", "llama-server", tuple(words), problems=once(problems))


def _word(text: str, problems: list[str]) -> str:
    """A text in quotes, or a number, as it is; a name is what Nix alone knows."""
    if text.startswith('"'):
        return text[1:-1].replace('\\"', '"')
    if re.fullmatch(r"[0-9.]+|true|false|/\S+|\./\S+", text):
        return text
    problems.append(f"unresolved_variable: {text[:60]} is worked out by Nix")
    return f"${{{text}}}"
