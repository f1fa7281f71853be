"""Which program is tried: the one chosen, else one of the path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.experiments.server_program import ServerProgram, find_program, is_program, program_at

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs there have an ending")


def program(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_that_the_one_chosen_comes_first_and_one_that_is_gone_is_passed_over(
    tmp_path: Path,
) -> None:
    of_path = program(tmp_path / "bin", "llama-server")
    chosen = program(tmp_path / "own", "my-server")
    search = str(tmp_path / "bin")
    assert find_program(chosen, search) == ServerProgram(chosen, (chosen,))
    Path(chosen).unlink()
    assert find_program(chosen, search) == ServerProgram(of_path, (of_path,))


def test_that_the_program_that_unites_the_tools_is_told_which_one(tmp_path: Path) -> None:
    path = program(tmp_path / "bin", "llama")
    assert find_program("", str(tmp_path / "bin")) == ServerProgram(path, (path, "serve"))
    assert program_at("/opt/llama").words == ("/opt/llama", "serve")
    assert program_at("C:/llama/LLAMA.EXE").words == ("C:/llama/LLAMA.EXE", "serve")


def test_that_there_may_be_none(tmp_path: Path) -> None:
    assert find_program("", str(tmp_path)) is None


def test_that_folders_and_files_that_cannot_be_run_are_none(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("llama")
    assert not is_program(str(text))
    assert not is_program(str(tmp_path))
    assert not is_program(str(tmp_path / "nothing"))
    assert is_program(program(tmp_path, "llama-server"))
