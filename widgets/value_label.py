"""What stands beside a setting's name where no field does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.elided_label import ElidedLabel
from widgets.theme import set_role


class ValueLabel(ElidedLabel):
    """A word or two, flush right with the numbers of other rows."""

    def __init__(self, parent: QWidget) -> None:
        """Say nothing yet."""
        super().__init__("", parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # The frame of a value field, so that words end where numbers end.
        self.setContentsMargins(0, 0, STEP_PX + 1, 0)
        set_role(self, "value")
