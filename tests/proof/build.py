"""Builds engine and ``llama-server`` at once from the source that was brought along."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from bootstrap import amx

_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DGGML_NATIVE=ON", "-DGGML_RPC=ON",
    "-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_APP=OFF",
)  # fmt: skip


class BuildFailedError(Exception):
    """It could not be compiled; the message ends with the compiler's last lines."""


def cuda_architecture() -> str:
    """Compute capability of the first board, as cmake takes it: ``90``.

    Raises:
        BuildFailedError: If no driver answers.
    """
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildFailedError(f"No NVIDIA driver answers here ({error}).") from error
    return said.splitlines()[0].strip().replace(".", "")


def build(source: Path, folder: Path, gpu: str, say: Callable[[str], None]) -> Path:
    """Compile, and give the binding its libraries; a build that is there is used.

    Args:
        source: The unpacked source package.
        folder: Where to build.
        gpu: ``cuda`` or ``none``.
        say: Takes lines of progress.

    Returns:
        The ``llama-server``.

    Raises:
        BuildFailedError: With the last lines of the log.
    """
    options = [*_OPTIONS, *amx.options_here(), f"-DGGML_CUDA={'ON' if gpu == 'cuda' else 'OFF'}"]
    if gpu == "cuda":
        options.append(f"-DCMAKE_CUDA_ARCHITECTURES={cuda_architecture()}")
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    tree, jobs = source / "vendor" / "llama.cpp", str(os.cpu_count() or 1)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    say(f"compiling llama.cpp ({gpu}) with {jobs} jobs; the log is {log}")
    _run(["cmake", "-S", str(tree), "-B", str(folder), *options], log)
    targets = ["--target", "llama", "llama-server"]
    _run(["cmake", "--build", str(folder), *targets, "-j", jobs], log)
    library = source / "llama_cpp" / "lib"
    library.mkdir(exist_ok=True)
    for path in (folder / "bin").glob("lib*.so*"):
        target = library / path.name
        target.unlink(missing_ok=True)
        target.symlink_to(path.resolve())
    return folder / "bin" / "llama-server"


def _run(command: list[str], log: Path) -> None:
    with log.open("ab") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise BuildFailedError(f"{' '.join(command[:2])} failed:\n{tail}")
