"""Files that are dropped on a widget, wherever in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class FileDrop(QObject):
    """Takes local files dropped on a widget; nothing is read.

    Signals:
        dropped: Their paths (list of str).
        hovered: Whether (bool) files are held over the widget.
    """

    dropped = Signal(object)
    hovered = Signal(bool)

    def __init__(self, target: QWidget) -> None:
        """Watch ``target``, which owns this."""
        super().__init__(target)
        target.setAcceptDrops(True)
        target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what concerns files; everything else goes its way."""
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self.hovered.emit(False)
            self.dropped.emit(local_paths(event.mimeData()))
            event.acceptProposedAction()
            return True
        if isinstance(event, QDragEnterEvent) and local_paths(event.mimeData()):
            event.acceptProposedAction()
            self.hovered.emit(True)
            return True
        if event.type() == QEvent.Type.DragLeave:
            self.hovered.emit(False)
        return super().eventFilter(watched, event)


def local_paths(source: QMimeData) -> list[str]:
    """Paths of the local files in ``source``."""
    return [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
