"""Files with commands in them, by their names; nothing is opened."""

from __future__ import annotations

from PySide6.QtCore import QMimeData

from widgets.dropped_path import one_local_path

_SUFFIXES = (
    ".ini", ".yaml", ".yml", ".service", ".env", ".kcpps", ".sh", ".bash", ".bat", ".cmd", ".ps1",
    ".txt", ".conf", ".modelfile", ".dockerfile", ".py",
)  # fmt: skip
# Names without a suffix, which others may have behind them.
_NAMES = ("modelfile", "dockerfile", ".env")
_JOINTS = (".", "-", "_")

FILE_FILTERS = (
    "Commands and presets (*.ini *.yaml *.yml *.service *.env *.kcpps *.sh *.bash *.bat *.cmd "
    "*.ps1 *.py *.txt *.json *.conf Modelfile* *.modelfile Dockerfile* .env*)",
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
    path = one_local_path(data)
    return path if is_command_file(path) else ""
