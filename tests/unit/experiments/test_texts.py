from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path

import pytest

from app.experiments import texts
from app.experiments.materials import STYLES
from app.experiments.texts import LIMIT_BYTES, bundled, bundled_lines, user_text
from app.experiments.workload import Material
from app.experiments.workload_error import WorkloadError

NOVELS = ("prose.txt", "documents.txt")
ASKS = tuple(style.asks for style in STYLES.values() if style.asks)


def test_that_a_text_is_read_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("\ufeffGrüße, 世界.\r\nzwei\a\r\n\n".encode())
    assert user_text(path) == "Grüße, 世界.\nzwei"


def test_that_one_line_of_two_megabytes_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"word " * 400_000)
    assert len(user_text(path)) == 5 * 400_000 - 1


@pytest.mark.parametrize(
    "raw",
    [
        b"\0" * 100,
        b"text and\0 nothing",
        b"\x7fELF\x02\x01\x01" + bytes(400),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8,
        bytes(range(1, 256)) * 40,
        b"\xff\xfe\x00\x01" * 1000,
        b"\xff\xfe" + b"\x00\xd8" * 500,
    ],
)
def test_that_binary_data_is_a_sentence(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "thing.bin"
    path.write_bytes(raw)
    with pytest.raises(WorkloadError, match=r"^thing\.bin is not a text file\.$"):
        user_text(path)


@pytest.mark.parametrize("raw", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n\n"])
def test_that_an_empty_file_is_a_sentence(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(raw)
    with pytest.raises(WorkloadError, match=r"^empty\.txt is empty\.$"):
        user_text(path)


def test_that_no_file_a_folder_and_a_device_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"^There is no file gone\.txt\. Check the path /"):
        user_text(tmp_path / "gone.txt")
    with pytest.raises(WorkloadError, match=r"is a folder\. Name a text file in it\.$"):
        user_text(tmp_path)
    with pytest.raises(WorkloadError, match=r"could not be read"):
        user_text(Path("a\0b"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_that_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "p.txt"
    os.mkfifo(pipe)
    with pytest.raises(WorkloadError, match="device or a pipe"):
        user_text(pipe)


def test_that_a_file_too_large_is_a_sentence_and_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "shelf.txt"
    with path.open("wb") as file:
        file.truncate(50 * LIMIT_BYTES)  # a hole: costs no disk
    with pytest.raises(WorkloadError, match="larger than 8 MiB"):
        user_text(path)


def test_that_a_missing_text_of_the_program_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    with pytest.raises(WorkloadError, match=r"that comes with TuneDeck could not be read: No such"):
        bundled("never_shipped.txt")


# --- What comes with the program --------------------------------------------------------


def test_that_every_text_that_is_named_is_there_and_every_one_that_is_there_is_named() -> None:
    named = {
        name for style in STYLES.values() for name in (style.text, style.system, style.asks) if name
    }
    there = {path.name for path in texts.FOLDER.iterdir()} - {"README.md"}
    assert named == there
    assert set(STYLES) == set(Material) - {Material.CONVERSATION}


@pytest.mark.parametrize("name", NOVELS)
def test_that_novels_are_long_and_whole_paragraphs(name: str) -> None:
    text = bundled(name)
    paragraphs = [line for line in text.splitlines() if line]
    assert len(text.encode()) > 300_000
    assert sum(paragraph[-1] in ".!?\"'”’:;-—_),]" for paragraph in paragraphs) > 0.98 * len(
        paragraphs
    )
    # English: the most frequent words are those of the language, nothing is markup or a licence.
    words = re.findall(r"[a-z]+", text.lower())
    assert 0.03 < words.count("the") / len(words) < 0.08
    assert len(set(words)) > 4000
    for mark in ("Gutenberg", "http", "Copyright", "<", "\ufffd", "\t", "  "):
        assert mark not in text, mark


def test_that_novels_have_no_passage_in_common() -> None:
    first, second = (set(bundled(name).splitlines()) for name in NOVELS)
    assert not {line for line in first & second if len(line) > 60}


def test_that_readme_names_works_and_authors() -> None:
    readme = (texts.FOLDER / "README.md").read_text(encoding="utf-8")
    for name in NOVELS:
        line = next(line for line in readme.splitlines() if f"`{name}`" in line)
        found = re.search(r"\*[A-Z][^*]+\* by [A-Z].+ \(\d{4}; s?he died (\d{4})\)", line)
        assert found is not None, line
        assert int(found[1]) < 1926


def test_that_the_code_compiles_and_is_plenty() -> None:
    code = bundled("code.txt")
    tree = ast.parse(code)
    assert len(code) > 20_000
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 60
    # Something is left to do for those who ask for type hints.
    assert not any(node.returns for node in functions)


def test_that_records_are_json_and_all_different() -> None:
    records = [json.loads(line) for line in bundled_lines("records.jsonl")]
    assert len(records) >= 150
    assert len({record["id"] for record in records}) == len(records)
    assert len({record["note"] for record in records}) == len(records)
    assert all(set(record) == {"id", "received", "customer", "item", "note"} for record in records)


@pytest.mark.parametrize("name", ASKS)
def test_that_no_question_is_the_beginning_of_another(name: str) -> None:
    asks = bundled_lines(name)
    assert len(asks) >= 6
    for ask in asks:
        assert sum(other.startswith(ask) for other in asks) == 1
