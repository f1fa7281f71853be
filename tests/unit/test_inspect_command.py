"""``tunedeck inspect``: a file's own words, for a terminal and for programs."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import gguf
import pytest

from app.cli import main
from tests import models
from tests.bridge.test_template_once import write
from tests.tiny_model import TinyLlama, write_tiny_llama


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert main(["inspect", *words]) == status
    return capsys.readouterr().out


def test_that_a_file_is_told_without_loading_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = told(capsys, str(write_tiny_llama(tmp_path / "tiny.gguf", TinyLlama(vocab_tok=600))))
    lines = dict(line.split("  ", 1) for line in said.splitlines() if "  " in line)
    assert lines["Architecture"].strip() == "llama"
    assert lines["Vocabulary"].strip() == "600 tokens"
    assert lines["Attention"].strip() == "4 query heads, 2 KV (GQA 2 : 1)"
    assert "512\u202fB" in lines["f16"]  # 2 layers x (K + V) x 2 heads x 32 values x 2 bytes
    assert "Chat template on a sample" not in said


def test_that_its_template_is_tried_where_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = told(capsys, str(write(tmp_path / "m.gguf", chat_template__rag="x")), "--template")
    assert "<|im_start|>user\nWhat does a slot hold?<|im_end|>" in said
    assert "+ The generation prompt is “<|im_start|>assistant↵”." in said
    assert "Also in the file: rag." in said


def test_that_a_base_model_says_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, str(models.gemma_path()), "--template")
    assert "no chat template: a base model" in said
    assert "windowed" in said


def test_that_a_template_that_hangs_is_a_sentence_and_a_status(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loop = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3
    said = told(capsys, str(write(tmp_path / "m.gguf", loop)), "--template", status=1)
    assert "did not finish within 2 s" in said


def test_that_programs_get_exact_numbers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write_tiny_llama(tmp_path / "tiny.gguf", TinyLlama(vocab_tok=600))
    values = json.loads(told(capsys, str(path), "--json", "--template"))
    assert values["size_bytes"] == path.stat().st_size
    assert values["kv_bytes_per_token"]["f16"] == {"full": 512, "windowed": 0}
    assert values["facts"]["vocab"] == 600
    assert values["template"]["checked"] is None


def test_that_a_split_model_is_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        splitting = functools.partial(gguf.GGUFWriter, split_max_tensors=8)
        patched.setattr(gguf, "GGUFWriter", splitting)
        write_tiny_llama(tmp_path / "big.gguf", TinyLlama(vocab_tok=600))
    _, second, *_ = parts = sorted(tmp_path.glob("big-*.gguf"))
    values = json.loads(told(capsys, str(second), "--json"))
    assert values["parts"] == len(parts)
    assert values["size_bytes"] == sum(part.stat().st_size for part in parts)
    parts[-1].unlink()
    assert main(["inspect", str(second)]) == 1
    assert "missing" in capsys.readouterr().err


def test_that_what_is_no_model_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.gguf"
    page.write_bytes(b"<html>")
    assert main(["inspect", str(page), "--json"]) == 1
    captured = capsys.readouterr()
    assert "web page" in json.loads(captured.out)["error"]
