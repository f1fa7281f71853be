"""What a search on a hub lets pass, and what it found. Pure data.

A hub filters by the number of parameters itself; architecture and quantisation it only tells, so
those are compared here, among as many repositories as were looked through.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec

from app.library.hub_shapes import HubModel, HubSort

_UNSLOTH = "UD-"


class HubFilter(StrEnum):
    """What a repository may fail to pass."""

    WORDS = "words"
    ARCHITECTURE = "architecture"
    SIZE = "size"
    QUANTISATION = "quantisation"


class HubFilters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What repositories are wanted; the usual values let all pass.

    Attributes:
        architecture: As GGUF files say it, such as ``qwen3``; ``qwen*`` for all that begin so.
        quantisation: One that a repository must hold, such as ``Q4_K_M``; ``Q4*`` for all that
            begin so. ``UD-`` before a name makes no difference unless it is asked for.
        min_parameters: At least so many weights; 0 for no bound.
        max_parameters: At most so many weights; 0 for no bound.
    """

    architecture: str = ""
    quantisation: str = ""
    min_parameters: int = 0
    max_parameters: int = 0

    @property
    def active(self) -> tuple[HubFilter, ...]:
        """Which of them let not all pass."""
        is_on = {
            HubFilter.ARCHITECTURE: bool(self.architecture),
            HubFilter.SIZE: bool(self.min_parameters or self.max_parameters),
            HubFilter.QUANTISATION: bool(self.quantisation),
        }
        return tuple(name for name, on in is_on.items() if on)

    def passes(self, name: HubFilter, model: HubModel) -> bool:
        """Whether ``model`` passes one of them; what a hub does not tell does not pass."""
        if name is HubFilter.ARCHITECTURE:
            return _is_like(model.architecture, self.architecture)
        if name is HubFilter.QUANTISATION:
            return any(_is_quantisation(held, self.quantisation) for held in model.quantisations)
        most = self.max_parameters or model.parameters
        return model.parameters > 0 and self.min_parameters <= model.parameters <= most

    def holds(self, name: str) -> bool:
        """Whether a quantisation is of those that are wanted; False where none in particular is."""
        return bool(self.quantisation) and _is_quantisation(name, self.quantisation)


class HubFound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a search has found up to now.

    Attributes:
        models: The repositories that pass, in the order asked for; as a rule more than were wanted,
            for those of the last page are all there.
        looked_through: How many the hub told of.
        is_all: Whether it has no more of them.
        is_done: Whether no more are looked for.
        passing: How many pass each of the active filters alone.
        architectures: Of those looked through, the most frequent first.
        quantisations: Of those looked through, the most frequent first.
        emptied_by: The filters each of which alone left nothing; empty where something was found,
            or where only all of them together leave nothing.
        next: What to ask the hub for what comes after; empty where nothing does.
    """

    models: tuple[HubModel, ...] = ()
    looked_through: int = 0
    is_all: bool = False
    is_done: bool = False
    passing: dict[HubFilter, int] = {}
    architectures: tuple[str, ...] = ()
    quantisations: tuple[str, ...] = ()
    emptied_by: tuple[HubFilter, ...] = ()
    next: tuple[tuple[str, str], ...] = ()

    def first(self, most: int) -> HubFound:
        """At most so many of the repositories; those beyond are told of as some the hub has."""
        is_all = self.is_all and len(self.models) <= most
        return msgspec.structs.replace(self, models=self.models[:most], is_all=is_all)

    def followed_by(self, later: HubFound, sort: HubSort) -> HubFound:
        """This, and what a search found that went on where this ended."""
        if not self.looked_through:
            return later
        here = {model.repo for model in self.models}
        models = (*self.models, *(each for each in later.models if each.repo not in here))
        passing = {name: count + self.passing.get(name, 0) for name, count in later.passing.items()}
        return msgspec.structs.replace(
            later,
            models=in_order(models, sort),
            looked_through=self.looked_through + later.looked_through,
            passing=passing,
            architectures=tuple(dict.fromkeys(self.architectures + later.architectures)),
            quantisations=tuple(dict.fromkeys(self.quantisations + later.quantisations)),
            emptied_by=()
            if models
            else tuple(name for name, count in passing.items() if not count),
        )


def in_order(models: Sequence[HubModel], sort: HubSort) -> tuple[HubModel, ...]:
    """By size where that is asked for, those that do not tell it last; else as they are."""
    if sort is HubSort.SMALLEST:
        return tuple(sorted(models, key=lambda each: each.parameters or float("inf")))
    if sort is HubSort.LARGEST:
        return tuple(sorted(models, key=lambda each: -each.parameters))
    return tuple(models)


def _is_quantisation(held: str, wanted: str) -> bool:
    return _is_like(held, wanted) or _is_like(held.upper().removeprefix(_UNSLOTH), wanted)


def _is_like(text: str, wanted: str) -> bool:
    """Whatever the case, with ``*`` for anything; brackets and question marks are themselves."""
    plain = wanted.casefold().replace("[", "[[]").replace("?", "[?]")
    return bool(text) and fnmatchcase(text.casefold(), plain)
