"""What a word that names a model refers to: a GGUF file, a repository, or something else.

Only the text is looked at; nothing is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.importing.gathering import Gathering
from app.importing.typed_numbers import is_placeholder, is_variable
from engine_bridge.typed_text import quoted

_HUB_FILE = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([^/\s]+/[^/\s]+)/(?:resolve|blob|raw)/"
    r"[^/\s]+/([^\s?#]+)"
)
_HUB_REPO = re.compile(
    r"(?:https?://(?:www\.)?(?:huggingface\.co|hf\.co)/|hf\.co/|huggingface\.co/|hf://)"
    r"([^/\s]+/[^/\s?#]+)/?"
)
_REPO = re.compile(r"[\w.-]+/[\w.-]+(?::[\w.-]+)?")
BLOB = re.compile(r"(?:^|[/\\])sha256[-:][0-9a-f]{8,}$")
"""The end of a path into the store of Ollama."""
_OTHER_FILE = re.compile(r"\.(?:bin|safetensors|pth?|ckpt|onnx|ggml|ggjt|mlx|engine|npz)$", re.I)
_PATH = re.compile(r"[./~\\]|[A-Za-z]:[/\\]")


@dataclass(frozen=True)
class Role:
    """What a model is for.

    Attributes:
        path: Setting of its file.
        repo: Setting of its repository.
        source: What it is called among what is only shown.
        name: In a sentence.
    """

    path: str
    repo: str
    source: str
    name: str


MODEL = Role("model_path", "hf_repo", "source_model", "the model")
DRAFT = Role("draft_model_path", "draft_hf_repo", "draft_source_model", "the draft")


def place_file(gathering: Gathering, text: str, written: str, role: Role = MODEL) -> None:
    """Take a model of an engine that runs GGUF files.

    Args:
        gathering: What gets it.
        text: The word.
        written: What stood before it.
        role: What the model is for.
    """
    if is_variable(text) or is_placeholder(text):
        gathering.open(role.path, text, written)
    elif not _is_on_the_hub(gathering, text, role):
        gathering.setting(role.path, text)
        _look_at_name(gathering, text, role)


def place_model(gathering: Gathering, text: str, role: Role = MODEL) -> None:
    """Take a model of an engine that usually runs other files than GGUF.

    Args:
        gathering: What gets it.
        text: The word: a folder, a repository, a GGUF file, or a variable.
        role: What the model is for.
    """
    if is_variable(text) or is_placeholder(text):
        gathering.understood(role.source, text)
        if is_placeholder(text):
            gathering.problem("placeholder", f"{role.name} {text} waits for a name of yours")
        elif not gathering.has_problem("unresolved_variable"):
            gathering.problem("unresolved_variable", f"{role.name} is {text}")
        return
    if _is_file(text):
        gathering.setting(role.path, text)
        return
    if _is_on_the_hub(gathering, text, role, only_gguf=True):
        return
    gathering.understood(role.source, text)
    on_hub = _REPO.fullmatch(text) or _HUB_REPO.fullmatch(text)
    kind = "a repository of the hub" if on_hub else "a folder of another format"
    gathering.problem(
        "not_gguf",
        f"{role.name} {quoted(text)} is {kind} and no GGUF file; choose a GGUF of the same model",
    )


def is_path(text: str) -> bool:
    """Whether a word can only be a path, and no name of a library of models."""
    return _PATH.match(text) is not None or "\\" in text or _is_file(text)


def _is_file(text: str) -> bool:
    return text.lower().endswith(".gguf") and "://" not in text


def _is_on_the_hub(gathering: Gathering, text: str, role: Role, *, only_gguf: bool = False) -> bool:
    """Take a repository or a file of the hub, if ``text`` names one."""
    one = _HUB_FILE.fullmatch(text)
    if one is not None:
        gathering.setting(role.repo, one[1])
        if role is MODEL:
            gathering.setting("hf_file", one[2])
        else:
            gathering.understood("draft_hf_file", one[2])
        return True
    address = _HUB_REPO.fullmatch(text)
    repo = address[1] if address is not None else text
    if _REPO.fullmatch(repo) is None or is_path(text):
        return False
    if address is None and "gguf" not in repo.lower():
        return False
    if only_gguf and "gguf" not in repo.lower():
        return False
    gathering.setting(role.repo, repo)
    return True


def _look_at_name(gathering: Gathering, text: str, role: Role) -> None:
    if BLOB.search(text):
        gathering.problem(
            "blob_path",
            f"{role.name} is a blob of Ollama's store, a file without .gguf at its end; it can be "
            "loaded as it is while Ollama keeps it",
        )
    elif "://" in text:
        gathering.problem(
            "unsupported_file", f"{role.name} {quoted(text)} is an address; download the file first"
        )
    elif "." not in re.split(r"[/\\]", text)[-1]:
        gathering.problem(
            "unsupported_file",
            f"{role.name} {quoted(text)} has no ending, as folders have; a GGUF file is needed",
        )
    elif _OTHER_FILE.search(text):
        gathering.problem(
            "unsupported_file", f"{role.name} {quoted(text)} is no GGUF file, by its name"
        )
