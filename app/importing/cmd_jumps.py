"""Jumps of a batch file: what they skip happens for certain, perhaps, or not at all.

Only jumps forward count: what is between ``goto`` and its label may be skipped, and each label in
there begins another way through it. Nothing is executed, so a loop is read once.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.importing.open_values import OpenValues


class Jumps:
    """Follows them, line by line."""

    def __init__(self, labels: Mapping[str, int], values: OpenValues) -> None:
        """Begin.

        Args:
            labels: Where each is, in lower case: the number of the line behind it.
            values: What is open of the variables.
        """
        self._labels = labels
        self._places = set(labels.values())
        self._values = values
        self._wanted = -1
        self._is_certain = False
        self._end = -1

    def jump(self, label: str, at: int) -> None:
        """``goto label`` in the line with the number ``at``."""
        place = self._labels.get(label.lower(), -1)
        holds = self._values.holds
        # What is jumped over already is left by another way, if it is reached at all.
        if place > at + 1 and (holds is not False or self._end >= 0):
            self._wanted = max(self._wanted, place)
            self._is_certain = holds is True and self._end < 0

    def begin_line(self, at: int, *, is_free: bool) -> None:
        """The line with the number ``at`` begins.

        Args:
            at: The number.
            is_free: Whether it stands in no block.
        """
        if self._end >= 0 and at in self._places and is_free:
            if at >= max(self._end, self._wanted):
                self._values.leave()
                self._end = -1
            else:
                self._values.next_branch(None)
        if self._wanted > at and is_free:
            if self._end < 0:
                self._values.enter(False if self._is_certain else None)
            self._end = max(self._end, self._wanted)
            self._wanted = -1
        elif self._wanted <= at:
            self._wanted = -1
