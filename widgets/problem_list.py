"""What is wrong with the settings as wanted, each with its repair."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.settings.rules import Problem, Severity, repair_words
from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.theme import icon, set_role

# More than this would push the faders out of the column; the rest is scrolled to.
_MAX_HEIGHT_PX = 50 * STEP_PX
_ICON_PX = 3 * STEP_PX
_DRAFT_MODEL = "draft_model_path"

# What a problem is about. Its figures may change with every reading without making it another one.
_Kind = tuple[tuple[str, ...], Severity]


class ProblemList(QScrollArea):
    """Problems below each other, errors first as given; hidden while there is none.

    A warning can be dismissed; it comes back when there are other problems than before.

    Signals:
        repair_requested: The ``Problem`` whose repair was pressed.
        draft_model_requested: A draft model is to be chosen, which a problem asks for.
    """

    repair_requested = Signal(object)
    draft_model_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty list."""
        super().__init__(parent)
        self._problems: tuple[Problem, ...] = ()
        self._dismissed: set[_Kind] = set()
        self._colours = DARK
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
        if _kinds(problems) != _kinds(self._problems):
            self._dismissed.clear()
        self._problems = tuple(problems)
        self._build()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        for button in self.findChildren(QToolButton):
            button.setIcon(icon("close", palette.muted, _ICON_PX))

    def _build(self) -> None:
        shown = [problem for problem in self._problems if _kind(problem) not in self._dismissed]
        content = QWidget()
        set_role(content, "scrolled")
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(PANEL_GAP_PX)
        for problem in shown:
            layout.addWidget(self._entry(problem))
        self.setWidget(content)  # deletes the one before
        self.setVisible(bool(shown))
        self._fit()

    def problems(self) -> tuple[Problem, ...]:
        """The problems there are, the dismissed ones included."""
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
        layout.setContentsMargins(PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_GAP_PX, PANEL_GAP_PX)
        layout.setSpacing(STEP_PX if is_error else 0)
        message = QLabel(problem.message)
        message.setTextFormat(Qt.TextFormat.PlainText)
        message.setWordWrap(True)
        message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        set_role(message, "hint-warning" if is_error else "hint")
        row = QHBoxLayout()
        row.setSpacing(STEP_PX)
        row.addWidget(message, 1)
        if not is_error:
            row.addWidget(self._dismiss_button(problem), 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(row)
        if _DRAFT_MODEL in problem.keys and _DRAFT_MODEL not in problem.fix:
            layout.addWidget(self._draft_button(problem))
        if problem.fix:
            layout.addWidget(self._repair_button(problem, is_error=is_error))
        return frame

    def _draft_button(self, problem: Problem) -> QPushButton:
        button = QPushButton("Choose a draft model…")
        button.setAccessibleDescription(problem.message)
        button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        button.clicked.connect(self.draft_model_requested)
        return button

    def _repair_button(self, problem: Problem, *, is_error: bool) -> QPushButton:
        words = repair_words(problem)
        button = QPushButton(words)
        if not is_error:
            set_role(button, "link-small")
        button.setAccessibleName(f"Repair: {words}")
        button.setAccessibleDescription(problem.message)
        button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda: self.repair_requested.emit(problem))
        return button

    def _dismiss_button(self, problem: Problem) -> QToolButton:
        button = QToolButton()
        set_role(button, "quiet")
        button.setIcon(icon("close", self._colours.muted, _ICON_PX))
        button.setIconSize(QSize(_ICON_PX, _ICON_PX))
        button.setAccessibleName("Dismiss the warning")
        button.setAccessibleDescription(problem.message)
        button.setToolTip("Dismiss until other problems appear")
        button.clicked.connect(lambda: self._on_dismissed(problem))
        return button

    def _on_dismissed(self, problem: Problem) -> None:
        self._dismissed.add(_kind(problem))
        self._build()


def _kind(problem: Problem) -> _Kind:
    return problem.keys, problem.severity


def _kinds(problems: Collection[Problem]) -> set[_Kind]:
    return {_kind(problem) for problem in problems}
