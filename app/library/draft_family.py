"""By which words models of a family are found on a hub, from what a header says of itself. Pure.

A draft must have the vocabulary of its target, and families keep theirs: Qwen2.5-Coder-7B is
drafted for by Qwen2.5-Coder-0.5B, else by whatever else is called Qwen2.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

# Sizes as names say them: 0.5B, 270m, 30B-A3B, 8x7B.
_SIZE = re.compile(r"(?:(\d+)x)?(\d+(?:\.\d+)?)([BM])", re.IGNORECASE)
_ACTIVE_SIZE = re.compile(r"[AE]\d+(?:\.\d+)?[BM]", re.IGNORECASE)
_QUANTISED = re.compile(r"(?:I?Q\d|TQ\d|BF16|F16|F32|FP\d+|MXFP4|NVFP4|INT\d)", re.IGNORECASE)
# What is said of a model beside its family: how it was trained further and packed.
_TAILS = frozenset(
    {
        "instruct", "chat", "it", "base", "gguf", "awq", "gptq", "hf", "ud", "qat", "thinking",
        "uncensored", "abliterated", "imatrix", "draft", "model",
    }
)  # fmt: skip
_HEAD = re.compile(
    r"(?:^|[-_./])(?:draft|drafter|eagle[-_]?3|dflash|dspark|mtp|speculator)(?:[-_.]|$)",
    re.IGNORECASE,
)
_SCALES = {"B": 1_000_000_000, "M": 1_000_000}
_MOST_NAMES = 4


class Sayings(Protocol):
    """What a header has under its keys, as one short line each."""

    def line(self, key: str) -> str:
        """The text under ``key``, empty if there is none."""
        ...


@dataclass(frozen=True)
class Family:
    """The family of a model.

    Attributes:
        names: What its models are called, the nearest first: ``Qwen2.5-Coder``, ``Qwen2.5``; what
            it was made of last.
        own: The model's own name with its size, ``Qwen2.5-Coder-7B``.
    """

    names: tuple[str, ...]
    own: str


def family_of(header: Sayings, name: str) -> Family:
    """What a model's relatives are called.

    Args:
        header: Its header.
        name: What it is called where the header says nothing: its file's name without its end.
    """
    told = [
        header.line("general.basename"),
        header.line("general.name") or name,
        *(header.line(f"general.base_model.{number}.name") for number in range(2)),
        *(_last(header.line(f"general.base_model.{number}.repo_url")) for number in range(2)),
    ]
    stems = [stem for stem in map(_stem, told) if stem]
    names = _without_repeats([name for stem in stems for name in (stem, _root(stem))])
    size = header.line("general.size_label") or _size_word(told[1])
    own = _stem(told[1]) or (stems[0] if stems else "")
    return Family(names[:_MOST_NAMES], f"{own}-{size}" if own and size else own)


def size_in(name: str) -> int:
    """Number of weights that a name tells, 0 where it tells none: ``Qwen2.5-0.5B`` says 5e8."""
    for word in _words(name):
        if found := _SIZE.fullmatch(word):
            return round(int(found[1] or 1) * float(found[2]) * _SCALES[found[3].upper()])
    return 0


def is_drafter(name: str) -> bool:
    """Whether a name says that what is called so drafts for another model."""
    return _HEAD.search(name) is not None


def _stem(name: str) -> str:
    """A name up to its size, without what is said behind: ``Qwen2.5-Coder``."""
    kept: list[str] = []
    for word in _words(name):
        if _is_size(word) or _QUANTISED.match(word) or word.casefold() in _TAILS:
            break
        kept.append(word)
    return "-".join(kept)


def _root(stem: str) -> str:
    """A stem up to the first word that counts: of ``Qwen2.5-Coder`` the ``Qwen2.5``."""
    words = stem.split("-")
    for number, word in enumerate(words):
        if any(map(str.isdigit, word)):
            return "-".join(words[: number + 1])
    return stem


def _size_word(name: str) -> str:
    return next((word for word in _words(name) if _is_size(word)), "")


def _is_size(word: str) -> bool:
    return bool(_SIZE.fullmatch(word) or _ACTIVE_SIZE.fullmatch(word))


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[\s_/-]+", name) if word]


def _last(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def _without_repeats(names: list[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.casefold(), name)
    return tuple(found.values())
