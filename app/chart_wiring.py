"""From charts to files: asks where to, makes the bytes and writes them off the GUI thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont

from app.background import Task
from app.last_folder import EXPORTS, LastFolder
from app.save_dialog import save_dialog
from app.storage.atomic_file import write_whole
from app.window_memory import KeepsWindow
from widgets.charts.export_csv import csv_bytes
from widgets.charts.export_picture import Look, png_bytes, svg_bytes
from widgets.charts.limit_scale import TPOT_LIMIT, TTFT_LIMIT, LimitScale
from widgets.charts.sheet import Sheet
from widgets.live_panel import LivePanel

_LENGTH = "charts_length_s"
# By name in the order of the panel's limits.
_LIMITS = (("ttft_limit_s", TTFT_LIMIT), ("tpot_limit_s", TPOT_LIMIT))
_FILTERS = {
    "png": "Pictures (*.png)",
    "svg": "Drawings (*.svg)",
    "csv": "Figures (*.csv)",
}


class ChartWiring(QObject):
    """Writes charts where the user wants them.

    Signals:
        saved: The file (Path) that was written.
        failed: A sentence: what could not be saved, why, what to do.
    """

    saved = Signal(object)
    failed = Signal(str)

    def __init__(
        self, panel: LivePanel, parent: QObject, last_folder: LastFolder | None = None
    ) -> None:
        """Serve ``panel``; None as ``last_folder`` remembers it for this run only."""
        super().__init__(parent)
        self._panel = panel
        self._last_folder = last_folder or LastFolder(None, self)
        panel.export_requested.connect(self.ask)
        self.saved.connect(lambda path: panel.say(f"Saved {path.name} in {path.parent}"))
        self.failed.connect(panel.say)

    def remember(self, kept: KeepsWindow) -> None:
        """Show as much time as was shown last with its limits, and keep both from now on."""
        self._remember_limits(kept)
        view = self._panel.time_view
        try:
            length_s = float(kept.window_state.get(_LENGTH, ""))
        except ValueError:
            length_s = math.nan
        if math.isfinite(length_s):
            view.show_length(length_s)

        def note() -> None:
            text = f"{view.length_s:g}"
            if kept.window_state.get(_LENGTH) != text:
                kept.window_state = kept.window_state | {_LENGTH: text}

        view.moved.connect(note)

    def _remember_limits(self, kept: KeepsWindow) -> None:
        panel = self._panel
        panel.set_limits(
            *(_limit(kept.window_state.get(name, ""), scale) for name, scale in _LIMITS)
        )

        def note() -> None:
            pairs = zip(_LIMITS, panel.limits, strict=True)
            texts = {name: "" if value is None else f"{value:g}" for (name, _), value in pairs}
            kept.window_state = kept.window_state | texts

        panel.limits_changed.connect(note)

    def ask(self, kind: str, sheets: Sequence[Sheet]) -> None:
        """Ask where to, then write ``sheets`` as ``png``, ``svg`` or ``csv``."""
        look = Look(self._panel.memory.colours, QFont(self._panel.font()))
        window, name = self._panel.window(), _file_name(sheets)
        dialog = save_dialog(window, "Save charts", name, kind, _FILTERS[kind])
        dialog.fileSelected.connect(lambda path: self.save(Path(path), kind, sheets, look))
        self._last_folder.open(dialog, EXPORTS)

    def save(self, path: Path, kind: str, sheets: Sequence[Sheet], look: Look) -> None:
        """Write ``sheets`` to a file."""

        def write(_: object) -> None:
            write_whole(path, _content(kind, sheets, look), "The charts could not be saved")

        task = Task(write, self)
        task.succeeded.connect(lambda _: self.saved.emit(path))
        task.failed.connect(lambda error: self.failed.emit(str(error)))
        task.succeeded.connect(task.deleteLater)
        task.failed.connect(task.deleteLater)
        task.start()


def _limit(text: str, scale: LimitScale) -> float | None:
    """A limit as it was kept; None where there is none, or none that could have been set."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if scale.holds(value) else None


def _content(kind: str, sheets: Sequence[Sheet], look: Look) -> bytes:
    if kind == "csv":
        return csv_bytes(sheets)
    return svg_bytes(sheets, look) if kind == "svg" else png_bytes(sheets, look)


def _file_name(sheets: Sequence[Sheet]) -> str:
    """``memory 2026-11-29 21-05``."""
    if not sheets:
        return "charts"
    what = sheets[0].title.lower() if len(sheets) == 1 else "charts"
    return f"{what} {sheets[0].timeline.day(0.0):%Y-%m-%d %H-%M}"
