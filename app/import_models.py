"""The model that a pasted text names: shown, not looked for, and taken only by a person. Pure."""

from __future__ import annotations

from pathlib import PurePath

from app.import_shown import shown
from app.importing.found import Found
from widgets.import_sheet import ImportModel

_NONE = "The text names no model: its settings go to the one in use."
_OPEN = "The text leaves the model open. Choose the file to load it."
_RUNNING = "It is loaded."
_CONFIRM = "Not opened and not looked for. Choose the file on this machine, or confirm the path."
_CHOOSE = "Not opened and not looked for. Choose the file on this machine to load it."
_HUB = "A repository of the hub. Choose a GGUF file of it on this machine to load it."
_OTHER = (
    "Weights for another engine, which llama.cpp does not load. Choose a GGUF file of the same "
    "model to load it."
)
_CHOSEN = "It is opened when you load it."


def model_key(found: Found) -> str:
    """What the text names, by which the choice of a person is remembered; may be empty."""
    return named_path(found) or _repository(found) or _source(found)


def named_path(found: Found) -> str:
    """The file that the text names, as it stands there; empty where it names none."""
    path = found.settings.get("model_path")
    return path if isinstance(path, str) else ""


def model_shown(found: Found, path: str, running: str) -> ImportModel:
    """What the window shows of it.

    Args:
        found: The command.
        path: The file that a person chose or confirmed; empty before that.
        running: Path of the model that is loaded; may be empty.
    """
    named = shown(model_key(found))
    is_running = bool(running) and (path or named_path(found)) == running
    about = _RUNNING if is_running else _CHOSEN if path else _about(found)
    return ImportModel(
        named=named,
        about=about,
        path=shown(path),
        can_confirm=not path and not is_running and can_confirm(found),
        is_running=is_running,
    )


def can_confirm(found: Found) -> bool:
    """Whether the path says by itself which file of this machine is meant.

    A share of the network is none: opening it tells its server who asks.
    """
    path = named_path(found)
    return bool(path) and PurePath(path).is_absolute() and not path.startswith(("//", "\\\\"))


def _about(found: Found) -> str:
    if named_path(found):
        return _CONFIRM if can_confirm(found) else _CHOOSE
    if _repository(found):
        return _HUB
    if _source(found):
        return _OTHER
    return _OPEN if "model_path" in found.settings else _NONE


def _repository(found: Found) -> str:
    repository, file = (found.settings.get(key) for key in ("hf_repo", "hf_file"))
    if not isinstance(repository, str):
        return ""
    return f"{repository} · {file}" if isinstance(file, str) and file else repository


def _source(found: Found) -> str:
    source = found.other.get("source_model")
    return source if isinstance(source, str) else ""
