"""What leaves into files: whole, and never over what stands there unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.export_saving import save_part, save_parts, saved_text
from app.storage.storage_error import StorageError
from widgets.export_sheet import ExportPart

COMMAND = ExportPart("Command", "llama-server -m a.gguf", "", "llama-server.sh", is_command=True)
COMPOSE = ExportPart("compose.yaml", "services: {}\n", "For Compose.", "compose.yaml")
PARTS = (COMMAND, COMPOSE)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_that_all_are_written_where_no_name_is_taken(tmp_path: Path) -> None:
    assert save_parts(tmp_path, PARTS, may_replace=False) == ()
    assert names(tmp_path) == ["compose.yaml", "llama-server.sh"]
    assert (tmp_path / "compose.yaml").read_text() == COMPOSE.text


def test_that_nothing_is_written_where_a_name_is_taken(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("mine\n")
    assert save_parts(tmp_path, PARTS, may_replace=False) == ("compose.yaml",)
    assert names(tmp_path) == ["compose.yaml"]
    assert (tmp_path / "compose.yaml").read_text() == "mine\n"


def test_that_a_link_to_nothing_takes_a_name_too(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").symlink_to(tmp_path / "gone")
    assert save_parts(tmp_path, PARTS, may_replace=False) == ("compose.yaml",)


def test_that_files_are_replaced_once_the_user_said_so(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("mine\n")
    assert save_parts(tmp_path, PARTS, may_replace=True) == ()
    assert (tmp_path / "compose.yaml").read_text() == COMPOSE.text


def test_that_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    with pytest.raises(StorageError, match="The export could not be saved"):
        save_part(blocked / "compose.yaml", COMPOSE)


@pytest.mark.parametrize(
    ("text", "name", "begin"),
    [
        ("llama-server -m a.gguf", "llama-server.sh", "#!/bin/sh\n"),
        ("llama-server -m $'a\\001.gguf'", "llama-server.sh", "#!/usr/bin/env bash\n"),
        ("llama-server -m a.gguf", "llama-server.ps1", "llama-server"),
        ("llama-server -m a.gguf", "llama-server.txt", "llama-server"),
    ],
)
def test_that_a_command_for_a_shell_of_unix_is_a_script(text: str, name: str, begin: str) -> None:
    saved = saved_text(ExportPart("Command", text, "", name, is_command=True))
    assert saved.startswith(begin)
    assert saved.endswith(f"{text}\n")
