"""A search on a hub, page by page, until enough was found or enough was looked through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from app.library.hub_filters import HubFilter, HubFilters, HubFound, in_order
from app.library.hub_shapes import HubModel, HubSort

MOST_FOUND = 100
# A page of the real hub is about a megabyte: it sends the chat template of every model along.
MOST_LOOKED_THROUGH = 1_000
_PAGE = 100
_MOST_PAGES = 2 * MOST_LOOKED_THROUGH // _PAGE
_MOST_NAMES = 60
_BILLION = 10**9
_SORTS = {
    HubSort.DOWNLOADS: "downloads",
    HubSort.LIKES: "likes",
    HubSort.UPDATED: "lastModified",
    HubSort.TRENDING: "trendingScore",
    # Hubs do not sort by size: these are the most downloaded, put in order here.
    HubSort.SMALLEST: "downloads",
    HubSort.LARGEST: "downloads",
}
_WANTED = ("downloads", "likes", "lastModified", "gated", "gguf", "siblings")

Query: TypeAlias = Sequence[tuple[str, str]]


class Page(NamedTuple):
    """One answer of a hub.

    Attributes:
        models: What it tells of.
        next: What to ask for the page after it; empty for the last.
    """

    models: tuple[HubModel, ...]
    next: Query


AskPage: TypeAlias = Callable[[Query], Page]


class HubSearch:
    """One search.

    Args:
        ask: Asks the hub; may raise.
        words: That names have in them; may be empty.
        sort: What stands first.
        filters: What passes.
        most: As soon as so many passed no more pages are asked for, 1 to 1,000.
        after: Where an earlier search ended (``HubFound.next``); empty for the beginning.
    """

    def __init__(
        self,
        ask: AskPage,
        words: str,
        sort: HubSort,
        filters: HubFilters,
        *,
        most: int = MOST_FOUND,
        after: Query = (),
    ) -> None:
        """Ask nothing yet."""
        self._ask = ask
        self._words = words
        self._sort = sort
        self._filters = filters
        self._most = most
        self._after = after
        self._active = filters.active
        self._seen: set[str] = set()
        self._found: list[HubModel] = []
        self._passing: Counter[HubFilter] = Counter()
        self._architectures: Counter[str] = Counter()
        self._quantisations: Counter[str] = Counter()

    def run(self) -> Iterator[HubFound]:
        """What is known after each page; the last is done.

        Raises:
            HubError: In a sentence; what was told before stays true.
        """
        limit = _PAGE if self._active else min(_PAGE, self._most)
        query = self._after or self._first_query(self._filters, limit)
        for number in range(1, _MOST_PAGES + 1):
            page = self._ask(query)
            self._take(page.models)
            query = page.next
            is_done = (
                not query
                or len(self._found) >= self._most
                or len(self._seen) >= MOST_LOOKED_THROUGH
                or number == _MOST_PAGES
            )
            yield self._told(query, is_done=is_done)
            if is_done:
                return

    def _first_query(self, filters: HubFilters, limit: int) -> Query:
        query = [("filter", "gguf"), ("sort", _SORTS[self._sort])]
        if self._words:
            query.append(("search", self._words))
        if bounds := _bounds(filters):
            query.append(("num_parameters", bounds))
        query.append(("limit", str(limit)))
        return (*query, *(("expand", name) for name in _WANTED))

    def _take(self, models: Sequence[HubModel]) -> None:
        # What changes its place between two pages is told twice.
        for model in (each for each in models if each.repo not in self._seen):
            self._seen.add(model.repo)
            self._architectures.update(filter(None, (model.architecture,)))
            self._quantisations.update(model.quantisations)
            passed = [name for name in self._active if self._filters.passes(name, model)]
            self._passing.update(passed)
            if len(passed) == len(self._active):
                self._found.append(model)

    def _told(self, rest: Query, *, is_done: bool) -> HubFound:
        models = in_order(self._found, self._sort)
        return HubFound(
            models,
            len(self._seen),
            is_all=not rest,
            is_done=is_done,
            passing={name: self._passing[name] for name in self._active},
            architectures=_names(self._architectures),
            quantisations=_names(self._quantisations),
            emptied_by=self._emptied_by() if is_done and not models else (),
            next=tuple(rest),
        )

    def _emptied_by(self) -> tuple[HubFilter, ...]:
        if self._seen:
            return tuple(name for name in self._active if not self._passing[name])
        if HubFilter.SIZE in self._active:
            # The hub filtered by it, so it is asked what there would be without.
            rest = self._first_query(HubFilters(), 1)
            if self._ask(rest).models:
                return (HubFilter.SIZE,)
        return (HubFilter.WORDS,)


def _bounds(filters: HubFilters) -> str:
    """In whole billions, the only ones that are documented; what is too much falls out here."""
    parts = []
    if least := filters.min_parameters // _BILLION:
        parts.append(f"min:{least}B")
    if filters.max_parameters:
        parts.append(f"max:{-(-filters.max_parameters // _BILLION)}B")
    return ",".join(parts)


def _names(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(name for name, _ in counts.most_common(_MOST_NAMES))
