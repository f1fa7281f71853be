"""What the system must bring along: shared libraries, a compiler, fonts, a display.

Asks the loader, not a list of installed packages. A package goes by Debian's name here;
``packages`` knows what other systems call it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap.packages import remedy_here
from bootstrap.process import output_of
from bootstrap.say import SetupError


@dataclass(frozen=True)
class Missing:
    """Something the system lacks.

    Attributes:
        thing: What, as its users call it.
        package: Debian's package that brings it.
    """

    thing: str
    package: str


# What QtGui, QtWidgets and QtDBus of the PySide6-Essentials wheel link to and do not bring along.
QT_LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libEGL.so.1", "libegl1"),
    ("libGL.so.1", "libgl1"),
    ("libxkbcommon.so.0", "libxkbcommon0"),
    ("libfontconfig.so.1", "libfontconfig1"),
    ("libfreetype.so.6", "libfreetype6"),
    ("libdbus-1.so.3", "libdbus-1-3"),
    ("libglib-2.0.so.0", "libglib2.0-0"),
    ("libX11.so.6", "libx11-6"),
    ("libzstd.so.1", "libzstd1"),
)
# What Qt's X11 plugin links to on top.
X11_LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libxcb-cursor.so.0", "libxcb-cursor0"),
    ("libxcb-icccm.so.4", "libxcb-icccm4"),
    ("libxcb-image.so.0", "libxcb-image0"),
    ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
    ("libxcb-randr.so.0", "libxcb-randr0"),
    ("libxcb-render-util.so.0", "libxcb-render-util0"),
    ("libxcb-shape.so.0", "libxcb-shape0"),
    ("libxcb-sync.so.1", "libxcb-sync1"),
    ("libxcb-util.so.1", "libxcb-util1"),
    ("libxcb-xfixes.so.0", "libxcb-xfixes0"),
    ("libxcb-xkb.so.1", "libxcb-xkb1"),
    ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
    ("libX11-xcb.so.1", "libx11-xcb1"),
)
WAYLAND_LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libwayland-client.so.0", "libwayland-client0"),
    ("libwayland-cursor.so.0", "libwayland-cursor0"),
)
# What the compiled engine links to.
ENGINE_LIBRARIES: tuple[tuple[str, str], ...] = (
    ("libgomp.so.1", "libgomp1"),
    ("libstdc++.so.6", "libstdc++6"),
)
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


def missing_libraries(
    libraries: Iterable[tuple[str, str]], load: Callable[[str], object] = ctypes.CDLL
) -> list[Missing]:
    """Those of ``libraries`` that the loader does not find or cannot load."""
    found: list[Missing] = []
    for name, package in libraries:
        try:
            load(name)
        except OSError:
            found.append(Missing(name, package))
    return found


def missing_for_qt(environment: Mapping[str, str], *, with_window: bool) -> list[Missing]:
    """Libraries and fonts that Qt lacks here; those of the window system where one is used."""
    if sys.platform != "linux":
        return []
    libraries = QT_LIBRARIES
    if with_window:
        libraries += _window_system_libraries(environment)
    found = missing_libraries(libraries)
    if not has_fonts():
        found.append(Missing("a font", "fonts-dejavu-core"))
    return found


def _window_system_libraries(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What Qt's plugin for the window system in use links to."""
    chosen = environment.get("QT_QPA_PLATFORM", "")
    if chosen and not chosen.startswith(("xcb", "wayland")):
        return ()
    if environment.get("WAYLAND_DISPLAY") and not chosen.startswith("xcb"):
        return WAYLAND_LIBRARIES
    return X11_LIBRARIES if environment.get("DISPLAY") else ()


def has_fonts(folders: Iterable[str] = _FONT_FOLDERS) -> bool:
    """Whether any folder holds a font; without one Qt paints no letter."""
    return any(
        path.suffix.lower() in (".ttf", ".otf", ".ttc", ".pfb")
        for folder in folders
        for path in Path(folder).expanduser().rglob("*.*")
    )


def missing_for_venv(
    find: Callable[[str], object | None] = importlib.util.find_spec,
) -> list[Missing]:
    """What a virtual environment lacks: Debian splits ``ensurepip`` off."""
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    return [] if find("ensurepip") and find("venv") else [Missing("Python's venv module", package)]


def missing_for_build(
    environment: Mapping[str, str],
    which: Callable[[str], str | None] = shutil.which,
    platform: str = sys.platform,
    ask: Callable[[list[str]], str | None] = output_of,
) -> list[Missing]:
    """What a build of llama.cpp lacks."""
    found: list[Missing] = []
    if not _has_compiler(environment, which, platform, ask):
        found.append(Missing("a C and C++ compiler", "build-essential"))
    if not which("cmake"):
        found.append(Missing("cmake", "cmake"))
    return found


def _has_compiler(
    environment: Mapping[str, str],
    which: Callable[[str], str | None],
    platform: str,
    ask: Callable[[list[str]], str | None],
) -> bool:
    if platform == "win32":  # cmake finds Visual Studio by itself, off everybody's PATH
        return bool(which("cl") or ask([_vswhere(environment), "-products", "*", "-requires",
                                        "Microsoft.VisualStudio.Component.VC.Tools.x86.x64",
                                        "-property", "installationPath"]))  # fmt: skip
    compilers = (environment.get("CC", "cc"), environment.get("CXX", "c++"))
    if not all(which(compiler.split()[0]) for compiler in compilers if compiler.strip()):
        return False
    # macOS has a cc that only asks for its own installation.
    return platform != "darwin" or bool(ask(["xcode-select", "-p"]))


def _vswhere(environment: Mapping[str, str]) -> str:
    programs = environment.get("ProgramFiles(x86)", "C:\\Program Files (x86)")
    return f"{programs}\\Microsoft Visual Studio\\Installer\\vswhere.exe"


def refuse_if_missing(found: list[Missing], what_for: str) -> None:
    """Stop with one sentence if something is missing.

    Raises:
        SetupError: Naming all that is missing and the packages that bring it.
    """
    if not found:
        return
    things = [missing.thing for missing in found]
    listed = things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"
    raise SetupError(
        f"{what_for} needs {listed}, which this system lacks: "
        f"{remedy_here([missing.package for missing in found])}."
    )


def refuse_without_display(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> None:
    """Stop with one sentence if a window has nowhere to appear.

    Raises:
        SetupError: On Linux without X11, Wayland or a Qt platform chosen by hand.
    """
    chosen = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if platform != "linux" or any(environment.get(name) for name in chosen):
        return
    raise SetupError(
        "TuneDeck opens a window, and there is no display here (neither DISPLAY nor "
        "WAYLAND_DISPLAY is set): start it on a desktop, or on a virtual screen with "
        f"`xvfb-run -a make run` (if that is not there: {remedy_here(['xvfb'])})."
    )
