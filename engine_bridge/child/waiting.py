"""Requests that wait for a slot, in order, each told its place.

Knows places in a line; must not know slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine_bridge.child.stream import Prepared
from engine_bridge.protocol import Event, RequestQueued


class WaitingLine:
    """First come, first served.

    Args:
        emit: Takes ``RequestQueued`` whenever a place changes.
    """

    def __init__(self, emit: Callable[[Event], None]) -> None:
        """An empty line."""
        self._emit = emit
        self._line: list[Prepared] = []
        self._told: dict[int, int] = {}

    def __bool__(self) -> bool:
        """Whether anyone waits."""
        return bool(self._line)

    def __iter__(self) -> Iterator[Prepared]:
        """Those who wait, next first."""
        return iter(self._line)

    @property
    def first(self) -> Prepared:
        """Who is next."""
        return self._line[0]

    def add(self, prepared: Prepared) -> None:
        """Join at the end; ``tell`` says the place."""
        self._line.append(prepared)

    def leave(self, request_id: int) -> Prepared | None:
        """Take someone out of the line; None if not in it."""
        for place, prepared in enumerate(self._line):
            if prepared.command.request_id == request_id:
                self._told.pop(request_id, None)
                return self._line.pop(place)
        return None

    def tell(self) -> None:
        """Say every place that is new or has changed."""
        for place, prepared in enumerate(self._line, start=1):
            request_id = prepared.command.request_id
            if self._told.get(request_id) != place:
                self._told[request_id] = place
                self._emit(RequestQueued(request_id=request_id, position=place))
