"""Which of llama.cpp's programs is called, by today's name or by an earlier one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.export.engine_words import EngineWords, Word, engine_words
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.llama_retired import RETIRED
from app.importing.llama_said import Vocabulary
from app.importing.programs import base_name

SERVER, UNITED, CLI, BENCH, FILE = (
    "llama-server",
    "llama serve",
    "llama-cli",
    "llama-bench",
    "llamafile",
)
SERVERS = (SERVER, UNITED)

_ENDINGS = re.compile(r"\.(?:exe|py|sh|bat|cmd|ps1)$")
# What the program that unites the tools is told to be.
_SUBCOMMANDS = {"serve": UNITED, "server": UNITED, "bench": BENCH}
# Names before June 2024, and of the engine that Ollama brought along.
_OF_OLD = {
    "server": SERVER,
    "main": CLI,
    "llama_server": SERVER,
    "ollama_llama_server": SERVER,
}
_OLD_IMAGE = "ggerganov"


def _word(*names: str, arity: int = 0) -> Word:
    return Word(names, kind="str" if arity else "bool", arity=arity)


# What llama-cli takes and the server does not.
_CLI_WORDS = EngineWords(
    engine="llama-cli",
    version="0.5.0",
    source="releases of github.com/ggml-org/llama.cpp",
    underscores="--",
    flags=(
        _word("-p", "--prompt", arity=1),
        _word("-f", "--file", arity=1),
        _word("-bf", "--binary-file", arity=1),
        _word("-sys", "--system-prompt", arity=1),
        _word("-sysf", "--system-prompt-file", arity=1),
        _word("-cnv", "--conversation"),
        _word("-no-cnv", "--no-conversation"),
        _word("-st", "--single-turn"),
        _word("-mli", "--multiline-input"),
        _word("-i", "--interactive"),
        _word("-if", "--interactive-first"),
        _word("-co", "--color"),
        _word("--simple-io"),
        _word("--display-prompt"),
        _word("--no-display-prompt"),
        _word("--verbose-prompt"),
        _word("--show-timings"),
        _word("--no-show-timings"),
        _word("--in-prefix", arity=1),
        _word("--in-suffix", arity=1),
        _word("--in-prefix-bos"),
        _word("--prompt-cache", arity=1),
        _word("--prompt-cache-all"),
        _word("--prompt-cache-ro"),
        _word("--print-token-count", arity=1),
        _word("--image", "--audio", arity=1),
    ),
)


@dataclass(frozen=True)
class Tool:
    """A program of llama.cpp.

    Attributes:
        target: Its name today.
        words: What it gets behind its name and its command.
        vocabulary: What it knows.
    """

    target: str
    words: tuple[str, ...]
    vocabulary: Vocabulary

    @property
    def is_server(self) -> bool:
        """Whether it serves."""
        return self.target in SERVERS


def tool_of(invocation: Invocation) -> Tool:
    """The program of ``invocation``; the server where nothing else is said."""
    target = _target_of(invocation)
    return Tool(target, _words_behind_command(invocation), _vocabulary_of(target))


def tell_age(invocation: Invocation, target: str, gathering: Gathering) -> None:
    """Tell of a program, an image or a build that goes by another name now."""
    name = _plain_name(invocation)
    if name in _OF_OLD:
        runner = " runner" if invocation.words[:1] == ("runner",) else ""
        gathering.problem("old_program", f"{name}{runner} is called {target} today")
    if _OLD_IMAGE in invocation.image:
        gathering.problem("old_image", "images of ggerganov moved to ghcr.io/ggml-org/llama.cpp")
    if target == FILE:
        gathering.problem(
            "foreign_program", "llamafile brings an engine of its own, with flags of its own"
        )


def _target_of(invocation: Invocation) -> str:
    name = _plain_name(invocation)
    if name == "llama":
        return _SUBCOMMANDS.get(next(iter(invocation.words), "serve"), CLI)
    if name in _OF_OLD:
        return _OF_OLD[name]
    if "llamafile" in name:
        return FILE
    for target in (SERVER, BENCH):
        if name.startswith(target):
            return target
    return CLI if name.startswith("llama-") else SERVER


def _plain_name(invocation: Invocation) -> str:
    return _ENDINGS.sub("", base_name(invocation.program).lower())


def _words_behind_command(invocation: Invocation) -> tuple[str, ...]:
    words = invocation.words
    if not words or words[0].startswith("-"):
        return words
    is_command = _plain_name(invocation) == "llama" or words[0] == "runner"
    return words[1:] if is_command else words


def _vocabulary_of(target: str) -> Vocabulary:
    if target == BENCH:
        return Vocabulary(engine_words("llama_bench"), RETIRED)
    if target in SERVERS:
        return Vocabulary(engine_words("llama_cpp"), RETIRED)
    return Vocabulary(_CLI_WORDS, engine_words("llama_cpp"), RETIRED)
