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
_VALUE = re.compile(r'\bcmd="((?:[^"\\]|\\.)*)"')
_SETTINGS = re.compile(r"non-default args: ?\{")
# Ollama prints its environment as Go prints a map.
_VARIABLES = re.compile(r'msg="server config" env="map\[([^"\n]{1,20000})\]"')
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):(\[[^\]\n]*\]|[^\s\[\]]*)")
# Longer ones are no words that anybody started a program with.
_LONGEST_CHARACTERS = 20_000
LOG = "log_paste: the words were taken out of the lines of a log; it may be cut off"


def command_in_log(text: str) -> str:
    """What a log tells to have been started, a line for each start; empty where it tells none."""
    return _word_by_word(text) or _as_settings(text) or _of_ollama(text)


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
    model = settings.pop("model_tag", None)
    if isinstance(model, str):  # said again by its other name
        settings.pop("model", None)
        words.append(model)
    for name, value in settings.items():
        if isinstance(name, str) and value is not None:
            words += _words(f"--{name.replace('_', '-')}", value)
    return shlex.join(words)


def _of_ollama(text: str) -> str:
    return "\n".join(filter(None, (_as_variables(text), _as_value(text))))


def _as_value(text: str) -> str:
    """What Ollama prints as a value of its own: ``level=INFO … cmd="ollama runner …"``."""
    lines = [line for line in text.split("\n") if "level=" in line]
    found = [match.group(1) for line in lines if (match := _VALUE.search(line))]
    return "\n".join(each.replace('\\"', '"') for each in found)


def _words(flag: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"]
    if isinstance(value, dict):
        return [flag, json.dumps(value, default=str)]
    if isinstance(value, (list, tuple)):
        return [flag, *map(str, value)]
    return [flag, str(value)]


def _as_variables(text: str) -> str:
    """What Ollama's server prints of its environment, as a line that sets it."""
    lines = []
    for config in _VARIABLES.findall(text):
        said = [
            f"{name}={shlex.quote(value)}" for name, value in _VARIABLE.findall(config) if value
        ]
        lines.append(" ".join([*said, "ollama", "serve"]))
    return "\n".join(lines)


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
