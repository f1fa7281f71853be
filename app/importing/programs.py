"""Names of programs: which are engines, and what an image of a container starts.

Knows names; must not know any engine's flags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.importing.name_sets import names

# The beginning decides: builds carry versions and systems in their names.
_FAMILIES = (
    ("llama-swap", re.compile(r"llama-swap")),
    ("ramalama", re.compile(r"ramalama$")),
    ("llamafile", re.compile(r"llamafile|.*\.llamafile$")),
    ("llama-cpp-python", re.compile(r"llama_cpp\.server")),
    (
        "llama.cpp",
        re.compile(r"llama-(?!stack|index|factory|recipes|quantize|gguf|swap|\d)[a-z0-9]"),
    ),
    ("llama.cpp", re.compile(r"(?:llama|ollama_llama_server|llama_server|server|main)$")),
    ("ollama", re.compile(r"ollama(?: app)?$")),
    ("vllm", re.compile(r"vllm$|vllm\.entrypoints\.")),
    ("sglang", re.compile(r"sglang$|sglang\.(?:launch_server|srt)|sglang_router\.launch_server")),
    ("koboldcpp", re.compile(r"kobold_?cpp")),
    ("tensorrt-llm", re.compile(r"trtllm-|tensorrt_llm\.commands\.")),
    ("lmstudio", re.compile(r"lms$")),
)
# So general that only a folder before them tells that they are llama.cpp's of old.
_GENERAL_NAMES = frozenset({"server", "main"})
# Files of weights have names of engines in theirs.
_WEIGHTS = re.compile(r"\.(?:gguf|ggml|bin|safetensors|pth?)$")
# A script that is called so is some other program's.
_OF_SCRIPTS = (".py", ".sh", ".bat", ".cmd", ".ps1")
# Words of English too: a command only with one of these behind it, or with a flag.
_SUBCOMMANDS = {
    "ollama": names("serve start run create show pull push list ps cp rm stop runner"),
    "vllm": names("serve bench chat complete run-batch"),
    "sglang": frozenset({"serve", "generate"}),
    "llama": names("serve server cli run chat bench completion"),
    "ramalama": names("serve run"),
    "lms": names("load server get ps ls unload chat"),
}
# What stands behind a program and is no word of a sentence.
_NO_WORD = ("-", "–", "—", "$", "%", "@", "`", "^", "\\", "#")
_ENDINGS = re.compile(r"\.(?:exe|py|sh|bat|cmd|ps1)$")


@dataclass(frozen=True)
class Started:
    """What an image of a container starts by itself.

    Attributes:
        program: Its name.
        words: What stands before the words of the command.
    """

    program: str
    words: tuple[str, ...] = ()


_IMAGES = (
    (re.compile(r"llama\.cpp:server|llama\.cpp-server|llama-cpp-server"), Started("llama-server")),
    (re.compile(r"llama\.cpp:light"), Started("llama-cli")),
    (re.compile(r"llama\.cpp:full"), Started("")),
    (re.compile(r"mostlygeek/llama-swap|/llama-swap(?::|$)"), Started("llama-swap")),
    (re.compile(r"vllm"), Started("vllm", ("serve",))),
    (re.compile(r"(?:^|/)ollama(?:/ollama)?(?::|@|$)"), Started("ollama")),
    (re.compile(r"koboldcpp"), Started("koboldcpp")),
    # Whoever names an image so starts the server in it, where its first word is a flag.
    (re.compile(r"llama[._-]?cpp(?!-python)|llama[._-]server"), Started("llama-server")),
)
# Programs that start others: no image starts them with more words before.
_STARTS = re.compile(r"(?:\S*/)?(?:python[\d.]*|bash|sh|zsh|env|tini|numactl|uv|nohup|exec)$")
_FULL_IMAGE = re.compile(r"llama\.cpp:full")
# llama.cpp's full image chooses among its programs by the first word.
OF_FULL_IMAGE = {
    "--server": "llama-server",
    "-s": "llama-server",
    "--run": "llama-cli",
    "-r": "llama-cli",
    "--bench": "llama-bench",
    "-b": "llama-bench",
}
"""What the full image of llama.cpp starts by its first word."""


def base_name(program: str) -> str:
    r"""The name without its folder, for paths with ``/`` and with ``\``."""
    return re.split(r"[/\\]", program.rstrip("/\\"))[-1]


def family(program: str) -> str:
    """Which engine a program belongs to; empty for every other.

    Args:
        program: Its name, with or without folder and ending.
    """
    base = base_name(program)
    name = _ENDINGS.sub("", base.lower())
    if _WEIGHTS.search(name):
        return ""
    is_bare = base == program and "." not in program
    if name in _GENERAL_NAMES and (is_bare or base.lower().endswith(_OF_SCRIPTS)):
        return ""
    return next((engine for engine, pattern in _FAMILIES if pattern.match(name)), "")


def is_call(words: Sequence[str]) -> bool:
    """Whether ``words`` call an engine, and do not merely speak of one."""
    if not words or not family(words[0]):
        return False
    following = words[1] if len(words) > 1 else ""
    if following in {"-", "–", "—"}:  # of a sentence
        return False
    if not following or following.startswith(_NO_WORD):
        return True
    name = _ENDINGS.sub("", base_name(words[0]).lower())
    if name in _SUBCOMMANDS:
        return following in _SUBCOMMANDS[name]
    # A path or a file ending is no word of a sentence; a bare name may be.
    is_name = base_name(words[0]) == words[0] and "." not in words[0]
    return not is_name or _is_operand(following)


def _is_operand(word: str) -> bool:
    return re.match(r"[&|;<>0-9]|.*?[/\\]|.*?\.\w", word) is not None


def started_by(image: str, words: Sequence[str]) -> tuple[Started, tuple[str, ...]]:
    """What a container of ``image`` starts when it gets ``words``, and the words left to it.

    The program is empty where the words begin with it, or where the image is not known.
    """
    if words and not words[0].startswith("-") and (family(words[0]) or _STARTS.match(words[0])):
        return Started(""), tuple(words)
    if _FULL_IMAGE.search(image) and words and words[0] in OF_FULL_IMAGE:
        return Started(OF_FULL_IMAGE[words[0]]), tuple(words[1:])
    is_flag = not words or words[0].startswith("-")
    for pattern, started in _IMAGES:
        if pattern.search(image) and (is_flag or not pattern.pattern.startswith("llama[")):
            # The first word of the program may be said once more.
            said = len(started.words) if tuple(words[: len(started.words)]) == started.words else 0
            return started, tuple(words[said:])
    return Started(""), tuple(words)
