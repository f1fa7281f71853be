"""A workload as JSON: a file to use again, and what the history keeps of it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.experiments.replay import replay_of
from app.experiments.texts import user_text
from app.experiments.workload import Workload
from app.experiments.workload_error import WorkloadError
from app.storage.conversation_export import FORMAT, from_json
from app.storage.storage_error import StorageError
from engine_bridge.gguf_window import shown_name
from engine_bridge.settings.home_path import home_path


def to_json(workload: Workload) -> bytes:
    """The whole workload, the words of a recorded conversation included, for a file."""
    return msgspec.json.format(msgspec.json.encode(workload), indent=2) + b"\n"


def kept_json(workload: Workload) -> str:
    """What a history keeps: all but the words of a conversation, for histories are passed on."""
    return msgspec.json.encode(msgspec.structs.replace(workload, recording=None)).decode()


def read_workload(path: Path) -> Workload:
    """Read a workload, or a conversation that TuneDeck exported as JSON, which is then replayed.

    A relative ``text_path`` counts from the file's folder.

    Raises:
        WorkloadError: If the file cannot be read, is neither of both, or cannot be used.
        DomainError: If its text is in a home folder that there is none of.
    """
    content = user_text(path)
    name = " ".join(shown_name(path).split())
    if _format_of(content) == FORMAT:
        return _replay(content, name)
    try:
        workload = msgspec.json.decode(content, type=Workload)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WorkloadError(f"{name} is not a workload: {error}.") from error
    if workload.text_path:
        text_path = path.absolute().parent / home_path(workload.text_path)
        workload = msgspec.structs.replace(workload, text_path=str(text_path))
    try:
        workload.check()
    except WorkloadError as error:
        raise WorkloadError(f"The workload in {name} cannot be used. {error}") from error
    return workload


class _Format(msgspec.Struct):
    format: str = ""


def _format_of(content: str) -> str:
    try:
        return msgspec.json.decode(content, type=_Format).format
    except (msgspec.DecodeError, RecursionError):
        return ""


def _replay(content: str, name: str) -> Workload:
    try:
        conversation = from_json(content.encode(), number=1, now_s=0.0)
    except StorageError as error:
        raise WorkloadError(f"{name}: {error}") from error
    return replay_of(conversation)
