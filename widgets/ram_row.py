"""Main memory in two lines: how full it is, and who holds it. Always there, boards or none."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from engine_bridge.metrics.snapshot import MemorySnapshot
from resources.tokens import STEP_PX
from widgets.charts.note_line import BETWEEN, NoteLine
from widgets.charts.words import gib
from widgets.elided_label import ElidedLabel
from widgets.plain_tip import wrapped_tip
from widgets.steady_label import SteadyLabel
from widgets.theme import set_role

_DEFINITION = (
    "In use: what no program can have now. The chart below counts the engine's mapped weights on "
    "top, and the bar above the settings what is reserved and not touched yet: both show more. "
    "Engine and window (this "
    "program): what each owns alone. Mapped: pages of files that are in memory for the engine, of "
    "the model most of all; the system takes them back where it needs the room, and reads them "
    "again. Available: what a program can still have without swapping. Swap: what was put onto the "
    "disk; a model that lies there crawls. Reading the peak: what the engine has for a second to "
    "measure the bandwidth of the memory; it is in no other figure, and free again at once where "
    "it is needed."
)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RamRow(QWidget):
    """The row; hidden until there is a reading."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty row."""
        super().__init__(parent)
        self._sentence = ""
        title = QLabel("RAM in use")
        set_role(title, "heading")
        self._used = SteadyLabel("88.8 of 88.8 GiB")
        self._holders = NoteLine()  # where it is narrow the last parts are left out whole
        self._swap = ElidedLabel()  # with large type it gives way
        for label, role in ((self._used, "value"), (self._holders, "hint"), (self._swap, "hint")):
            set_role(label, role)
        self._used.setAlignment(_RIGHT)
        self._swap.setAlignment(_RIGHT)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * STEP_PX)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(title, 0, 0)
        grid.addWidget(self._swap, 0, 1)
        grid.addWidget(self._used, 0, 2, _RIGHT)
        grid.addWidget(self._holders, 1, 0, 1, 3)
        self.hide()

    def show_memory(self, memory: MemorySnapshot | None) -> None:
        """Bring the figures up to date; None hides the row."""
        self.setHidden(memory is None)
        if memory is None:
            self._sentence = ""
            return
        used = f"{gib(memory.used_bytes)} of {gib(memory.total_bytes)} GiB"
        holders, swap = holders_text(memory), swap_text(memory)
        self._sentence = f"RAM: {used} in use; {holders.replace(BETWEEN, ', ')}; {swap}."
        tip = wrapped_tip("\n\n".join((self._sentence, _DEFINITION)))
        if self._used.text() != used:
            self._used.setText(used)
        self._used.setToolTip(tip)
        self._swap.set_text(swap, tip)
        self._holders.set_text(holders, tip)

    def sentence(self) -> str:
        """All that is said, in words; empty without a reading."""
        return self._sentence


def holders_text(memory: MemorySnapshot) -> str:
    """Who holds what: the unit once behind each part that may be left out."""
    owned = memory.engine_owned_bytes
    held = [f"engine {'unknown' if owned is None else gib(owned)}"]
    held.append(f"mapped {gib(memory.engine_mapped_bytes)}")
    if memory.window_bytes is not None:
        held.append(f"window {gib(memory.window_bytes)}")
    parts = [f"{', '.join(held)} GiB"]
    parts.append(f"available {gib(memory.total_bytes - memory.used_bytes)} GiB")
    if memory.engine_borrowed_bytes:
        parts.append(f"reading the peak {gib(memory.engine_borrowed_bytes)} GiB")
    return BETWEEN.join(parts)


def swap_text(memory: MemorySnapshot) -> str:
    """How much of the swap is used."""
    if memory.swap_used_bytes is None or memory.swap_total_bytes is None:
        return "swap unknown"
    if not memory.swap_total_bytes:
        return "no swap"
    return f"swap {gib(memory.swap_used_bytes)} of {gib(memory.swap_total_bytes)} GiB"
