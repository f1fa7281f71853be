"""What stands under an answer: its figures, why it ended, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from resources.tokens import DARK, STEP_PX, Palette
from widgets.message_branches import BranchSwitch
from widgets.message_copy import CopyButton
from widgets.message_details import DetailsView
from widgets.message_record import ALONE, Branch, Detail
from widgets.theme import icon, set_role, small_font

# Room for figures beside the buttons that is worth having.
_FIGURES_CHARS = 30
_ARROW_PX = 3 * STEP_PX


class AnswerFooter(QWidget):
    """One muted line of figures with the buttons beside it, and a line for the reason.

    Signals:
        continue_requested: Go on where the answer stopped.
        again_requested: Another answer is wanted.
    """

    continue_requested = Signal()
    again_requested = Signal()

    def __init__(
        self, answer: Callable[[], str], palette: Palette = DARK, parent: QWidget | None = None
    ) -> None:
        """Create a footer that shows nothing yet.

        Args:
            answer: Returns the whole answer, for the copy button.
            palette: Colours.
            parent: Owner.
        """
        super().__init__(parent)
        self._figures_text = ""
        self._palette = palette
        self._details: tuple[Detail, ...] = ()
        self._details_view: DetailsView | None = None
        self.figures = _label("Figures of this answer")
        self.reason = _label("Why the answer ended")
        self.reason.hide()
        self.switch = BranchSwitch("answer")
        self.copy_button = CopyButton(answer, "the whole answer")
        self.again_button = self._quiet(
            "Regenerate", "Another answer to the same question; this one stays as a branch"
        )
        self.again_button.clicked.connect(self.again_requested)
        self.continue_button = self._quiet("Continue", "Go on where this answer stopped")
        self.continue_button.clicked.connect(self.continue_requested)
        self.continue_button.hide()
        self.details_button = self._quiet("Details", "What this answer was made of")
        self.details_button.setCheckable(True)
        self.details_button.setIconSize(QSize(_ARROW_PX, _ARROW_PX))
        self.details_button.toggled.connect(self._show_details)
        self.details_button.hide()
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(STEP_PX)
        for widget in (
            self.switch, self.details_button, self.continue_button, self.again_button,
            self.copy_button,
        ):  # fmt: skip
            self._buttons.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(STEP_PX)
        self._row.addWidget(self.figures, 1)
        self._row.addLayout(self._buttons)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX // 2)
        layout.addLayout(self._row)
        layout.addWidget(self.reason)
        self.set_branch(ALONE)
        self._show_details(is_open=False)

    @property
    def first_button(self) -> QWidget:
        """What is reached first by the Tab key."""
        return self.switch.previous_button

    def show_end(self, figures_text: str, reason_text: str | None, *, is_warning: bool) -> None:
        """Show how an answer went.

        Args:
            figures_text: One line, e.g. ``TTFT 0.31 s · TPOT 17.1 ms``.
            reason_text: Why it ended, or None where that needs no word.
            is_warning: The reason needs a person.
        """
        self._figures_text = figures_text
        self._arrange()
        self.figures.setAccessibleDescription(figures_text)
        self.reason.setText(reason_text or "")
        self.reason.setVisible(bool(reason_text))
        set_role(self.reason, "hint-warning" if is_warning else "hint")

    def figures_text(self) -> str:
        """The figures as they were given."""
        return self._figures_text

    def set_details(self, details: Sequence[Detail]) -> None:
        """Have this unfolded by a button; nothing hides the button."""
        self._details = tuple(details)
        self.details_button.setVisible(bool(details))
        self._show_details(is_open=self.details_button.isChecked())
        self._arrange()

    def set_palette(self, palette: Palette) -> None:
        """Change colours."""
        self._palette = palette
        if self._details_view is not None:
            self._details_view.set_palette(palette)
        self._show_arrow()

    def set_can_continue(self, can_continue: bool) -> None:
        """Offer to go on, or not."""
        self.continue_button.setVisible(can_continue)

    def set_branch(self, branch: Branch) -> None:
        """Show which answer of several this is; one that nobody knows is not given again."""
        self.switch.set_branch(branch)
        self.again_button.setVisible(branch.turn_id > 0)

    def set_can_change(self, can_change: bool) -> None:
        """Allow another answer and another branch, or not now."""
        self.again_button.setEnabled(can_change)
        self.switch.set_can_change(can_change)

    def minimumSizeHint(self) -> QSize:
        """As wide as the buttons: where there is no more room the figures stand above them."""
        return QSize(self._buttons.minimumSize().width(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons below the figures where both are too much for one line."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        metrics = self.figures.fontMetrics()
        items = self._figures_text.split(" · ")
        widest_px = max(metrics.horizontalAdvance(f"{item} · ") for item in items)
        figures_px = max(widest_px, _FIGURES_CHARS * metrics.averageCharWidth())
        buttons_px = self._buttons.minimumSize().width() + self._row.spacing()
        is_narrow = self.width() < buttons_px + figures_px
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        if self._row.direction() != way:
            self._row.setDirection(way)
            at = Qt.AlignmentFlag.AlignRight if is_narrow else Qt.AlignmentFlag.AlignTop
            self._row.setAlignment(self._buttons, at)
        text = _kept_together(self._figures_text, has_room=widest_px < self.width())
        if text != self.figures.text():
            self.figures.setText(text)

    def _show_details(self, is_open: bool) -> None:
        if is_open and self._details_view is None:
            self._details_view = DetailsView(self._palette)
            self._column.addWidget(self._details_view)
        if self._details_view is not None:
            if is_open:
                self._details_view.show_details(self._details)
            self._details_view.setVisible(is_open and bool(self._details))
        self.details_button.setAccessibleName(
            f"Details of this answer, {'open' if is_open else 'folded'}"
        )
        self._show_arrow()

    def _show_arrow(self) -> None:
        name = "chevron-down" if self.details_button.isChecked() else "chevron-right"
        self.details_button.setIcon(icon(name, self._palette.muted, _ARROW_PX))

    def _quiet(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("role", "quiet")
        button.setFont(small_font(self.font()))
        button.setToolTip(tip)
        return button


def _kept_together(figures: str, *, has_room: bool) -> str:
    """``figures`` so that a line breaks between two items only, never within ``304 new``.

    Args:
        figures: As they were given.
        has_room: A line has room for any item; else it breaks at brackets and commas as well.
    """
    items = figures.split(" · ")
    # Without the word joiner a line may end behind a slash.
    kept = [item.replace(" ", "\u00a0").replace("/", "/\u2060") for item in items]
    if not has_room:
        kept = [item.replace("\u00a0(", " (").replace(",\u00a0", ", ") for item in kept]
    return "\u00a0· ".join(kept)


def _label(name: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", "hint")
    label.setAccessibleName(name)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
