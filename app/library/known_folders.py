"""The folders where programs keep GGUF files, by the habits of each system."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import huggingface_hub.constants

from app.library.demo_model import cache_folder
from app.library.model_entry import FolderToList
from app.library.ollama_store import ollama_models_folder


def folders_to_list(own: Sequence[str]) -> tuple[FolderToList, ...]:
    """The user's own folders, then those of TuneDeck and of other programs; none need exist.

    Nothing is looked at here: a folder on a dead drive would block.
    """
    found: dict[bytes, FolderToList] = {}
    for path in own:
        location = os.fsencode(path)
        found[location] = FolderToList(location, Path(path).name or path, is_own=True)
    for title, folder, levels in _known():
        location = os.fsencode(folder)
        found.setdefault(location, FolderToList(location, title, levels=levels))
    for title, folder in _ollama(Path.home()):
        location = os.fsencode(folder)
        found.setdefault(location, FolderToList(location, title, is_ollama=True))
    return tuple(found.values())


def list_cache_path() -> Path:
    """Where the listing keeps what it found."""
    return cache_folder() / "model-list.json"


def _known() -> list[tuple[str, Path, int]]:
    home = Path.home()
    return [
        ("TuneDeck", cache_folder(), 0),
        ("llama.cpp", _llama_cpp_cache(home), 1),
        ("Hugging Face", Path(huggingface_hub.constants.HF_HUB_CACHE), 5),
        ("LM Studio", home / ".lmstudio" / "models", 4),
        ("LM Studio (older)", home / ".cache" / "lm-studio" / "models", 4),
        ("Jan", _data_folder(home) / "Jan" / "data" / "llamacpp" / "models", 3),
        ("Jan (older)", _data_folder(home) / "Jan" / "data" / "models", 3),
        ("GPT4All", _local_data_folder(home) / "nomic.ai" / "GPT4All", 1),
        ("text-generation-webui", home / "text-generation-webui" / "user_data" / "models", 2),
        ("text-generation-webui (older)", home / "text-generation-webui" / "models", 2),
        ("KoboldCpp", home / "koboldcpp", 1),
    ]


def _ollama(home: Path) -> list[tuple[str, Path]]:
    """Where Ollama keeps its models: the user's, and those of the service that Linux runs it as."""
    found = [("Ollama", ollama_models_folder(home))]
    if sys.platform == "linux":
        found.append(("Ollama (service)", Path("/usr/share/ollama/.ollama/models")))
    return found


def _data_folder(home: Path) -> Path:
    """Where Electron programs such as Jan keep their data (``app.getPath("appData")``)."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", home / "AppData" / "Roaming"))
    return Path(os.environ.get("XDG_CONFIG_HOME", home / ".config"))


def _local_data_folder(home: Path) -> Path:
    """Where Qt programs such as GPT4All keep their data (``AppLocalDataLocation``)."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    return Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share"))


def _llama_cpp_cache(home: Path) -> Path:
    """Where llama.cpp downloads to (``fs_get_cache_directory`` in common/common.cpp)."""
    given = os.environ.get("LLAMA_CACHE")
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "llama.cpp"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "llama.cpp"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache")) / "llama.cpp"
