"""How a search on a hub stands, in a sentence. Pure text."""

from __future__ import annotations

from app.library.hub_filters import HubFilter, HubFilters, HubFound
from app.library.hub_shapes import HubSort
from app.library.parameter_counts import parameters_text

_NO_WORDS = "Nothing with GGUF files has that in its name."
_NOTHING = "The hub tells of nothing with GGUF files."
_SHOWN_NAMES = 6


def found_words(found: HubFound, filters: HubFilters, sort: HubSort, words: str) -> str:
    """What was found of how many.

    Args:
        found: What is known.
        filters: What was to pass.
        sort: What was to stand first.
        words: That were looked for; may be empty.
    """
    if found.is_done and not found.models:
        return _nothing_words(found, filters, words)
    # What is sorted here is not all there is.
    is_some = sort in {HubSort.SMALLEST, HubSort.LARGEST} and not found.is_all
    which = "most downloaded" if is_some else "repositories"
    count, of_count = len(found.models), found.looked_through
    if not filters.active:
        text = f"The {count:,} {which}" if is_some else _counted(count)
    else:
        among = f"the {of_count:,} {which}" if is_some else _counted(of_count)
        text = f"{count:,} of {among} looked through"
    if not found.is_done:
        return f"{text} …"
    by_size = ", by size" if is_some else ""
    return f"{text}{by_size}; {'these are all' if found.is_all else 'the hub has more'}"


def size_words(filters: HubFilters) -> str:
    """The bounds of the number of parameters: ``2B to 5B parameters``."""
    least = parameters_text(filters.min_parameters) if filters.min_parameters else ""
    most = parameters_text(filters.max_parameters) if filters.max_parameters else ""
    if least and most:
        return f"{least} to {most} parameters"
    return f"{least} parameters or more" if least else f"{most} parameters or fewer"


def _nothing_words(found: HubFound, filters: HubFilters, words: str) -> str:
    """Which filter left nothing."""
    if HubFilter.WORDS in found.emptied_by:
        return _NO_WORDS if words else _NOTHING
    if not found.looked_through:
        named = "what has that in its name" if words else "what has GGUF files"
        return f"Of {named} nothing has {size_words(filters)}."
    begin = f"Of {_counted(found.looked_through)} looked through"
    if found.emptied_by:
        none = " and none ".join(_is_so(name, filters) for name in found.emptied_by)
        tail = "" if found.is_all else " The hub has more: add words to look among fewer."
        return f"{begin} none {none}.{_hint(found)}{tail}"
    counts = ", ".join(
        f"{count:,} {_are_so(name, filters)}" for name, count in found.passing.items()
    )
    return f"{begin} none passes all filters at once: {counts}."


def _is_so(name: HubFilter, filters: HubFilters) -> str:
    return {
        HubFilter.ARCHITECTURE: f"is of the architecture {filters.architecture}",
        HubFilter.QUANTISATION: f"holds a quantisation {filters.quantisation}",
        HubFilter.SIZE: f"is known to have {size_words(filters)}",
    }[name]


def _are_so(name: HubFilter, filters: HubFilters) -> str:
    return {
        HubFilter.ARCHITECTURE: f"of the architecture {filters.architecture}",
        HubFilter.QUANTISATION: f"with a quantisation {filters.quantisation}",
        HubFilter.SIZE: f"with {size_words(filters)}",
    }[name]


def _hint(found: HubFound) -> str:
    """What there is instead."""
    if found.emptied_by == (HubFilter.ARCHITECTURE,):
        names = found.architectures
    elif found.emptied_by == (HubFilter.QUANTISATION,):
        names = found.quantisations
    else:
        return ""
    more = " and others" if len(names) > _SHOWN_NAMES else ""
    return f" There are: {', '.join(names[:_SHOWN_NAMES])}{more}." if names else ""


def _counted(count: int) -> str:
    return f"{count:,} repositories" if count != 1 else "1 repository"
