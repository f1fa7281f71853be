"""Files and folders dropped anywhere on a window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

_SUFFIX = ".gguf"


class DropTarget(QObject):
    """Makes a window take one GGUF file or one folder; other drops go on to whoever wants them.

    A child that takes drops itself, as a text field does, has the first say: it must leave alone
    what ``wanted_path`` names.

    Signals:
        file_dropped: Path (str) of a GGUF file.
        folder_dropped: Path (str) of what is no such file, most likely a folder; not looked at.
    """

    file_dropped = Signal(str)
    folder_dropped = Signal(str)

    def __init__(self, window: QWidget) -> None:
        """Watch ``window``."""
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is wanted."""
        # A drop is a drag move to Qt, and a drag enter as well.
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            path = wanted_path(event.mimeData())
            if path:
                event.acceptProposedAction()
                if event.type() is QEvent.Type.Drop:
                    signal = self.file_dropped if is_model(path) else self.folder_dropped
                    signal.emit(path)
                return True
        return super().eventFilter(watched, event)


def wanted_path(data: QMimeData) -> str:
    """The one local file or folder of ``data`` that could be a model or hold some, else empty.

    Names with a suffix other than ``.gguf`` are files of another kind.
    """
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return ""
    path = urls[0].toLocalFile()
    name = path.rstrip("/").rpartition("/")[2]
    is_other_file = "." in name.lstrip(".") and not path.endswith("/") and not is_model(path)
    return "" if is_other_file and name.rpartition(".")[2].isalnum() and _is_short(name) else path


def is_model(path: str) -> bool:
    """Whether the name is that of a GGUF file."""
    return path.lower().endswith(_SUFFIX)


def _is_short(name: str) -> bool:
    """Whether what follows the last dot is as short as a suffix and no version number."""
    suffix = name.rpartition(".")[2]
    return 1 <= len(suffix) <= len(_SUFFIX) and not suffix.isdigit()
