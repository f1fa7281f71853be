"""Which files and folders that are dropped on the window may be models or hold some."""

from __future__ import annotations

from PySide6.QtCore import QMimeData

from widgets.dropped_path import one_local_path

_SUFFIX = ".gguf"


def wanted_path(data: QMimeData) -> str:
    """The one local file or folder of ``data`` that could be a model or hold some, else empty.

    Names with a suffix other than ``.gguf`` are files of another kind.
    """
    path = one_local_path(data)
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
