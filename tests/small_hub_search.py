"""How the small hub searches: as the real one's documentation says, and no more kindly.

It filters by tags and by the number of parameters, sorts, sends pages, tells only what was asked
for, and of files no more than their names.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.small_hub import Repository

_MOST_ON_A_PAGE = 1_000
_BOUND = re.compile(r"(min|max):(\d+(?:\.\d+)?)([KMBT]?)")
_SCALES = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_SORTS: dict[str, Callable[[Repository], Any]] = {
    "downloads": lambda each: each.downloads,
    "likes": lambda each: each.likes,
    "lastModified": lambda each: each.updated,
    "trendingScore": lambda each: each.trending,
}


def _gguf(repository: Repository) -> dict[str, Any]:
    if not repository.parameters:
        return {}
    return {
        "total": repository.parameters,
        "architecture": repository.architecture,
        "context_length": 32_768,
        "chat_template": "{{ messages }}",
    }


_TOLD: dict[str, Callable[[Repository], Any]] = {
    "downloads": lambda each: each.downloads,
    "likes": lambda each: each.likes,
    "lastModified": lambda each: each.updated,
    "gated": lambda each: "auto" if each.gated else False,
    "gguf": _gguf,
    "siblings": lambda each: [{"rfilename": path} for path in each.files],
}
_KNOWN = {"filter", "search", "sort", "limit", "expand", "cursor", "num_parameters"}


class Answer(NamedTuple):
    """One page.

    Attributes:
        page: The repositories on it.
        cursor: What the next page is asked with; None for the last.
    """

    page: list[dict[str, Any]]
    cursor: str | None


def found_in(
    repositories: Mapping[str, Repository], query: Mapping[str, list[str]]
) -> Answer | None:
    """A page of what a search finds; None where it is asked what it does not know."""
    bounds = _bounds(query.get("num_parameters", [""])[0])
    sort = _SORTS.get(query.get("sort", ["trendingScore"])[0])
    expanded = query.get("expand", [])
    if bounds is None or sort is None or not set(expanded) <= set(_TOLD) or set(query) - _KNOWN:
        return None
    words = query.get("search", [""])[0].lower()
    found = [
        (name, each)
        for name, each in repositories.items()
        if words in name.lower()
        and all(tag in _tags(each) for tag in query.get("filter", []))
        and bounds[0] <= each.parameters <= bounds[1]
    ]
    found.sort(key=lambda each: sort(each[1]), reverse=True)
    begin = int(base64.b64decode(query["cursor"][0])) if "cursor" in query else 0
    end = begin + min(_MOST_ON_A_PAGE, int(query.get("limit", [str(_MOST_ON_A_PAGE)])[0]))
    page = [
        {"id": name, "modelId": name} | {key: _TOLD[key](each) for key in expanded}
        for name, each in found[begin:end]
    ]
    cursor = base64.b64encode(str(end).encode()).decode() if end < len(found) else None
    return Answer(page, cursor)


def _bounds(text: str) -> tuple[float, float] | None:
    """Bounds of the number of parameters; None where they are not written as the hub wants."""
    least, most = (0.0, float("inf"))
    for part in filter(None, text.split(",")):
        bound = _BOUND.fullmatch(part)
        if bound is None:
            return None
        count = float(bound[2]) * _SCALES[bound[3]]
        least, most = (count, most) if bound[1] == "min" else (least, count)
    # Whose parameters nobody counted is in no range.
    return (max(least, 1.0), most) if text else (least, most)


def _tags(repository: Repository) -> set[str]:
    return {"gguf"} if any(path.lower().endswith(".gguf") for path in repository.files) else set()
