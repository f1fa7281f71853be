"""What a shell would start, told by its text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# Variables that engines and their libraries read themselves; others that a text sets and uses are
# means of the text.
_SHOWN_CHARACTERS = 80
_MOST_SENTENCES = 50
_READ_BY_ENGINES = re.compile(
    r"(?:LLAMA_ARG|LLAMA_CACHE|GGML|CUDA|NVIDIA|NCCL|HIP|ROCM?|HSA|GPU|AMD|SYCL|ZES?|ONEAPI|"
    r"VK|OMP|KMP|GOMP|MKL|OLLAMA|VLLM|SGLANG|SGL|FLASHINFER|TRTLLM|TLLM|PYTORCH|TORCH|HF|"
    r"HUGGING_?FACE|TRANSFORMERS|TOKENIZERS|TRITON|LMCACHE|KCPP|KOBOLD\w*|LD|DYLD)(?:_|$)"
    r"|CUDACXX"
)


# More commands than any script has that starts engines; each has an environment of its own.
MOST_CALLS = 500


@dataclass(frozen=True)
class Call:
    """The words of one simple command, the program first.

    Attributes:
        words: Unquoted, variables put in where they are known.
        env: What the program would find in its environment from this text.
        title: What the text calls it, where it does.
        folder: The folder that the text went to before, as written.
        problems: ``code: sentence``.
        notes: Sentences.
    """

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    folder: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A text that stands inside another: a here-document, the content of a file.

    Attributes:
        name: The file it is for; empty where none is named.
        text: It.
        lacking: ``code: sentence`` by what the shell alone can put into it.
    """

    name: str
    text: str
    lacking: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Script:
    """Everything that one text for a shell starts.

    Attributes:
        calls: In the order of the text.
        env: What the text sets for programs, also where it starts none.
        problems: Of the text as a whole.
        documents: Texts that it holds.
    """

    calls: tuple[Call, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    documents: tuple[Document, ...] = ()


def kept_env(env: Mapping[str, str], used: Iterable[str]) -> dict[str, str]:
    """``env`` without what the text only sets to use it itself in ``used``."""
    means = {name for name in used if not is_read_by_engines(name)} | {"PATH", "Path"}
    return {name: value for name, value in env.items() if name not in means}


def is_read_by_engines(name: str) -> bool:
    """Whether engines, their libraries or the loader of the system read the variable."""
    return _READ_BY_ENGINES.match(name) is not None


def once(sentences: Iterable[str]) -> tuple[str, ...]:
    """Each sentence where it came first; no more than anybody reads."""
    return tuple(dict.fromkeys(sentences))[:_MOST_SENTENCES]


def is_relative_file(word: str) -> bool:
    """Whether a word names a file by a path that a change of folder changes."""
    is_absolute = re.match(r"[/~\\$%]|[A-Za-z]:", word) is not None
    return not is_absolute and re.search(r"\.(?:gguf|bin|jinja|ini)$", word) is not None


def home_problems(words: Iterable[str]) -> list[str]:
    """Of words that nobody puts the home folder into."""
    return [
        f"home_path: ~ in {word[:_SHOWN_CHARACTERS]} is not expanded there; write the full path"
        for word in words
        if re.match(r"~[/\\]|--?[\w-]+=~[/\\]", word)
    ]
