"""``make gpu-proof``: one folder with all that a GPU machine without network needs.

llama-cpp-python's source, wheels of small packages, the part of Qt that the window uses, and this
project; ``run.sh`` in it does the rest. The machine has Python, numpy, cmake and its compiler.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import platformdirs

from tests.bench import llama_server

OUT = llama_server.REPOSITORY / "build" / "gpu-proof"
MOST_BYTES = 55 * 2**20
PYTHONS = ("3.11", "3.12", "3.13")
PACKAGES = (
    "msgspec", "psutil", "jinja2", "markupsafe", "diskcache", "typing_extensions", "platformdirs",
    "nvidia-ml-py", "gguf", "pyyaml", "tqdm",
)  # fmt: skip
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64",
              "manylinux1_x86_64", "manylinux2010_x86_64", "manylinux_2_5_x86_64")  # fmt: skip
_LEFT_OUT_OF_SOURCE = {
    "docs", "models", "tests", "media", "benches", "examples", "docker", ".git", ".github",
}  # fmt: skip
_QT_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtNetwork", "QtTest")
_QT_LIBRARIES = (
    "libQt6Core", "libQt6Gui", "libQt6Widgets", "libQt6Svg", "libQt6Network", "libQt6DBus",
    "libQt6Test", "libicu",
)  # fmt: skip
_QT_PLUGINS = ("platforms/libqoffscreen.so", "iconengines", "imageformats/libqsvg.so")
_RUN = """\
#!/usr/bin/env bash
# Builds the engine for this machine's GPU and measures it: bash run.sh [--gpu none] [--minutes 9]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${WORK:-/tmp/tunedeck-proof}
python=${PYTHON:-python3}
rm -rf "$work/project" "$work/site"
mkdir -p "$work/project" "$work/source" "$work/site"
tar xf "$here/project.tar.xz" -C "$work/project"
[ -d "$work/source/vendor" ] || tar xf "$here/source.tar.xz" -C "$work/source"
tar xf "$here/qt.tar.xz" -C "$work/site"
"$python" -m pip install --quiet --no-index --no-deps --find-links "$here/wheels" \\
    --target "$work/site" PACKAGES
export PYTHONPATH="$work/project:$work/site:$work/source" QT_QPA_PLATFORM=offscreen
cd "$work/project"
exec "$python" -m tests.proof --work "$work" --out "${OUT:-$work/out}" "$@"
"""


def main() -> int:
    """Pack; the exit code is 1 if it does not fit."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.pack", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--run", action="store_true", help="do here what the other machine does")
    args = parser.parse_args()
    out: Path = args.out
    shutil.rmtree(out, ignore_errors=True)
    (out / "wheels").mkdir(parents=True)
    _pack_source(out / "source.tar.xz")
    _pack_project(out / "project.tar.xz")
    _pack_qt(out / "qt.tar.xz")
    _fetch_wheels(out / "wheels")
    run = out / "run.sh"
    run.write_text(_RUN.replace("PACKAGES", " ".join(PACKAGES)), encoding="utf-8")
    run.chmod(0o755)
    sizes = {path: _size_bytes(path) for path in sorted(out.iterdir())}
    for path, size in sizes.items():
        llama_server.say(f"{size / 2**20:6.1f} MiB  {path.name}")
    total = sum(sizes.values())
    fits = total <= MOST_BYTES
    llama_server.say(
        f"{total / 2**20:6.1f} MiB in {out}, at most {MOST_BYTES / 2**20:.0f}: "
        f"{'it fits' if fits else 'TOO LARGE'}. There: bash run.sh"
    )
    if fits and args.run:
        environment = os.environ | {"PYTHON": sys.executable, "OUT": str(out / "out")}
        done = subprocess.run(["bash", str(run), "--gpu", "none"], env=environment, check=False)
        return done.returncode
    return 0 if fits else 1


def _size_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _pack_source(archive: Path) -> None:
    """The source package without what no build reads."""
    version = llama_server.installed_version()
    root = llama_server.source_dir(platformdirs.user_cache_path("tunedeck") / "src", version)

    def kept(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        parts = Path(info.name).parts
        tops = parts[:1] + (parts[2:3] if parts[:2] == ("vendor", "llama.cpp") else ())
        return None if _LEFT_OUT_OF_SOURCE.intersection(tops) else info

    with tarfile.open(archive, "w:xz", preset=4) as tar:
        tar.add(root, arcname=".", filter=kept)


def _pack_project(archive: Path) -> None:
    """What git knows, pictures left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=llama_server.REPOSITORY, check=True, capture_output=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if name]
    with tarfile.open(archive, "w:xz", preset=4) as tar:
        for name in names:
            path = llama_server.REPOSITORY / name
            if path.suffix != ".png" and path.is_file():
                tar.add(path, arcname=name)


def _pack_qt(archive: Path) -> None:
    """The modules that the window imports, with the libraries they load."""
    package = Path(
        str(importlib.metadata.distribution("PySide6-Essentials").locate_file("PySide6"))
    )
    shiboken = package.parent / "shiboken6"
    with tarfile.open(archive, "w:xz", preset=4) as tar:
        for path in sorted(shiboken.rglob("*")):
            if path.is_file() and (path.suffix in (".py", ".so") or ".so." in path.name):
                tar.add(path, arcname=str(path.relative_to(package.parent)))
        for path in _qt_files(package):
            tar.add(path, arcname=str(path.relative_to(package.parent)))


def _qt_files(package: Path) -> list[Path]:
    found = [*package.glob("*.py"), *package.glob("libpyside6.*")]
    for module in _QT_MODULES:
        found += package.glob(f"{module}.*so")
    for library in _QT_LIBRARIES:
        found += (package / "Qt" / "lib").glob(f"{library}*")
    for plugin in _QT_PLUGINS:
        path = package / "Qt" / "plugins" / plugin
        found += sorted(path.glob("*.so")) if path.is_dir() else [path]
    return sorted(path for path in found if path.is_file())


def _fetch_wheels(folder: Path) -> None:
    """The packages at the versions installed here, for each Python that the other machine may have.

    Raises:
        SystemExit: If pip cannot have one.
    """
    wanted = [f"{name}=={importlib.metadata.version(name)}" for name in PACKAGES]
    for python in PYTHONS:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--python-version", python, "--dest", str(folder)]
        for platform in _PLATFORMS:
            command += ["--platform", platform]
        done = subprocess.run([*command, *wanted], check=False)
        if done.returncode:
            sys.exit(f"make gpu-proof: pip could not fetch the wheels for Python {python}.")


if __name__ == "__main__":
    sys.exit(main())
