"""The experiments in the middle of the window: the list, the form, a result; one at a time."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from resources.tokens import PANEL_GAP_PX, STEP_PX, Palette
from widgets.experiments.experiment_form import ExperimentForm
from widgets.experiments.history_view import HistoryView
from widgets.experiments.progress_strip import ProgressStrip
from widgets.experiments.result_view import ResultView

# What a window in large type cannot show at once is scrolled; the page asks for no more than this.
_LEAST_PX = QSize(80 * STEP_PX, 60 * STEP_PX)


class ExperimentsPage(QWidget):
    """Three screens below the strip of what runs; Esc goes back to the list.

    Attributes:
        history: The list, which is seen at first.
        form: Where a new one is set up.
        result: What came out of one.
        strip: How far the running one is; hidden while nothing runs.

    Signals:
        screen_changed: Another screen is in front.
    """

    screen_changed = Signal()

    def __init__(
        self,
        history: HistoryView,
        form: ExperimentForm,
        result: ResultView,
        parent: QWidget | None = None,
    ) -> None:
        """Show ``history``."""
        super().__init__(parent)
        self.history, self.form, self.result = history, form, result
        self.strip = ProgressStrip()
        self.setAccessibleName("Experiments")
        self._stack = QStackedWidget()
        for screen in (history, form, result):
            self._stack.addWidget(screen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(PANEL_GAP_PX)
        column.addWidget(self.strip)
        column.addWidget(self._stack, 1)
        form.back_wanted.connect(self.show_history)
        result.back_wanted.connect(self.show_history)

    def show_history(self) -> None:
        """Bring the list to the front."""
        self._show(self.history)

    def show_form(self, kind: str = "") -> None:
        """Bring the form to the front, to set up ``kind`` where one is named."""
        if kind:
            self.form.set_kind(kind)
        self._show(self.form)
        self.form.kinds.setFocus()

    def show_result(self) -> None:
        """Bring the result to the front."""
        self._show(self.result)

    @property
    def is_history_shown(self) -> bool:
        """Whether the list is in front."""
        return self._stack.currentWidget() is self.history

    @property
    def is_result_shown(self) -> bool:
        """Whether the result is in front."""
        return self._stack.currentWidget() is self.result

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        for screen in (self.history, self.form, self.result):
            screen.set_palette(palette)

    def minimumSizeHint(self) -> QSize:
        """Its screens scroll; the window need not be larger for them."""
        return _LEAST_PX

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back to the list."""
        if event.key() == Qt.Key.Key_Escape and not self.is_history_shown:
            self.show_history()
            event.accept()
            return
        super().keyPressEvent(event)

    def _show(self, screen: QWidget) -> None:
        if self._stack.currentWidget() is screen:
            return
        had_focus = self._stack.isAncestorOf(self.focusWidget() or self)
        self._stack.setCurrentWidget(screen)
        if had_focus:
            screen.setFocus(Qt.FocusReason.OtherFocusReason)
        self.screen_changed.emit()
