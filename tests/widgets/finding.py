"""Finding the parts of a widget that a test looks at."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject

Kind = TypeVar("Kind", bound=QObject)


def child(parent: QObject, kind: type[Kind]) -> Kind:
    """The first ``kind`` below ``parent``; a failure where there is none."""
    found = parent.findChild(kind)
    assert found is not None, f"{parent} has no {kind.__name__}"
    return found
