"""Labels for whole sentences, which others may have written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from widgets.theme import set_role


def sentence_label(role: str = "", parent: QWidget | None = None) -> QLabel:
    """An empty label that shows words as they are, no markup, in as many lines as they take.

    Args:
        role: Of the stylesheet; may be empty.
        parent: The parent.
    """
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if role:
        set_role(label, role)
    return label
