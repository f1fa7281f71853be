"""Whatever a system lacks is named as that system names it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bootstrap import packages, system
from bootstrap.environment import python_in
from bootstrap.gpu import BACKENDS
from bootstrap.lock import only_one
from bootstrap.packages import (
    APT,
    BREW,
    DNF,
    PACMAN,
    WINGET,
    PackageManager,
    manager_of,
    remedy,
)
from bootstrap.say import SetupError
from bootstrap.system import (
    ENGINE_LIBRARIES,
    QT_LIBRARIES,
    WAYLAND_LIBRARIES,
    X11_LIBRARIES,
    missing_for_build,
    missing_for_venv,
    refuse_if_missing,
)

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (*QT_LIBRARIES, *X11_LIBRARIES, *WAYLAND_LIBRARIES, *ENGINE_LIBRARIES)


@pytest.mark.parametrize(
    ("platform", "os_release", "manager"),
    [
        ("linux", {"ID": "debian"}, APT),
        ("linux", {"ID": "ubuntu", "ID_LIKE": "debian"}, APT),
        ("linux", {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, APT),
        ("linux", {"ID": "raspbian", "ID_LIKE": "debian"}, APT),
        ("linux", {"ID": "fedora"}, DNF),
        ("linux", {"ID": "nobara", "ID_LIKE": "fedora"}, DNF),
        ("linux", {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, DNF),
        ("linux", {"ID": "almalinux", "ID_LIKE": "rhel centos fedora"}, DNF),
        ("linux", {"ID": "arch"}, PACMAN),
        ("linux", {"ID": "manjaro", "ID_LIKE": "arch"}, PACMAN),
        ("linux", {"ID": "nixos"}, None),
        ("linux", {}, None),
        ("darwin", {}, BREW),
        ("win32", {}, WINGET),
        ("freebsd14", {}, None),
    ],
)
def test_that_each_system_has_its_package_manager(
    platform: str, os_release: dict[str, str], manager: PackageManager | None
) -> None:
    assert manager_of(platform, os_release) is manager


@pytest.mark.parametrize(
    ("manager", "lacking", "sentence"),
    [
        (APT, ["libegl1", "cmake"], "`sudo apt-get install libegl1 cmake` brings"),
        (
            DNF,
            ["libegl1", "libxcb-cursor0", "libxcb-shape0", "libxcb-xkb1"],
            "`sudo dnf install libglvnd-egl xcb-util-cursor libxcb` brings",
        ),
        (DNF, ["build-essential", "cmake"], "`sudo dnf install gcc-c++ cmake` brings"),
        (DNF, ["python3.13-venv"], "`sudo dnf install python3` brings"),
        (PACMAN, ["build-essential", "libgomp1"],
         "`sudo pacman -S --needed base-devel gcc-libs` brings"),
        (BREW, ["cmake"], "`brew install cmake` brings"),
        (BREW, ["build-essential"], "`xcode-select --install` brings"),
        (BREW, ["build-essential", "cmake"],
         "`xcode-select --install` and `brew install cmake` bring"),
        (WINGET, ["cmake"], "`winget install Kitware.CMake` brings"),
        (None, ["libegl1", "cmake"],
         "install what this system calls the packages that Debian names libegl1, cmake"),
    ],
)  # fmt: skip
def test_that_what_is_missing_is_named_as_the_system_names_it(
    manager: PackageManager | None, lacking: list[str], sentence: str
) -> None:
    assert remedy(lacking, manager, is_root=False).startswith(sentence)


def test_that_root_needs_no_sudo() -> None:
    assert APT.commands(["cmake"], is_root=True) == ["apt-get install cmake"]
    assert DNF.commands(["cmake"], is_root=True) == ["dnf install cmake"]


def test_that_a_package_is_installed_once() -> None:
    assert DNF.commands(["libxcb-shape0", "libxcb-sync1"], is_root=True) == ["dnf install libxcb"]


@pytest.mark.parametrize("manager", [DNF, PACMAN], ids=["fedora", "arch"])
def test_that_every_package_of_debian_has_its_name_elsewhere(manager: PackageManager) -> None:
    wanted = [package for _, package in LIBRARIES]
    wanted += ["build-essential", "cmake", "fonts-dejavu-core", "xvfb", "python3"]
    wanted += [
        package
        for backend in BACKENDS.values()
        for _, package in backend.parts
        if backend.name != "metal"
    ]
    assert [package for package in wanted if package not in manager.names] == []


@pytest.mark.parametrize(
    ("there", "lacking"),
    [
        ({"cc", "c++", "cmake", "tools"}, []),
        ({"cc", "c++", "cmake"}, ["build-essential"]),  # a cc that only asks to be installed
        ({"cc", "c++", "tools"}, ["cmake"]),
        ({"tools"}, ["build-essential", "cmake"]),
    ],
)
def test_that_macos_needs_apple_s_tools_and_cmake(there: set[str], lacking: list[str]) -> None:
    asked: list[list[str]] = []

    def ask(command: list[str]) -> str | None:
        asked.append(command)
        return "/Library/Developer/CommandLineTools" if "tools" in there else None

    found = missing_for_build({}, lambda name: name if name in there else None, "darwin", ask)
    assert [missing.package for missing in found] == lacking
    assert all(command == ["xcode-select", "-p"] for command in asked)


@pytest.mark.parametrize(
    ("programs", "studio", "lacking"),
    [
        ({"cmake", "cl"}, None, []),
        ({"cmake"}, "C:\\VS\\2022", []),
        ({"cmake"}, None, ["build-essential"]),
        (set(), "C:\\VS\\2022", ["cmake"]),
    ],
)
def test_that_windows_needs_visual_studio_and_cmake(
    programs: set[str], studio: str | None, lacking: list[str]
) -> None:
    found = missing_for_build(
        {}, lambda name: name if name in programs else None, "win32", lambda _: studio
    )
    assert [missing.package for missing in found] == lacking


def test_that_linux_asks_no_other_system_s_tools() -> None:
    def ask(command: list[str]) -> str | None:
        raise AssertionError(command)

    assert missing_for_build({}, lambda name: name, "linux", ask) == []


@pytest.mark.parametrize(
    ("manager", "sentence"),
    [
        (DNF, "`dnf install dejavu-sans-fonts gcc-c++ python3` brings what is missing."),
        (
            BREW,
            "`xcode-select --install` and `brew install font-dejavu python@3.13` bring what is "
            "missing.",
        ),
    ],
)
def test_that_all_that_is_missing_is_one_sentence(
    manager: PackageManager, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "manager_here", lambda: manager)
    monkeypatch.setattr("bootstrap.packages.os.geteuid", lambda: 0, raising=False)
    lacking = [
        system.Missing("a font", "fonts-dejavu-core"),
        *missing_for_build({}, lambda name: name if name == "cmake" else None, "linux"),
        *missing_for_venv(lambda _: None),
    ]
    with pytest.raises(SetupError) as caught:
        refuse_if_missing(lacking, "TuneDeck")
    assert str(caught.value) == (
        "TuneDeck needs a font, a C and C++ compiler and Python's venv module, which this system "
        f"lacks: {sentence}"
    )


def test_that_the_interpreter_is_found_where_each_system_puts_it(tmp_path: Path) -> None:
    assert python_in(tmp_path, "linux") == tmp_path / "bin" / "python"
    assert python_in(tmp_path, "win32") == tmp_path / "Scripts" / "python.exe"


_HOLDS = """
import sys
from pathlib import Path
from bootstrap.lock import only_one
with only_one(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.readline()
"""


def _holder(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-u", "-c", _HOLDS, str(path)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("end", ["in good order", "killed"])
def test_that_a_second_set_up_waits_for_the_first(tmp_path: Path, end: str) -> None:
    path = tmp_path / "cache" / "setup.lock"
    first = _holder(path)
    assert first.stdout is not None
    assert first.stdout.readline() == "mine\n"
    second = _holder(path)
    assert second.stdout is not None
    assert second.stdout.readline().startswith("Another set-up of TuneDeck is running")
    ways: dict[str, Callable[[], object]] = {
        "in good order": lambda: first.communicate("\n"),
        "killed": first.kill,
    }
    ways[end]()
    assert second.stdout.readline() == "mine\n"
    second.communicate("\n")
    first.communicate()
    assert second.returncode == 0


def test_that_a_lock_nobody_holds_is_had_at_once(tmp_path: Path) -> None:
    for _ in range(2):
        with only_one(tmp_path / "lock"):
            pass


def test_that_a_missing_python_is_told_with_the_names_of_several_systems() -> None:
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    done = subprocess.run(
        ["make", "--no-print-directory", "PYTHON=no-such-python", "run"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(ROOT)},
    )  # fmt: skip
    assert done.returncode != 0
    for name in ("apt-get install python3", "dnf install python3", "brew install python"):
        assert name in done.stderr
