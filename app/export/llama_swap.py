"""A model of llama-swap, which starts and ends servers as requests name their models.

llama-swap drops lines of ``cmd`` that begin with ``#``, joins those that end with a backslash, puts
in its macros (``${PORT}`` and whatever ``${name}`` the file defines), and only then takes the text
apart: on Windows as programs there do, elsewhere as a POSIX shell does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from app.export import llama_answers
from app.export.carried import Carried, not_carried
from app.export.dialect import Export, ExportedFile, exported, refused
from app.export.llama_flag import situation_of
from app.export.told import (
    PROGRAM,
    grammar_file,
    in_a_file,
    model_name,
    told,
    why_not_in_file,
    without_flags,
    without_grammar,
)
from app.export.yaml_text import Block, yaml_text
from app.quoting import Shell, in_windows_quotes
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "llama-swap"
FILE = "llama-swap.yaml"
_MACRO = re.compile(r"\$\{(?:[A-Za-z0-9_-]+|env\.[A-Za-z_]\w*)\}")
_FLAG = re.compile(r"--?[A-Za-z]")
_BREAKS = re.compile(r"[\r\n\x85\u2028\u2029]")
# Not with a backslash at its end, which would join lines.
_BARE_ON_WINDOWS = re.compile(r"[\w.,:=+/\\-]*[\w.,:=+/-]", re.ASCII)
# It reaches the server at the port that it gives out.
_OWN_FLAGS = ("--port", "--host")


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a model of llama-swap, and the line that starts it."""
    answers = llama_answers.answers(situation_of(config, effective, facts, PROGRAM))
    plain, grammar = without_grammar(config)
    plain = without_flags(plain, *_OWN_FLAGS)
    server = told(plain, effective, facts)
    if reason := why_not_in_file(config, "llama-swap's file") or _why_not(server.words):
        return refused(TARGET, reason, answers)
    words = [*server.words, *(("--grammar-file", "grammar.gbnf") if grammar else ())]
    name = model_name(config, facts)
    cmd = _command([PROGRAM, "--port", "${PORT}", *words], is_windows=shell is not Shell.POSIX)
    text = yaml_text({"models": {name: {"cmd": Block(cmd)}}})
    files = [
        ExportedFile(FILE, text, "Put it where llama-swap finds it, or its model into your file.")
    ]
    if grammar:
        answers |= in_a_file(config)
        files.append(grammar_file(grammar, "Put it in the folder llama-swap is started in."))
    return exported(
        TARGET, ("llama-swap", "--config", FILE), _notes(name, server.notes),
        answers | _dropped(config, plain), shell,
        files=tuple(files),
    )  # fmt: skip


def _notes(name: str, notes: tuple[str, ...]) -> tuple[str, ...]:
    return (
        f"The first request whose model is {name} starts the server, at a port that llama-swap "
        "puts in for ${PORT}. It waits 120 s for it: healthCheckTimeout for models that load "
        "longer.",
        *notes,
    )


def _dropped(config: EngineConfig, plain: EngineConfig) -> dict[str, Carried]:
    """The answer for flags that llama-swap says itself."""
    dropped = [item for item in config.extra_flags if item not in plain.extra_flags]
    if not dropped:
        return {}
    reason = f"llama-swap chooses where the server listens, so this is left out: {dropped[0]}."
    return {"extra_flags": not_carried(reason)}


def _why_not(words: Sequence[str]) -> str:
    """Why one of ``words`` cannot be said; else empty."""
    for word in words:
        if found := _MACRO.search(word):
            return (
                f"llama-swap takes {found[0]} for a macro of its own, and it stands in {word!r}: "
                "rename the file, or write the text without it."
            )
        if _BREAKS.search(word):
            return (
                f"llama-swap reads a command line by line, and {word[:40]!r} has several lines: "
                "write the text in one."
            )
    return ""


def _command(words: Sequence[str], *, is_windows: bool) -> str:
    """The command with a line for each flag, which llama-swap takes apart again."""
    text = ""
    for number, word in enumerate(words):
        bare = word == "${PORT}"
        quoted = word if bare else _quoted(word, is_windows=is_windows)
        text += quoted if not number else ("\n" if _FLAG.match(word) else " ") + quoted
    return text + "\n"


def _quoted(word: str, *, is_windows: bool) -> str:
    if not is_windows:
        return shlex.quote(word)
    return word if _BARE_ON_WINDOWS.fullmatch(word) else in_windows_quotes(word)
