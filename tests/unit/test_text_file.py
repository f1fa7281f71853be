from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.text_file import LIMIT_BYTES, TextFileError, read_text_file

WORDS = "Grüße, 世界.\nZeile zwei\n"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (WORDS.encode(), WORDS),
        (WORDS.encode("utf-8-sig"), WORDS),
        (WORDS.encode("utf-16"), WORDS),
        ("Grüße\r\n".encode("utf-16-le"), "Grüße\n"),
        ("Grüße\n".encode("utf-16-be"), "Grüße\n"),
        (WORDS.encode("utf-32"), WORDS),
        ("Grüße – „so“\n".encode("cp1252"), "Grüße – „so“\n"),
        (b"Gr\xfc\xdfe \x81\n", "Gr\xfc\xdfe \n"),
        (b"\x1b[31mred\x1b[0m log\n", "[31mred[0m log\n"),
    ],
)
def test_that_a_text_is_read_whatever_wrote_it(tmp_path: Path, raw: bytes, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(raw)
    attached = read_text_file(path)
    assert attached.name == "notes.txt"
    assert attached.text == text


@pytest.mark.parametrize(
    "raw",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8,
        b"\x7fELF\x02\x01\x01" + bytes(400),
        bytes(range(1, 256)) * 40,
        b"PK\x03\x04\x14\0\0\0\x08\0" + bytes(range(256)) * 8,
    ],
)
def test_that_what_is_no_text_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "thing.bin"
    path.write_bytes(raw)
    with pytest.raises(TextFileError, match="not a text file"):
        read_text_file(path)


def test_that_a_file_too_large_is_refused_and_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    with path.open("wb") as file:
        file.truncate(50 * LIMIT_BYTES)  # a hole: costs no disk
    with pytest.raises(TextFileError, match="larger than 2 MiB"):
        read_text_file(path)
    path.write_bytes(b"x" * LIMIT_BYTES)
    assert len(read_text_file(path).text) == LIMIT_BYTES


def test_that_a_folder_a_missing_and_an_empty_file_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b" \n")
    for name, words in ((".", "folder"), ("gone.txt", "could not be read"), ("empty.txt", "empty")):
        with pytest.raises(TextFileError, match=words):
            read_text_file(tmp_path / name if name != "." else tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_that_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "p.txt"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(TextFileError, match="device or a pipe"):
            read_text_file(path)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode on this system")
def test_that_a_name_that_is_no_text_can_be_sent(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\nnotes.txt")
    path.write_text("one")
    attached = read_text_file(path)
    assert attached.name == "\\xff notes.txt"
    attached.as_sent().encode()


def test_that_nothing_but_control_characters_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(b"\x1b\x0c\x0c")
    with pytest.raises(TextFileError, match="is empty"):
        read_text_file(path)
