"""Between the model looked at in the picker and what its chat template makes of a sample."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.library.model_entry import ModelEntry
from app.picker_wiring import PickerWiring
from app.template_sample import TemplateSample
from engine_bridge.template_sheet import TemplateSheet
from widgets.model_picker import ModelPicker
from widgets.template_sample_view import TemplateSampleView

# A selection that moves on within this time starts no process.
_RESTING_MS = 200


class TemplateSampleWiring(QObject):
    """Tries the template of the model that is looked at, while its section is unfolded."""

    def __init__(self, picker: PickerWiring) -> None:
        """Follow ``picker``, whose child it is."""
        super().__init__(picker)
        self._view: TemplateSampleView | None = None
        self._is_open = False  # from one picker to the next
        self._entry: ModelEntry | None = None
        self._told: tuple[str, int, int] | None = None
        self._sample = TemplateSample(self)
        self._sample.answered.connect(self._on_answered)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_RESTING_MS)
        self._rest.timeout.connect(self._ask)
        picker.opened.connect(self._on_picker_opened)
        picker.looked_at.connect(self._on_looked_at)
        picker.closed.connect(self._on_picker_closed)

    @property
    def is_asking(self) -> bool:
        """Whether an answer is on its way."""
        return self._rest.isActive() or self._sample.is_asking

    def close(self) -> None:
        """End what is under way; waits at most a second."""
        self._rest.stop()
        self._sample.close()

    def _on_picker_opened(self, picker: ModelPicker) -> None:
        self._view = picker.sheet.sample
        self._view.set_open(self._is_open)
        self._view.unfolded.connect(self._on_unfolded)

    def _on_picker_closed(self) -> None:
        self._rest.stop()
        self._sample.cancel()
        self._view = self._entry = self._told = None

    def _on_unfolded(self, is_open: bool) -> None:
        self._is_open = is_open
        if is_open:
            self._want(0)
        else:
            self._rest.stop()
            self._sample.cancel()

    def _on_looked_at(self, entry: ModelEntry | None) -> None:
        is_usable = entry is not None and entry.is_usable
        self._entry = entry if is_usable else None
        if self._told != _stamp(self._entry):
            self._told = None
            self._rest.stop()
            self._sample.cancel()
            if self._view is not None:
                self._view.clear()
            self._want(_RESTING_MS)

    def _want(self, wait_ms: int) -> None:
        """Try the template of the model looked at, unless it was, or nobody looks."""
        view, stamp = self._view, _stamp(self._entry)
        if view is None or not view.is_open() or stamp is None or self._told == stamp:
            return
        self._told = stamp
        view.show_waiting()
        self._rest.start(wait_ms)

    def _ask(self) -> None:
        if self._entry is not None:
            self._sample.ask(self._entry.path)

    def _on_answered(self, path: str, sheet: TemplateSheet) -> None:
        if self._view is not None and self._entry is not None and self._entry.path == path:
            self._view.show_sheet(sheet)


def _stamp(entry: ModelEntry | None) -> tuple[str, int, int] | None:
    """The file as it was looked at; another one where it was written anew."""
    return None if entry is None else (entry.path, entry.size_bytes, entry.modified_ns)
