"""Columns of a table that leave, one after the other, where there is no room for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QWidget


class FittingColumns:
    """Which columns are seen in how much room.

    Args:
        columns: The cells of each column by its name, from left to right.
        leave_first: Names in the order in which they go; those that are not among them stay.
    """

    def __init__(
        self, columns: Mapping[str, Sequence[QWidget]], leave_first: Sequence[str]
    ) -> None:
        """Begin with all of them."""
        self._columns = columns
        self._leave_first = [name for name in leave_first if name in columns]
        self.left_out: frozenset[str] = frozenset()

    def least_px(self) -> int:
        """Width of those that stay."""
        return self._width_px(frozenset(self._leave_first))

    def fit(self, room_px: int) -> bool:
        """Show as many as ``room_px`` holds; whether that are others than before."""
        left_out: frozenset[str] = frozenset()
        for name in self._leave_first:
            if self._width_px(left_out) <= room_px:
                break
            left_out |= {name}
        is_new = left_out != self.left_out
        self.left_out = left_out
        for name, cells in self._columns.items():
            for cell in cells:
                cell.setHidden(name in left_out)
        return is_new

    def _width_px(self, left_out: frozenset[str]) -> int:
        widths = [
            max(cell.sizeHint().width() for cell in cells)
            for name, cells in self._columns.items()
            if name not in left_out
        ]
        return sum(widths)
