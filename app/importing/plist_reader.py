"""Agents of launchd on macOS: property lists that name a program and its words.

Read by their marks, so that a part of one is enough; must not know any engine's flags.
"""

from __future__ import annotations

import html
import re

from app.importing.call import Call
from app.importing.invocation import Invocation
from app.importing.unwrapping import unwrapped

_WORDS = re.compile(r"<key>\s*ProgramArguments\s*</key>\s*<array>(.*?)</array>", re.DOTALL)
_VARIABLES = re.compile(r"<key>\s*EnvironmentVariables\s*</key>\s*<dict>(.*?)</dict>", re.DOTALL)
_TEXT_OF = r"<key>\s*%s\s*</key>\s*<string>(.*?)</string>"
_STRING = re.compile(r"<(?:string|integer|real)>(.*?)</(?:string|integer|real)>", re.DOTALL)
_PAIR = re.compile(r"<key>(.*?)</key>\s*<string>(.*?)</string>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARK = re.compile(r"<key>\s*ProgramArguments\s*</key>")


def is_plist(text: str) -> bool:
    """Whether the text is a list that launchd starts something by."""
    return _MARK.search(text) is not None


def read_plist(text: str) -> tuple[Invocation, ...]:
    """What each agent of the text starts."""
    bare = _COMMENT.sub("", text)
    found: list[Invocation] = []
    folder = _text_of("WorkingDirectory", bare)
    problems = (
        (f"relative_path: paths are relative to {folder}, where launchd starts it",)
        if folder
        else ()
    )
    env = {
        html.unescape(name.strip()): html.unescape(value)
        for block in _VARIABLES.findall(bare)
        for name, value in _PAIR.findall(block)
    }
    for block in _WORDS.findall(bare):
        words = tuple(html.unescape(word) for word in _STRING.findall(block))
        told = problems if any(_is_relative(word) for word in words) else ()
        call = Call(words, env, _text_of("Label", bare), folder, told)
        found += unwrapped(call, "launchd") if words else ()
    return tuple(found)


def _text_of(key: str, text: str) -> str:
    match = re.search(_TEXT_OF % key, text, re.DOTALL)
    return html.unescape(match.group(1)) if match else ""


def _is_relative(word: str) -> bool:
    return re.fullmatch(r"(?![/~-])\S*\.(?:gguf|bin|jinja|ini)", word) is not None
