"""Files with commands in them, by their names, and such files dropped anywhere on a window.

Knows names; nothing is opened.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

_SUFFIXES = (
    ".ini", ".yaml", ".yml", ".service", ".env", ".kcpps", ".sh", ".bash", ".bat", ".cmd", ".ps1",
    ".txt", ".conf", ".modelfile", ".dockerfile",
)  # fmt: skip
# Names without a suffix, which others may have behind them.
_NAMES = ("modelfile", "dockerfile", ".env")
_JOINTS = (".", "-", "_")

FILE_FILTERS = (
    "Commands and presets (*.ini *.yaml *.yml *.service *.env *.kcpps *.sh *.bash *.bat *.cmd "
    "*.ps1 *.txt *.json *.conf Modelfile* *.modelfile Dockerfile* .env*)",
    "All files (*)",
)
"""What the dialog that opens such a file offers, as Qt has it."""


def is_command_file(path: str) -> bool:
    """Whether the name is that of a file in which commands and presets stand."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    if name in _NAMES or name.endswith(_SUFFIXES):
        return True
    return any(name.startswith(f"{known}{joint}") for known in _NAMES for joint in _JOINTS)


def command_file(data: QMimeData) -> str:
    """The one local file of ``data`` in which commands may stand, else empty."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return ""
    path = urls[0].toLocalFile()
    return path if is_command_file(path) else ""


class ImportDrop(QObject):
    """Makes a window take one file of commands; other drops go on to whoever wants them.

    A child that takes drops itself has the first say: on a conversation such a file is attached.

    Signals:
        file_dropped: Path (str) of the file; nothing was read.
    """

    file_dropped = Signal(str)

    def __init__(self, window: QWidget) -> None:
        """Watch ``window``."""
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is wanted."""
        # A drop is a drag move to Qt, and a drag enter as well.
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            path = command_file(event.mimeData())
            if path:
                event.acceptProposedAction()
                if event.type() is QEvent.Type.Drop:
                    self.file_dropped.emit(path)
                return True
        return super().eventFilter(watched, event)
