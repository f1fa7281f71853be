"""The control of a list whose items are long: a field over the whole width below the name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine_bridge.settings.domain import Value
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.row import Setting
from resources.tokens import STEP_PX
from widgets.control import Control
from widgets.theme import set_role
from widgets.value_field import ValueField
from widgets.value_label import ValueLabel

# What stands for a path that is too long: its end says which file it is.
_TAIL_CHARACTERS = 40
# A list that is no longer stands beside the name itself; of a longer one it says how many.
_SHORT_CHARACTERS = 10


class ItemsControl(Control):
    """A field for the items, and how many there are beside the name."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        """Make the field."""
        super().__init__(setting, parent)
        assert isinstance(setting.domain, ItemsDomain)
        self._domain = setting.domain
        self.field = WideField(setting.domain.parse, parent)
        # One number of several says nothing of how they are written.
        shown = setting.domain.examples[: 2 if setting.domain.repeats else 1]
        self.field.setPlaceholderText(f"such as {setting.domain.format(shown)}")
        self.label = ValueLabel(parent)
        self.value_widget = self.label
        self.body = self.main = self.field
        self.listen_to(self.field)
        self.refresh()

    def refresh(self) -> None:
        """Show the items, as many of them as there is room for."""
        items = self._value if isinstance(self._value, tuple) else ()
        text = self._domain.format(items) if items else ""
        self.field.set_texts(text, text, _brief(items))
        self.field.setToolTip("\n".join(items))
        self.label.set_text(self._summary(items))

    def _summary(self, items: tuple[str, ...]) -> str:
        whole = self._domain.format(items)
        if len(whole) <= _SHORT_CHARACTERS:
            return whole
        return "1 entry" if len(items) == 1 else f"{len(items)} entries"


class WideField(ValueField):
    """As wide as there is room, its text at the left."""

    def __init__(self, parse: Callable[[str], Value], parent: QWidget) -> None:
        """Make an empty field that reads text with ``parse``, which raises ``DomainError``."""
        super().__init__(parse, parent)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_role(self, "items")

    def sizeHint(self) -> QSize:
        """One line high."""
        return QSize(0, self.fontMetrics().height() + 2 * STEP_PX + 2)

    def minimumSizeHint(self) -> QSize:
        """The same."""
        return self.sizeHint()


def end_of(path: str) -> str:
    """The end of a path that is too long, which says which file it is."""
    return path if len(path) <= _TAIL_CHARACTERS else "…" + path[-_TAIL_CHARACTERS:]


def _brief(items: tuple[str, ...]) -> str:
    if not items:
        return ""
    first = end_of(items[0])
    return f"{first} and {len(items) - 1} more" if len(items) > 1 else first
