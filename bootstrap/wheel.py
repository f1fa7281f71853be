"""Builds the wheel of llama-cpp-python for this machine, once for each set of options.

The wheel is native code for one processor, so its key covers the options, the version, the
processor, the compiler and Python. pip's own wheel cache, which knows none of that, is not used.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bootstrap.process import output_of, run_whole
from bootstrap.say import Progress, SetupError, faults_of, say
from bootstrap.system import missing_for_build, refuse_if_missing

_GPU_COMPILERS = {"cuda": "nvcc", "rocm": "hipcc", "vulkan": "glslc"}
# ninja writes [n/m], make [ n%].
_STEP = re.compile(r"\[\s*(?:(\d+)/(\d+)|(\d+)%)\]")


def user_cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """TuneDeck's cache folder, where platformdirs will look for it too."""
    if sys.platform == "darwin" and not environment.get("XDG_CACHE_HOME"):
        return Path("~/Library/Caches/tunedeck").expanduser()
    if sys.platform == "win32":
        local = environment.get("LOCALAPPDATA") or "~/AppData/Local"
        return Path(local).expanduser() / "tunedeck" / "Cache"
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tunedeck"


def cpu_identity(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """What tells one processor's native code from another's: model and instruction sets."""
    if cpuinfo.exists():
        first = cpuinfo.read_text(errors="replace").split("\n\n")[0]
        wanted = ("model name", "flags", "features", "cpu part")
        lines = [line for line in first.splitlines() if line.lower().startswith(wanted)]
        return "\n".join(lines)
    brand = output_of(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.processor()
    return brand.strip()


def compiler_identity(backend: str, environment: Mapping[str, str] = os.environ) -> str:
    """What the compilers that ``backend`` is built with say of themselves; empty without any."""
    compilers = [(environment.get("CC") or "cc").split()]
    compilers += [[_GPU_COMPILERS[backend]]] if backend in _GPU_COMPILERS else []
    texts = [output_of([*compiler, "--version"]) for compiler in compilers if compiler]
    return "\n".join(text.strip() for text in texts if text)


def machine_facts(version: str, options: tuple[str, ...]) -> dict[str, str]:
    """What decides whether an engine fits this machine; the compiler is left to the wheel."""
    return {
        "version": version,
        "options": " ".join(options),
        "python": f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}",
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_identity(),
    }


def key_of(facts: Mapping[str, str]) -> str:
    """A short hash of ``facts``; any difference makes another."""
    text = json.dumps(dict(facts), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def wheel_for(python: Path, version: str, options: tuple[str, ...], name: str, cache: Path) -> Path:
    """The wheel for this machine, built if the cache has none.

    Args:
        python: Interpreter whose pip builds it.
        version: Version of llama-cpp-python.
        options: cmake options, ``-DNAME=VALUE``; those of ``CMAKE_ARGS`` included.
        name: Backend, for the folder's name.
        cache: TuneDeck's cache folder.

    Raises:
        SetupError: If it cannot be built, with the reason.
    """
    facts = machine_facts(version, options) | {"compiler": compiler_identity(name)}
    folder = cache / "wheels" / f"{name}-rpc-{key_of(facts)}"
    if wheels := list(folder.glob("*.whl")):
        say(f"Engine: the wheel built earlier with {' '.join(options)} fits this machine.")
        return wheels[0]
    refuse_if_missing(missing_for_build(os.environ), "Building the engine")
    folder.parent.mkdir(parents=True, exist_ok=True)
    for leftover in folder.parent.glob("building-*"):
        shutil.rmtree(leftover)
    building = Path(tempfile.mkdtemp(dir=folder.parent, prefix="building-"))
    try:
        archive = source_archive(python, version, cache)
        try:
            _build(python, archive, options, building)
        except SetupError as error:
            way_on = "" if name == "none" else " GPU=none builds without a GPU backend."
            raise SetupError(f"{error}{way_on}") from error
        (building / "facts.json").write_text(json.dumps(facts, indent=1))
        if folder.exists():
            shutil.rmtree(folder)
        building.replace(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return next(folder.glob("*.whl"))


def source_archive(python: Path, version: str, cache: Path) -> Path:
    """The source package, fetched if the cache has none.

    Raises:
        SetupError: If pip cannot fetch it.
    """
    folder = cache / "src"
    archive = folder / f"llama_cpp_python-{version}.tar.gz"
    if archive.exists():
        return archive
    folder.mkdir(parents=True, exist_ok=True)
    progress = Progress("fetching the source of llama.cpp (77 MB)")
    with tempfile.TemporaryDirectory(dir=folder, prefix="fetching-") as fetching:
        command = [str(python), "-m", "pip", "download", "--no-deps", "--no-cache-dir"]
        command += ["--no-binary", ":all:", "--dest", fetching, f"llama-cpp-python=={version}"]
        lines: list[str] = []

        def hear(line: str) -> None:
            lines.append(line)
            progress.show("waiting for pip")

        status = run_whole(command, hear)
        fetched = list(Path(fetching).glob("*.tar.gz"))
        if status or not fetched:
            raise SetupError(
                f"pip could not fetch llama-cpp-python {version}: {faults_of(lines)}\n"
                "Check the network and run the same command again."
            )
        fetched[0].replace(archive)
    progress.end("done")
    return archive


def _build(python: Path, archive: Path, options: tuple[str, ...], folder: Path) -> None:
    say(f"Engine: compiling llama.cpp with {' '.join(options)}; minutes on few cores, once.")
    progress = Progress("compiling the engine")
    lines: list[str] = []
    how_far = "preparing"

    def hear(line: str) -> None:
        nonlocal how_far
        lines.append(line)
        how_far = step_text(line) or how_far
        progress.show(how_far)

    log = folder.parent / "last-build.log"
    command = [str(python), "-m", "pip", "wheel", "-v", "--no-deps", "--no-cache-dir"]
    command += ["--wheel-dir", str(folder), str(archive)]
    variables = {"CMAKE_ARGS": " ".join(options), "PYTHONUNBUFFERED": "1"}
    status = run_whole(command, hear, log=log, environment=variables)
    if status or not list(folder.glob("*.whl")):
        progress.end("failed")
        raise SetupError(
            f"The engine could not be compiled: {faults_of(lines)}\nThe whole log is {log}."
        )
    progress.end("done")


def step_text(line: str) -> str:
    """How far a build is by a line of ninja's or make's; empty for any other line."""
    step = _STEP.search(line)
    if step is None:
        return ""
    done, of, percent = step.groups()
    return f"{percent} %" if percent else f"{done} of {of} steps"
