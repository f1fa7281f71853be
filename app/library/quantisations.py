"""Files of a repository, sorted into models, parts of models, projectors and drafts. Pure.

By their names alone: nobody reads a header before somebody asks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from app.library.hub_shapes import HubFile, Quantisation

_PART = re.compile(r"^(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE)
# What llama.cpp's own tools and those who publish write at the end of a name: Q4_K_M, IQ3_XXS,
# UD-Q4_K_XL, MXFP4_MOE, TQ2_0, BF16, F16.
_NAME = re.compile(
    r"(?:^|[-._])(?P<name>(?:UD-)?(?:I?Q\d|TQ\d|MXFP4|NVFP4|BF16|F16|F32|FP16|FP32)"
    r"(?:_[A-Z0-9]+)*)$",
    re.IGNORECASE,
)
_PROJECTOR = re.compile(r"(?:^|[-_.])mmproj(?:[-_.]|$)", re.IGNORECASE)
_DRAFT = re.compile(r"(?:^|[-_.])(?:draft|eagle3?|dflash|dspark|mtp)(?:[-_.]|$)", re.IGNORECASE)
_NO_MODEL = re.compile(r"(?:^|[-_.])(?:imatrix|lora|adapter|control[-_]?vector)(?:[-_.]|$)", re.I)
_MOST_PARTS = 999


class Sorted(NamedTuple):
    """The files of a repository by what they are."""

    models: tuple[Quantisation, ...]
    projectors: tuple[HubFile, ...]
    drafts: tuple[HubFile, ...]


def sorted_files(files: Iterable[HubFile]) -> Sorted:
    """Sort the GGUF files of a repository; all others are left out."""
    models: dict[str, dict[int, HubFile]] = {}
    counts: dict[str, int] = {}
    projectors, drafts = [], []
    for file in sorted(files, key=lambda each: each.path):
        stem = _stem(file.path)
        # A name that leads out of the repository is nobody's model.
        if stem is None or _leads_out(file.path) or _NO_MODEL.search(_last(stem)):
            continue
        if _PROJECTOR.search(_last(stem)):
            projectors.append(file)
            continue
        if _DRAFT.search(_last(stem)):
            drafts.append(file)
            continue
        number, count = _place(file.path)
        models.setdefault(stem, {})[number] = file
        counts[stem] = count
    made = [_quantisation(stem, parts, counts[stem]) for stem, parts in models.items()]
    made = _with_own_names(made)
    made.sort(key=lambda each: (each.size_bytes, each.name))
    return Sorted(tuple(made), tuple(projectors), tuple(drafts))


def quantisation_names(paths: Iterable[str]) -> tuple[str, ...]:
    """The quantisations of the models among files, each once; those without a name are left out."""
    models = sorted_files(HubFile(path, 0) for path in paths).models
    stems = sorted(_stem(model.files[0].path) or "" for model in models if model.files)
    return tuple(dict.fromkeys(filter(None, map(quantisation_name, stems))))


def quantisation_name(stem: str) -> str:
    """What a file's name says of its quantisation; empty where it says nothing."""
    found = _NAME.search(_last(stem))
    if found is None and "/" in stem:  # Q4_K_M/model-00001-of-00002.gguf
        found = _NAME.search(stem.split("/")[-2])
    return found["name"] if found else ""


def _leads_out(path: str) -> bool:
    parts = path.replace("\\", "/").split("/")
    return path.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]


def _stem(path: str) -> str | None:
    part = _PART.match(path)
    if part is not None and 1 <= int(part["count"]) <= _MOST_PARTS:
        return part["stem"]
    return path[: -len(".gguf")] if path.lower().endswith(".gguf") else None


def _place(path: str) -> tuple[int, int]:
    part = _PART.match(path)
    return (1, 1) if part is None else (int(part["number"]), int(part["count"]))


def _last(stem: str) -> str:
    return stem.rpartition("/")[2]


def _quantisation(stem: str, parts: dict[int, HubFile], count: int) -> Quantisation:
    files = tuple(parts[number] for number in sorted(parts) if 1 <= number <= count)
    return Quantisation(quantisation_name(stem) or _last(stem), files, count - len(files))


def _with_own_names(models: list[Quantisation]) -> list[Quantisation]:
    """A repository with several models of one quantisation: each by its file's name."""
    names = Counter(model.name.casefold() for model in models)
    return [
        model
        if names[model.name.casefold()] == 1
        else Quantisation(_last(_stem(model.files[0].path) or ""), model.files, model.missing_parts)
        for model in models
    ]
