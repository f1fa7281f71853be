"""What drafts, and the menu that chooses something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.menu_button import MenuButton
from widgets.plain_tip import plain_tip
from widgets.theme import set_role

_PREFIX = "Drafts: "
_OFF = f"{_PREFIX}off"
# Room for the first where there is some, never less than the second, with little room the third.
_LONGEST = f"{_PREFIX}qwen2.5-coder-0.5b · n ≤ 3"
_USUAL = f"{_PREFIX}ngram-simple"
_SHORTEST = "ngram-simple"
_ARROW = " → "
_AND = " + "


@dataclass(frozen=True)
class DraftChoice:
    """One line of the menu.

    Attributes:
        key: Its identity; empty for a line that only says something.
        text: What it says.
        tip: Its tooltip: what it costs, or why it cannot be chosen.
        is_enabled: Whether it can be chosen.
        is_checked: Whether it is what is wanted now.
        is_command: It asks for something first, and cannot be what is wanted itself.
    """

    key: str
    text: str
    tip: str = ""
    is_enabled: bool = True
    is_checked: bool = False
    is_command: bool = False


class DraftButton(MenuButton):
    """Says what drafts; pressed, it offers what could.

    Signals:
        choices_wanted: The menu opens: what it offers may have changed.
        chosen: Key (str) of the choice.
    """

    choices_wanted = Signal()
    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a button that says that nothing drafts."""
        super().__init__(parent)
        self._full = _OFF
        self._is_compact = False
        self._choices: tuple[DraftChoice, ...] = ()
        set_role(self, "menu")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription("Chooses what guesses tokens ahead.")
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self.choices_wanted)
        self.setMenu(self._menu)
        self.set_text(_OFF)

    def set_text(self, text: str) -> None:
        """Say what drafts, e.g. ``Drafts: ngram-simple``."""
        self._full = text or _OFF
        self.setAccessibleName(self._full)
        self._elide()
        self.updateGeometry()

    def set_choices(self, choices: Sequence[DraftChoice]) -> None:
        """Offer ``choices``, also while the menu is open."""
        if tuple(choices) == self._choices:
            return
        self._choices = tuple(choices)
        self._menu.clear()
        for choice in choices:
            action = self._menu.addAction(choice.text.replace("&", "&&"))
            action.setToolTip(plain_tip(choice.tip))
            action.setStatusTip(choice.tip)
            action.setEnabled(choice.is_enabled)
            action.setCheckable(bool(choice.key) and not choice.is_command)
            action.setChecked(choice.is_checked)
            action.triggered.connect(lambda _=False, key=choice.key: self.chosen.emit(key))

    def set_compact(self, is_compact: bool) -> None:
        """Whether there is too little room to say all of it."""
        self._is_compact = is_compact
        self.updateGeometry()

    def is_elided(self) -> bool:
        """Whether less than all of the text can be seen."""
        return self.text() != self._full.replace("&", "&&")

    def sizeHint(self) -> QSize:
        """Room for the text, at most for a long one."""
        width = min(self._width_of(self._full), self._width_of(_LONGEST))
        return QSize(max(width, self._width_of(_OFF)), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Room for the usual ones, unless there is little."""
        least = self._width_of(_SHORTEST if self._is_compact else _USUAL)
        hint = self.sizeHint()
        return QSize(min(hint.width(), least), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten to the new width."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()
            self.updateGeometry()

    def _width_of(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + 10 * STEP_PX

    def _elide(self) -> None:
        room, metrics = self.width() - 9 * STEP_PX, self.fontMetrics()
        text = self._full
        if metrics.horizontalAdvance(text) > room:
            text = text.removeprefix(_PREFIX)
        if metrics.horizontalAdvance(text) > room and _ARROW in text:
            # What comes says more than what was: the applied settings stand in the command line.
            text = _ARROW.strip() + " " + text.partition(_ARROW)[2]
        if metrics.horizontalAdvance(text) > room and _AND in text:
            # The middle of two names is the name of no kind.
            first, *others = text.split(_AND)
            text = f"{first}{_AND}{len(others)} more"
            if metrics.horizontalAdvance(text) > room:
                comes = "→ " if first.startswith("→") else ""
                text = f"{comes}{len(others) + 1} kinds"
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room)
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(plain_tip(self._full))
