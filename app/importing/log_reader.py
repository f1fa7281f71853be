"""Commands as programs print them into their logs: word by word, as lists, as settings.

Knows how logs are written; must not know any engine's flags.
"""

from __future__ import annotations

import ast
import json
import re
import shlex

_WORD = re.compile(r"^[^\n]{0,160}?\bload:[ \t]{2,}(\S[^\n]*)$", re.MULTILINE)
_STARTS = re.compile(r"instance with (?:args|arguments|command)")
_SETTINGS = re.compile(r"non-default args: ?\{")
# Longer ones are no words that anybody started a program with.
_LONGEST_CHARACTERS = 20_000
LOG = "log_paste: the words were taken out of the lines of a log; it may be cut off"


def command_in_log(text: str) -> str:
    """What a log tells to have been started, a line for each start; empty where it tells none."""
    return _word_by_word(text) or _as_settings(text)


def _word_by_word(text: str) -> str:
    """llama-server's router prints one word a line."""
    if len(_WORD.findall(text)) < 2:
        return ""
    starts: list[list[str]] = [[]]
    for line in text.split("\n"):
        match = _WORD.match(line)
        if _STARTS.search(line):
            starts.append([])
        elif match:
            starts[-1].append(match.group(1).strip())
    return "\n".join(shlex.join(words) for words in starts if words)


def _as_settings(text: str) -> str:
    """What vLLM prints of what was not left as it is, by its flags' names."""
    match = _SETTINGS.search(text)
    end = text.find("\n", match.end()) if match else -1
    line = text[match.end() - 1 : end if end >= 0 else len(text)] if match else ""
    settings = _literal(line[: line.rfind("}") + 1])
    if not isinstance(settings, dict):
        return ""
    words = ["vllm", "serve"]
    for name, value in settings.items():
        if isinstance(name, str) and value is not None:
            words += _words(f"--{name.replace('_', '-')}", value)
    return shlex.join(words)


def _words(flag: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, dict):
        return [flag, json.dumps(value, default=str)]
    if isinstance(value, (list, tuple)):
        return [flag, *map(str, value)]
    return [flag, str(value)]


def list_in_line(line: str) -> list[str]:
    """A list of words as programs print it (``['vllm', 'serve', …]``); empty where none stands."""
    start = max(line.find("['"), line.find('["'))
    words = _literal(line[start : line.rfind("]") + 1]) if start >= 0 else None
    is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return list(words) if is_list and isinstance(words, list) else []


def _literal(text: str) -> object:
    """What a text says as Python writes it; nothing is called and nothing is looked up."""
    if not text or len(text) > _LONGEST_CHARACTERS:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
