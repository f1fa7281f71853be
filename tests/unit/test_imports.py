"""Who may open which door: the contracts of pyproject.toml, and what they cannot say."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

_KNOWN_BY_SET_UP = (
    "app.arguments",
    "engine_bridge.settings.assignments",
    "engine_bridge.settings.domain",
)

# Imports every module of a package but those named, with some packages made absent.
_IMPORT_ALL = """
import importlib, pkgutil, sys
package, blocked, skipped = sys.argv[1], sys.argv[2].split(","), tuple(sys.argv[3].split(","))
for name in blocked:
    sys.modules[name] = None
root = importlib.import_module(package)
names = [found.name for found in pkgutil.walk_packages(root.__path__, package + ".")]
for name in names:
    if not name.startswith(skipped) and not name.endswith("__main__"):
        importlib.import_module(name)
        print(name)
"""


def _import_all(package: str, blocked: str, skipped: str = "-") -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, package, blocked, skipped],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_that_the_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_that_the_child_loads_with_qt_absent() -> None:
    names = _import_all("engine_bridge.child", "PySide6,shiboken6")
    assert "engine_bridge.child.llama" in names


def test_that_the_pure_rooms_load_with_qt_and_llama_cpp_absent() -> None:
    names = _import_all(
        "engine_bridge",
        "PySide6,shiboken6,llama_cpp",
        "engine_bridge.child,engine_bridge.client",
    )
    assert "engine_bridge.settings.rules" in names
    assert "engine_bridge.protocol" in names


def test_that_use_cases_without_a_window_load_with_qt_s_widgets_absent() -> None:
    for package in ("app.library", "app.export"):
        _import_all(package, "PySide6.QtWidgets,PySide6.QtGui,llama_cpp")


def test_that_the_set_up_needs_the_standard_library_alone() -> None:
    for path in sorted((ROOT / "bootstrap").glob("*.py")):
        for name in _imported(path):
            top = name.partition(".")[0]
            is_known = name.startswith(_KNOWN_BY_SET_UP) or top == "bootstrap"
            assert top in sys.stdlib_module_names or is_known, f"{path.name}: {name}"
    # What it takes from the program to refuse a wrong word, where nothing is installed.
    code = f"import {', '.join(_KNOWN_BY_SET_UP)}"
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("folder", "allowed"), [("engine_bridge", {"PySide6.QtCore"}), ("resources", set())]
)
def test_that_a_room_opens_no_other_part_of_qt(folder: str, allowed: set[str]) -> None:
    opened = {
        name
        for path in (ROOT / folder).rglob("*.py")
        for name in _imported(path)
        if name.startswith("PySide6")
    }
    assert opened <= allowed


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
