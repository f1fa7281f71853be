"""What was measured and where, so that a result can be understood years later.

Names the machine by its makers' words, never by its owner's.
"""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import psutil

from app.experiments.experiment import Subject
from app.experiments.model_hash import ModelHashes
from app.experiments.port import EnginePort
from app.experiments.reporter import Reporter
from app.figures import bytes_text
from engine_bridge.gguf_file import GgufError, read_model_facts
from engine_bridge.gguf_window import shown_name
from engine_bridge.hardware.identity import processor_name, system_name
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Hello
from engine_bridge.settings.domain import DomainError

_NARROW_SPACE = "\u202f"
# llama.cpp's own line of features: ``CPU : SSE3 = 1 | AVX2 = 1 | OPENMP = 1 |``.
_FEATURE = re.compile(r"(\w+) = (\d+)")


def facts_of(model_path: str) -> ModelFacts:
    """The facts in a model's header.

    Raises:
        DomainError: If the file is no model, in a sentence.
    """
    try:
        return read_model_facts(model_path)
    except GgufError as error:
        raise DomainError(str(error)) from None


def hashed_subject(
    port: EnginePort,
    model_path: str,
    model: ModelFacts | None,
    hashes: ModelHashes,
    reporter: Reporter,
) -> Subject:
    """The subject of an experiment on ``port``; hashes the model's file if its hash is not known.

    Args:
        port: The engine; asked whether the user wants to stop.
        model_path: The model's file.
        model: See ``subject_of``.
        hashes: Hashes of model files.
        reporter: Told that a file is hashed.

    Raises:
        StoppedError: If the user stopped meanwhile.
    """

    def hashed(_: float) -> None:
        reporter.progressed(0.0, "Hashing the model's file, which is done once", None)
        port.next_event(0.0)  # raises where the user wants to stop

    return subject_of(port.hello, model_path, model, hashes.of(model_path, hashed))


def subject_of(
    hello: Hello, model_path: str, model: ModelFacts | None, model_sha256: str = ""
) -> Subject:
    """The subject of an experiment on the embedded engine.

    Args:
        hello: How the engine introduced itself.
        model_path: The model's file.
        model: What the engine said of the model as it loaded it; None if it was loaded before.
        model_sha256: See ``ModelHashes``; empty if unknown.
    """
    name = shown_name(model_path)
    if model is not None and model.name:
        named = model.name.removesuffix(".gguf")
        name = named if model.quantisation in named else f"{named} {model.quantisation}".strip()
    return Subject(
        machine=machine_line(hello),
        engine=engine_line(hello),
        model=name,
        model_path=model_path,
        model_sha256=model_sha256,
        model_bytes=_size_bytes(model_path) if model is None else model.file_bytes,
    )


def machine_line(hello: Hello | None = None) -> str:
    """Processor, cores, memory, boards and system in one line."""
    cores, threads = psutil.cpu_count(logical=False), psutil.cpu_count()
    parts = [processor_name()]
    if cores is not None:
        parts.append(f"{cores} cores" if cores == threads else f"{cores} cores, {threads} threads")
    elif threads is not None:
        parts.append(f"{threads} threads")
    parts.append(f"{_plain(psutil.virtual_memory().total)} RAM")
    devices = () if hello is None else hello.devices
    parts += [
        f"{device.description} {_plain(device.total)}"
        for device in devices
        if device.kind in ("gpu", "igpu")
    ]
    return ", ".join([*parts, system_name()])


def engine_line(hello: Hello) -> str:
    """The program, its llama.cpp and how that was built, in one line."""
    features = [name for name, is_on in _FEATURE.findall(hello.system_info) if is_on != "0"]
    built = " ".join(features) or hello.system_info
    backends = sorted({device.backend for device in hello.devices})
    return (
        f"TuneDeck {own_version()}, llama-cpp-python {hello.binding_version} "
        f"({'/'.join(backends)}; {built})"
    )


def own_version() -> str:
    """Version of this program; ``unknown`` where it runs without being installed."""
    try:
        return importlib.metadata.version("tunedeck")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _size_bytes(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0


def _plain(size_bytes: float) -> str:
    return bytes_text(size_bytes).replace(_NARROW_SPACE, " ")
