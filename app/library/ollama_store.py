"""The models that Ollama keeps: files named by their digest, and manifests that say what they are.

``manifests/HOST/NAMESPACE/MODEL/TAG`` is JSON with layers; the one of the model's media type names
``blobs/sha256-DIGEST``, which is a GGUF file. Nothing is written, no model file is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from app.library.model_walk import MAX_FOLDERS, FoundFile, Walk, look_at_file, shown_path

_HOST, _NAMESPACE = "registry.ollama.ai", "library"
_MODEL = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
# HOST/NAMESPACE/MODEL/TAG
_LEVELS = 4
# A manifest has a few hundred bytes; what is larger is none.
_MOST_BYTES = 1 << 20


class _Layer(msgspec.Struct, rename={"media_type": "mediaType"}):
    media_type: str = ""
    digest: str = ""


class _Manifest(msgspec.Struct):
    layers: tuple[_Layer, ...] = ()


def ollama_models_folder(home: Path) -> Path:
    """Where Ollama of this user keeps its models: ``OLLAMA_MODELS``, or its folder at home."""
    given = os.environ.get("OLLAMA_MODELS")
    return Path(given) if given else home / ".ollama" / "models"


def walk_ollama(root: bytes, _levels: int, is_alive: Callable[[], None]) -> Walk:
    """Find the models of the manifests below ``root``, by the names that ``ollama run`` takes.

    Args:
        root: Ollama's ``models`` folder.
        _levels: Manifests lie at one depth, so this is not asked.
        is_alive: Called whenever the drive has answered.

    Raises:
        OSError: If there are no manifests, or they cannot be listed.
    """
    walk = Walk([], [])
    manifests = os.path.join(root, b"manifests")  # noqa: PTH118 - bytes, which Path does not take
    seen: set[bytes] = set()
    for path in _files_below(manifests, walk):
        is_alive()
        try:
            digest = _digest_of(path)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            walk.left_out.append(f"{shown_path(path)} is no manifest of Ollama ({error}).")
            continue
        if digest is None or digest in seen:
            continue  # made of another format, or a second name of the same file
        seen.add(digest)
        blob = os.path.join(root, b"blobs", b"sha256-" + digest)  # noqa: PTH118
        walk.files.append(_found(blob, _name_of(path, manifests)))
    return walk


def _files_below(folder: bytes, walk: Walk) -> Iterator[bytes]:
    """Manifests in the order of their names; folders that cannot be listed are told."""
    waiting, looked = [(folder, 0)], 0
    while waiting:
        place, depth = waiting.pop()
        looked += 1
        try:
            with os.scandir(place) as entries:
                found = sorted(entries, key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            if place == folder:
                raise
            walk.left_out.append(f"{shown_path(place)} cannot be listed ({error.strerror}).")
            continue
        if depth + 1 < _LEVELS and looked < MAX_FOLDERS:
            waiting += [(entry.path, depth + 1) for entry in found if _is_folder(entry)]
        if depth + 1 == _LEVELS:
            yield from (entry.path for entry in reversed(found) if _is_file(entry))


def _digest_of(path: bytes) -> bytes | None:
    """The digest of the model's file; None where the manifest has no such layer."""
    with open(path, "rb") as file:  # noqa: PTH123 - bytes
        content = file.read(_MOST_BYTES)
    manifest = msgspec.json.decode(content, type=_Manifest)
    for layer in manifest.layers:
        match = _DIGEST.fullmatch(layer.digest)
        if layer.media_type == _MODEL and match is not None:
            return match[1].encode()
    return None


def _name_of(path: bytes, manifests: bytes) -> str:
    """``llama3.2:latest``; whose model it is, and from where, only where that is not the usual."""
    names = path[len(manifests) + 1 :].split(os.sep.encode())
    host, namespace, model, tag = (shown_path(name) for name in names)
    parts = [model]
    if namespace != _NAMESPACE or host != _HOST:
        parts.insert(0, namespace)
    if host != _HOST:
        parts.insert(0, host)
    return f"{'/'.join(parts)}:{tag}"


def _found(blob: bytes, name: str) -> FoundFile:
    try:
        file = look_at_file(blob)
    except OSError as error:
        sentence = (
            f"The file of {name} cannot be looked at ({error.strerror}): the download may be "
            f"unfinished. “ollama pull {name}” completes it."
        )
        return FoundFile(blob, 0, 0, (0, hash(blob)), problem=sentence, title=name)
    return replace(file, title=name)


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False
