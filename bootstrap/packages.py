"""The package that brings something, by the name it has on the system at hand.

Debian's names are the keys; other systems have a column each. What could not be tried is said in
the README.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Debian's name: Fedora's, Arch's. A name that is not here is the same everywhere.
_LINUX_NAMES: dict[str, tuple[str, str]] = {
    "libegl1": ("libglvnd-egl", "libglvnd"),
    "libgl1": ("libglvnd-glx", "libglvnd"),
    "libxkbcommon0": ("libxkbcommon", "libxkbcommon"),
    "libfontconfig1": ("fontconfig", "fontconfig"),
    "libfreetype6": ("freetype", "freetype2"),
    "libdbus-1-3": ("dbus-libs", "dbus"),
    "libglib2.0-0": ("glib2", "glib2"),
    "libx11-6": ("libX11", "libx11"),
    "libzstd1": ("libzstd", "zstd"),
    "libxcb-cursor0": ("xcb-util-cursor", "xcb-util-cursor"),
    "libxcb-icccm4": ("xcb-util-wm", "xcb-util-wm"),
    "libxcb-image0": ("xcb-util-image", "xcb-util-image"),
    "libxcb-keysyms1": ("xcb-util-keysyms", "xcb-util-keysyms"),
    "libxcb-randr0": ("libxcb", "libxcb"),
    "libxcb-render-util0": ("xcb-util-renderutil", "xcb-util-renderutil"),
    "libxcb-shape0": ("libxcb", "libxcb"),
    "libxcb-sync1": ("libxcb", "libxcb"),
    "libxcb-util1": ("xcb-util", "xcb-util"),
    "libxcb-xfixes0": ("libxcb", "libxcb"),
    "libxcb-xkb1": ("libxcb", "libxcb"),
    "libxkbcommon-x11-0": ("libxkbcommon-x11", "libxkbcommon-x11"),
    "libx11-xcb1": ("libX11-xcb", "libx11"),
    "libwayland-client0": ("libwayland-client", "wayland"),
    "libwayland-cursor0": ("libwayland-cursor", "wayland"),
    "libgomp1": ("libgomp", "gcc-libs"),
    "libstdc++6": ("libstdc++", "gcc-libs"),
    "fonts-dejavu-core": ("dejavu-sans-fonts", "ttf-dejavu"),
    "build-essential": ("gcc-c++", "base-devel"),
    "cmake": ("cmake", "cmake"),
    "xvfb": ("xorg-x11-server-Xvfb", "xorg-server-xvfb"),
    "nvidia-cuda-toolkit": ("cuda-toolkit", "cuda"),
    "hipcc": ("hipcc", "rocm-hip-sdk"),
    "libhipblas-dev": ("hipblas-devel", "hipblas"),
    "librocblas-dev": ("rocblas-devel", "rocblas"),
    "glslc": ("glslc", "shaderc"),
    "libvulkan-dev": ("vulkan-loader-devel", "vulkan-headers"),
    "spirv-headers": ("spirv-headers-devel", "spirv-headers"),
    "python3": ("python3", "python"),
}
_MAC_NAMES = {
    "fonts-dejavu-core": "font-dejavu",
    "glslc": "shaderc",
    "libvulkan-dev": "vulkan-loader",
    "python3": "python@3.13",
}
_WINDOWS_NAMES = {
    "build-essential": "Microsoft.VisualStudio.2022.BuildTools",
    "cmake": "Kitware.CMake",
    "python3": "Python.Python.3.13",
    "glslc": "KhronosGroup.VulkanSDK",
    "libvulkan-dev": "KhronosGroup.VulkanSDK",
    "spirv-headers": "KhronosGroup.VulkanSDK",
    "nvidia-cuda-toolkit": "Nvidia.CUDA",
}
_XCODE_TOOLS = "build-essential"


@dataclass(frozen=True)
class PackageManager:
    """What installs packages here.

    Attributes:
        command: What goes before the packages' names.
        names: Debian's name to the one here; a name that is absent is the same.
        needs_root: Whether ``sudo`` goes in front for anyone but root.
        special: Debian's name to a command of its own that brings it.
    """

    command: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    needs_root: bool = True
    special: Mapping[str, str] = field(default_factory=dict)

    def commands(self, packages: Sequence[str], *, is_root: bool) -> list[str]:
        """The commands that install ``packages``, named as Debian does."""
        special = [self.special[package] for package in packages if package in self.special]
        rest = [self._name(package) for package in packages if package not in self.special]
        found = list(dict.fromkeys(special))
        if rest:
            sudo = ("sudo",) if self.needs_root and not is_root else ()
            found.append(shlex.join([*sudo, *self.command, *dict.fromkeys(rest)]))
        return found

    def _name(self, package: str) -> str:
        if package in self.names:
            return self.names[package]
        # Debian alone splits venv off, and has it once for each version.
        is_venv = package.startswith("python3.") and package.endswith("-venv")
        return self.names.get("python3", package) if is_venv else package


APT = PackageManager(("apt-get", "install"))
DNF = PackageManager(
    ("dnf", "install"), {debian: fedora for debian, (fedora, _) in _LINUX_NAMES.items()}
)
PACMAN = PackageManager(
    ("pacman", "-S", "--needed"), {debian: arch for debian, (_, arch) in _LINUX_NAMES.items()}
)
BREW = PackageManager(
    ("brew", "install"), _MAC_NAMES, needs_root=False,
    special={_XCODE_TOOLS: "xcode-select --install"},
)  # fmt: skip
WINGET = PackageManager(
    ("winget", "install"), _WINDOWS_NAMES, needs_root=False,
    special={
        _XCODE_TOOLS: (
            "winget install Microsoft.VisualStudio.2022.BuildTools --override "
            '"--add Microsoft.VisualStudio.Workload.VCTools --includeRecommended --passive"'
        )
    },
)  # fmt: skip

_BY_DISTRIBUTION = {
    "debian": APT, "ubuntu": APT, "fedora": DNF, "rhel": DNF, "centos": DNF, "arch": PACMAN,
}  # fmt: skip


def manager_of(system: str, os_release: Mapping[str, str]) -> PackageManager | None:
    """The package manager of a system.

    Args:
        system: As ``sys.platform`` names it.
        os_release: What ``/etc/os-release`` says; empty where there is none.

    Returns:
        None for a distribution whose names nobody wrote down.
    """
    if system == "darwin":
        return BREW
    if system == "win32":
        return WINGET
    likes = [os_release.get("ID", ""), *os_release.get("ID_LIKE", "").split()]
    return next((_BY_DISTRIBUTION[name] for name in likes if name in _BY_DISTRIBUTION), None)


def manager_here() -> PackageManager | None:
    """The package manager of the system this runs on."""
    try:
        os_release = platform.freedesktop_os_release() if sys.platform == "linux" else {}
    except OSError:
        os_release = {}
    return manager_of(sys.platform, os_release)


def remedy(packages: Sequence[str], manager: PackageManager | None, *, is_root: bool) -> str:
    """How to get ``packages``, named as Debian does: the end of a sentence, without its stop."""
    if manager is None:
        return "install what this system calls the packages that Debian names " + ", ".join(
            dict.fromkeys(packages)
        )
    commands = [f"`{command}`" for command in manager.commands(packages, is_root=is_root)]
    return f"{' and '.join(commands)} {'bring' if len(commands) > 1 else 'brings'} what is missing"


def remedy_here(packages: Sequence[str]) -> str:
    """The same for the system and the user at hand."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return remedy(packages, manager_here(), is_root=is_root)
