"""One file or folder dropped anywhere on a window, by its name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class DroppedPath(QObject):
    """Makes a window take one kind of drops; others go on to whoever wants them.

    A child that takes drops itself, as a text field does, has the first say.

    Signals:
        dropped: Path (str) of what was dropped; nothing was read.
    """

    dropped = Signal(str)

    def __init__(self, window: QWidget, wanted: Callable[[QMimeData], str]) -> None:
        """Watch ``window``.

        Args:
            window: What is dropped on; owns this.
            wanted: Says which path of what is dropped is wanted; empty for none.
        """
        super().__init__(window)
        self._wanted = wanted
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is wanted."""
        # A drop is a drag move to Qt, and a drag enter as well.
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            path = self._wanted(event.mimeData())
            if path:
                event.acceptProposedAction()
                if event.type() is QEvent.Type.Drop:
                    self.dropped.emit(path)
                return True
        return super().eventFilter(watched, event)


def one_local_path(data: QMimeData) -> str:
    """The one local file or folder of ``data``; empty for none and for several."""
    urls = data.urls()
    return urls[0].toLocalFile() if len(urls) == 1 and urls[0].isLocalFile() else ""
