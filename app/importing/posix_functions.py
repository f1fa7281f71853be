"""Functions of a text for a shell: their commands stand where they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.importing.posix_tokens import Token

_DEEPEST = 6
# Functions that call each other several times multiply; no script that starts an engine is near.
_MOST_CALLS = 60


class Functions:
    """The functions of one text, and which of them were called."""

    def __init__(self) -> None:
        """Begin with none."""
        self._bodies: dict[str, Sequence[Token]] = {}
        self._called: set[str] = set()
        self._calls = 0
        self._inside: list[str] = []

    def define(self, bodies: Mapping[str, Sequence[Token]]) -> None:
        """Take the functions of a text."""
        self._bodies |= bodies

    def has(self, name: str) -> bool:
        """Whether the text defines a function of that name."""
        return name in self._bodies

    def enter(self, name: str) -> Sequence[Token] | None:
        """The commands of a function that is called; None where it calls itself, or too deep."""
        self._called.add(name)
        self._calls += 1
        is_deep = len(self._inside) >= _DEEPEST or name in self._inside
        if is_deep or self._calls > _MOST_CALLS:
            return None
        self._inside.append(name)
        return self._bodies[name]

    def leave(self) -> None:
        """The function that was entered last ends."""
        self._inside.pop()

    def uncalled(self) -> Iterator[Sequence[Token]]:
        """The commands of functions that nothing of the text calls, as files of aliases have."""
        for name, body in self._bodies.items():
            if name not in self._called:
                self._called.add(name)
                yield body
