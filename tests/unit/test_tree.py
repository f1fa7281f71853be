"""What must stand nowhere in the tree: literals of the look, traces of a machine, large files."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_HEX_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b")
_CSS_LITERAL = re.compile(
    r"(?:color|background|border)\s*:\s*(?!transparent|none)[a-z]{3,}"
    r"|rgba?\(\s*\d|font-(?:family|size)\s*:\s*[^{\s]"
)
# Calls that take a colour, a family or a size; a constant in them is a literal of the look.
_LOOK_CALLS = {"QColor", "QFont", "mkColor", "setFamily", "setFamilies"} | {
    "setPointSize", "setPointSizeF", "setPixelSize"
}  # fmt: skip
# Spelt in two halves, or this file would find itself.
_MACHINE_PATH = re.compile(
    r"(?<![\w.~}])/(?:" + "ro" + "ot|wo" + "rk|ho" + r"me/\w+|Us" + r"ers/\w+)/"
)
_REGISTRIES = ("pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "deb.debian" + ".org")
_LARGEST_BYTES = 1_000_000


@cache
def _tracked() -> tuple[Path, ...]:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("this is no git checkout, so nothing says which files are the project's")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return tuple(path for path in paths if path.is_file())


def _texts() -> Iterator[tuple[str, str]]:
    for path in _tracked():
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture


def look_literals(source: str) -> list[str]:
    """Colours, families and sizes written into Python ``source``, with their lines."""
    found: list[str] = []
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_look = _HEX_COLOUR.search(node.value) or _CSS_LITERAL.search(node.value)
            if is_look and id(node) not in docstrings:
                found.append(f"{node.lineno}: {node.value.strip()!r}")
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("Qt.GlobalColor."):
            if node.attr != "transparent":
                found.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Call) and _is_look_call(node):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def _is_look_call(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    return name in _LOOK_CALLS and any(
        isinstance(argument, ast.Constant) and isinstance(argument.value, str | int | float)
        for argument in node.args
    )


def test_that_the_look_stands_in_resources_alone() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{literal}"
        for folder in ("widgets", "app")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for literal in look_literals(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "c = '#12AB9f'",
        "w.setStyleSheet(f'QLabel {{ color: {c}; background: #fff }}')",
        "w.setStyleSheet('color: red')",
        "w.setStyleSheet('font-size: 12px')",
        "QColor(1, 2, 3)",
        "QColor('red')",
        "font.setFamily('Sans')",
        "font.setPixelSize(12)",
        "pen = Qt.GlobalColor.red",
        "p.fillRect(r, 'rgba(0, 0, 0, 40)')",
    ],
)
def test_that_a_literal_of_the_look_is_noticed(source: str) -> None:
    assert look_literals(source)


@pytest.mark.parametrize(
    "source",
    [
        "QColor(palette.accent)",
        "font.setPixelSize(tokens.SIZE_PX)",
        "text = 'slot #1 of #12'",
        "w.setStyleSheet(f'color: {palette.text}; background: transparent')",
        "pen = Qt.GlobalColor.transparent",
    ],
)
def test_that_a_token_is_no_literal(source: str) -> None:
    assert not look_literals(source)


def test_that_no_file_names_a_path_of_one_machine() -> None:
    found = [
        f"{name}: {match.group()}"
        for name, text in _texts()
        if (match := _MACHINE_PATH.search(text))
    ]
    assert not found


def test_that_no_file_names_a_registry() -> None:
    found = [f"{name}: {host}" for name, text in _texts() for host in _REGISTRIES if host in text]
    assert not found


def test_that_no_model_or_large_file_is_tracked() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes"
        for path in _tracked()
        if path.suffix == ".gguf" or path.stat().st_size > _LARGEST_BYTES
    ]
    assert not found


def test_that_the_folders_are_those_of_the_readme() -> None:
    rooms = {name.split("/")[0] for name, _ in _texts() if "/" in name}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    unexplained = {
        room for room in rooms if not room.startswith(".") and f"`{room}/`" not in readme
    }
    assert not unexplained
