"""What is wrong with the settings as wanted, each with its repair."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.settings.rules import Problem, Severity, repair_words
from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX
from widgets.theme import set_role

# More than this would push the faders out of the column; the rest is scrolled to.
_MAX_HEIGHT_PX = 50 * STEP_PX


class ProblemList(QScrollArea):
    """Problems below each other, errors first as given; hidden while there is none.

    Signals:
        repair_requested: The ``Problem`` whose repair was pressed.
    """

    repair_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty list."""
        super().__init__(parent)
        self._problems: tuple[Problem, ...] = ()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Problems of the settings")
        self.hide()

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Show ``problems`` in the order given."""
        if tuple(problems) == self._problems:
            return
        self._problems = tuple(problems)
        content = QWidget()
        set_role(content, "scrolled")
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        for problem in self._problems:
            layout.addWidget(self._entry(problem))
        self.setWidget(content)  # deletes the one before
        self.setVisible(bool(self._problems))
        self._fit()

    def problems(self) -> tuple[Problem, ...]:
        """The problems shown."""
        return self._problems

    def sizeHint(self) -> QSize:
        """As high as the problems, up to a bound."""
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        """The same height."""
        return QSize(super().minimumSizeHint().width(), self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Sentences wrap: another width is another height."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.sizeHint().height() != self.height():
            self.updateGeometry()

    def _height(self) -> int:
        content = self.widget()
        if content is None:
            return 0
        return min(content.heightForWidth(self.viewport().width()), _MAX_HEIGHT_PX)

    def _entry(self, problem: Problem) -> QWidget:
        is_error = problem.severity is Severity.ERROR
        frame = QFrame()
        set_role(frame, "banner-warning" if is_error else "raised")
        layout = QVBoxLayout(frame)
        layout.setContentsMargins(PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_PADDING_PX, PANEL_GAP_PX)
        layout.setSpacing(STEP_PX)
        message = QLabel(problem.message)
        message.setTextFormat(Qt.TextFormat.PlainText)
        message.setWordWrap(True)
        message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(message, "hint-warning" if is_error else "hint")
        layout.addWidget(message)
        if problem.fix:
            words = repair_words(problem)
            button = QPushButton(words)
            button.setAccessibleName(f"Repair: {words}")
            button.setAccessibleDescription(problem.message)
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda: self.repair_requested.emit(problem))
            layout.addWidget(button)
        return frame
