"""Files of an export in a folder: all of them or none, and never over what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.export.dialect import ExportedFile
from app.export_out import write_files
from app.storage.storage_error import StorageError

FILES = (
    ExportedFile("compose.yaml", "services: {}\n", "Belongs there."),
    ExportedFile("grammar.gbnf", 'root ::= "ü"\n', "Belongs beside it."),
)


def test_that_all_files_lie_in_a_new_folder(tmp_path: Path) -> None:
    paths = write_files(tmp_path / "new" / "folder", FILES)
    assert [path.read_text(encoding="utf-8") for path in paths] == [file.text for file in FILES]
    assert [path.name for path in paths] == [file.name for file in FILES]


def test_that_nothing_is_written_where_a_name_is_taken(tmp_path: Path) -> None:
    (tmp_path / "grammar.gbnf").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match=r"grammar\.gbnf would be overwritten"):
        write_files(tmp_path, FILES)
    assert (tmp_path / "grammar.gbnf").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "compose.yaml").exists()


def test_that_a_link_into_nowhere_is_a_taken_name_too(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="overwritten"):
        write_files(tmp_path, FILES)
    assert not (tmp_path / "elsewhere").exists()


def test_that_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("mine", encoding="utf-8")
    with pytest.raises(StorageError, match="could not be written"):
        write_files(folder, FILES)
    assert folder.read_text(encoding="utf-8") == "mine"


def test_that_a_name_that_is_taken_meanwhile_takes_the_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "grammar.gbnf").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(Path, "exists", lambda _self, **_: False)
    monkeypatch.setattr(Path, "is_symlink", lambda _self: False)
    with pytest.raises(StorageError, match=r"grammar\.gbnf would be overwritten"):
        write_files(tmp_path, FILES)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["grammar.gbnf"]
    assert (tmp_path / "grammar.gbnf").read_text(encoding="utf-8") == "mine"
