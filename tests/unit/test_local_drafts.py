"""Which models on this machine can draft for one, without a window."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.library import draft_commands
from app.library.draft_verdicts import (
    CAN,
    CAN_ELSEWHERE,
    CANNOT,
    LARGE,
    UNKNOWN,
    verdict_sentence,
    verdict_words,
)
from app.library.local_drafts import local_drafts, local_models
from app.library.model_entry import FolderToList
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp
from tests.tiny_model import TinyLlama, write_tiny_llama

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model, one that fits and a copy of it, one with other words, and one that is broken."""
    made = tmp_path / "models"
    write_tiny_llama(made / "target.gguf", TinyLlama(layers=6, vocab_tok=600))
    small = write_tiny_llama(made / "small.gguf", TinyLlama(layers=1, vocab_tok=600))
    (made / "small-copy.gguf").write_bytes(small.read_bytes())
    write_tiny_llama(made / "other.gguf", TinyLlama(layers=1, vocab_tok=1200))
    (made / "broken.gguf").write_bytes(b"<html>")
    return made


@pytest.fixture
def ask(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Ask:
    listed = (FolderToList(os.fsencode(folder), "Models"),)
    monkeypatch.setattr(draft_commands, "folders_to_list", lambda _: listed)
    monkeypatch.setattr(draft_commands, "list_cache_path", lambda: tmp_path / "list.json")

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["drafts", *words])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_that_what_can_draft_stands_first_and_the_others_say_why_not(
    ask: Ask, folder: Path
) -> None:
    status, out, _ = ask(str(folder / "target.gguf"), "--json")
    told: dict[str, Any] = json.loads(out)
    first, second = told["drafts"]  # a copy is told once, what is broken not at all
    assert (status, told["own_layers"], told["problems"]) == (0, 0, [])
    assert first["name"] in ("small.gguf", "small-copy.gguf")
    assert (first["can_draft"], first["kind"], first["why_not"]) == (True, "draft-simple", "")
    size, whole = first["size_bytes"], (folder / "target.gguf").stat().st_size
    assert first["share"] == pytest.approx(size / whole)
    assert (second["name"], second["can_draft"]) == ("other.gguf", False)
    assert "1,200 tokens" in second["why_not"]


def test_that_a_terminal_is_told_kind_size_and_verdict(ask: Ask, folder: Path) -> None:
    status, out, _ = ask(str(folder / "target.gguf"))
    assert status == 0
    head, sentence, path, *_ = out.splitlines()
    assert " · draft-simple · " in head
    assert head.endswith("% of the model · can draft")
    assert "can draft for it" in sentence
    assert path.strip().startswith(str(folder))


def test_that_the_hub_is_named_where_nothing_here_can_draft(ask: Ask, folder: Path) -> None:
    status, out, _ = ask(str(folder / "other.gguf"))
    assert status == 0
    assert "tunedeck hub drafts" in out.splitlines()[-1]


def test_that_layers_of_the_model_s_own_are_told(ask: Ask, folder: Path) -> None:
    own = write_tiny_mtp(folder / "own.gguf", TinyMtp())
    assert "of its own" not in ask(str(folder / "target.gguf"))[1]
    assert ask(str(own))[1].startswith("The model has a layer of its own that guesses ahead")


def test_that_models_beside_it_are_found_in_a_folder_that_nobody_listed(
    ask: Ask, tmp_path: Path
) -> None:
    lonely = tmp_path / "lonely"
    target = write_tiny_llama(lonely / "target.gguf", TinyLlama(layers=6, vocab_tok=600))
    write_tiny_llama(lonely / "beside.gguf", TinyLlama(layers=2, vocab_tok=600))
    write_tiny_llama(lonely / "deeper" / "deep.gguf", TinyLlama(layers=3, vocab_tok=600))
    told = json.loads(ask(str(target), "--json")[1])
    assert told["problems"] == []
    assert "beside.gguf" in {draft["name"] for draft in told["drafts"]}
    assert "deep.gguf" not in {draft["name"] for draft in told["drafts"]}


def test_that_a_file_that_is_no_model_is_a_sentence(ask: Ask, folder: Path) -> None:
    status, out, error = ask(str(folder / "broken.gguf"), "--json")
    assert status == 1
    assert "web page" in json.loads(out)["error"]
    assert "web page" in error


def test_that_a_folder_that_is_not_there_is_told(folder: Path, tmp_path: Path) -> None:
    gone = FolderToList(os.fsencode(tmp_path / "gone"), "Gone", is_own=True)
    models = local_models((gone,), [str(folder / "small.gguf")], tmp_path / "list.json")
    assert [entry.name for entry in models.entries] == ["small.gguf"]
    (problem,) = models.problems
    assert "Gone cannot be listed" in problem
    (draft,) = local_drafts(str(folder / "target.gguf"), models.entries)
    assert not draft.why_not


@pytest.mark.parametrize(
    ("told", "verdict", "said"),
    [
        (("draft-simple", 0.1, ""), CAN, "It has the vocabulary"),
        (("draft-simple", 0.63, ""), LARGE, "63\u202f% of the model's size"),
        (("draft-mtp", 0.63, ""), CAN, "guess ahead"),
        (("draft-eagle3", 0.1, ""), CAN_ELSEWHERE, "does not run here: its draft model"),
        (("draft-simple", 0.1, "It cannot."), CANNOT, "It cannot."),
        (("", 0.1, "", "It is gated."), UNKNOWN, "It is gated."),
    ],
)
def test_that_a_verdict_has_words_and_a_sentence(
    told: tuple[str, float, str] | tuple[str, float, str, str], verdict: str, said: str
) -> None:
    assert verdict_words(*told) == verdict
    assert said in verdict_sentence(*told)
