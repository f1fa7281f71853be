"""Which models are offered to draft, in which order, and what is said of the others."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from app.draft_words import FILE, MTP, NGRAM, OFF, choices_of, draft_text, values_of_choice
from app.library.draft_check import DraftRequest, DraftVerdict, check
from app.library.model_entry import ModelEntry
from app.model_sheets import key_of
from engine_bridge.header_facts import read_header_facts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import NGRAM_KINDS
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp, write_tiny_mtp_chain
from tests.tiny_model import TinyLlama, write_tiny_llama
from tests.unit.gguf_bytes import Gguf, llama_values


def entry_of(path: Path) -> ModelEntry:
    status = path.stat()
    return ModelEntry(
        location=os.fsencode(path),
        folder=b"",
        name=path.name,
        size_bytes=status.st_size,
        modified_ns=status.st_mtime_ns,
        facts=read_header_facts(path),
        is_read=True,
    )


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    folder = tmp_path_factory.mktemp("target")
    return entry_of(write_tiny_llama(folder / "target.gguf", TinyLlama(layers=6, vocab_tok=600)))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    folder = tmp_path_factory.mktemp("small")
    return entry_of(write_tiny_llama(folder / "small.gguf", TinyLlama(layers=1, vocab_tok=600)))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    folder = tmp_path_factory.mktemp("large")
    return entry_of(write_tiny_llama(folder / "large.gguf", TinyLlama(layers=8, vocab_tok=600)))


def test_that_each_candidate_gets_a_verdict(
    target: ModelEntry, small: ModelEntry, tmp_path: Path
) -> None:
    other = write_tiny_llama(tmp_path / "other.gguf", TinyLlama(vocab_tok=1200))
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"<html>")
    told: list[DraftVerdict] = []
    locations = (small.location, os.fsencode(other), os.fsencode(broken))
    check(DraftRequest(target.location, locations), told.append)
    assert [verdict.location for verdict in told] == list(locations)
    assert told[0].why_not == ""
    assert "1,200 tokens" in told[1].why_not
    assert "web page" in told[2].why_not


def test_that_a_target_without_vocabulary_is_said_of_all(small: ModelEntry, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"")
    told: list[DraftVerdict] = []
    check(DraftRequest(os.fsencode(broken), (small.location,)), told.append)
    assert "empty" in told[0].why_not


def test_that_smaller_models_come_first_and_unfit_ones_last(
    target: ModelEntry, small: ModelEntry, large: ModelEntry, tiny_mamba_path: Path
) -> None:
    mamba = entry_of(tiny_mamba_path)
    why = "mamba cannot draft for target: it has 32,000 tokens. A draft must have the same."
    reasons = {large.location: "", small.location: "", mamba.location: why, target.location: None}
    lines = choices_of(
        EngineConfig(),
        target,
        [mamba, large, small],
        lambda entry: reasons[entry.location],
        "",
    )
    keys = [line.key for line in lines]
    assert keys[: 1 + len(NGRAM_KINDS)] == [OFF, *NGRAM_KINDS]
    models = lines[1 + len(NGRAM_KINDS) :]
    expected = [*(key_of(e.location) for e in (small, large, mamba)), FILE]
    assert [line.key for line in models] == expected
    assert [line.is_enabled for line in models] == [True, True, False, True]
    assert models[0].text.startswith("small · draft-simple · ")
    assert "a guess costs" in models[0].text
    assert "can only slow it down" in models[1].tip
    assert models[2].tip == why


def test_that_another_vocabulary_is_called_so_and_its_tokens_are_in_the_tip(
    target: ModelEntry, small: ModelEntry, tmp_path: Path
) -> None:
    other = entry_of(write_tiny_llama(tmp_path / "other.gguf", TinyLlama(vocab_tok=1200)))
    told: list[DraftVerdict] = []
    check(DraftRequest(target.location, (other.location,)), told.append)
    reason = told[0].why_not
    line = choices_of(EngineConfig(), target, [other], lambda _: reason, "")[-2]
    assert line.text == "other: another vocabulary, cannot draft for this model"
    assert line.tip == reason
    assert "1,200 tokens" in line.tip
    assert not line.is_enabled


def test_that_an_unknown_candidate_is_not_offered_yet(
    target: ModelEntry, small: ModelEntry
) -> None:
    lines = choices_of(EngineConfig(), target, [small], lambda _: None, "Comparing …")
    assert [line.text for line in lines[-3:]] == ["ngram-cache", "Comparing …", "Choose a file…"]
    assert not lines[-2].is_enabled


def test_that_what_is_wanted_is_checked(target: ModelEntry, small: ModelEntry) -> None:
    wanted = EngineConfig().with_values(
        values_of_choice(key_of(small.location), small.path, EngineConfig())
    )
    lines = choices_of(wanted, target, [small], lambda _: "", "")
    assert [line.key for line in lines if line.is_checked] == [key_of(small.location)]
    off = EngineConfig().with_values(values_of_choice(OFF, "", wanted))
    assert choices_of(off, target, [], lambda _: "", "")[0].is_checked
    ngram = EngineConfig().with_values(values_of_choice(NGRAM, "", wanted))
    assert choices_of(ngram, target, [], lambda _: "", "")[1].is_checked


def test_that_the_button_says_what_drafts_and_what_is_wanted() -> None:
    off = EngineConfig()
    model = off.with_values(values_of_choice("aa", "/models/qwen-0.5b.gguf", off))
    assert draft_text(None, off) == "Drafts: off"
    assert draft_text(model, model) == "Drafts: qwen-0.5b · n ≤ 3"
    assert draft_text(off, model) == "Drafts: off → qwen-0.5b · n ≤ 3"
    without = off.with_values({"spec_types": ("draft-simple",)})
    assert draft_text(without, without) == "Drafts: no model chosen"


def test_that_another_draft_model_leaves_the_copies_alone() -> None:
    both = EngineConfig().with_values({"spec_types": (NGRAM, "draft-simple")})
    assert values_of_choice("aa", "/m.gguf", both) == {
        "spec_types": (NGRAM, "draft-simple"),
        "draft_model_path": "/m.gguf",
    }


def _with_facts(entry: ModelEntry, **changes: object) -> ModelEntry:
    assert entry.facts is not None
    facts = msgspec.structs.replace(entry.facts, **changes)
    return msgspec.structs.replace(entry, facts=facts)


@pytest.mark.parametrize("kind", ["draft-eagle3", "draft-dflash", "draft-dspark"])
def test_that_a_file_for_the_command_line_says_so_and_can_be_chosen(
    target: ModelEntry, small: ModelEntry, kind: str
) -> None:
    head = _with_facts(small, draft_kind=kind)
    line = choices_of(EngineConfig(), target, [head], lambda _: "", "")[-2]
    assert line.is_enabled
    assert line.text == f"small · {kind} · command line only"
    assert "does not run here: its draft model reads" in line.tip
    both = EngineConfig().with_values({"spec_types": (NGRAM, "draft-simple")})
    values = values_of_choice(line.key, head.path, both, kind)
    assert values == {"spec_types": (kind,), "draft_model_path": head.path}
    wanted = EngineConfig().with_values(values)
    assert draft_text(None, wanted) == f"Drafts: {kind} (command line only)"
    assert choices_of(wanted, target, [head], lambda _: "", "")[-2].is_checked
    reason = "small cannot draft for target: it reads states of 96 values. Choose the file."
    unfit = choices_of(EngineConfig(), target, [head], lambda _: reason, "")[-2]
    assert not unfit.is_enabled
    assert unfit.text == "small: it reads states of 96 values"


def test_that_layers_of_the_model_s_own_are_offered_where_they_can_be_asked(
    target: ModelEntry, small: ModelEntry
) -> None:
    def line_of(**changes: object) -> list[tuple[bool, str]]:
        own = _with_facts(target, **changes)
        lines = choices_of(EngineConfig(), own, [], lambda _: None, "")
        return [(line.is_enabled, line.tip) for line in lines if line.key == MTP]

    assert line_of() == []
    ((is_enabled, tip),) = line_of(nextn_layers=1, architecture="qwen35")
    assert is_enabled
    assert "The model is loaded again" in tip
    ((is_enabled, tip),) = line_of(nextn_layers=1, architecture="exaone4")
    assert not is_enabled
    assert "exaone4" in tip
    ((is_enabled, tip),) = line_of(nextn_layers=2, architecture="qwen35")
    assert not is_enabled
    assert "runs one such layer of qwen35 models, not 2" in tip
    own = {"spec_types": (MTP,), "draft_model_path": ""}
    assert values_of_choice(MTP, "", EngineConfig()) == own


def test_that_layers_which_the_engine_does_not_run_say_so_in_the_menu(
    target: ModelEntry, tmp_path: Path
) -> None:
    """All of the reason can be read there; what runs them stands in the tip."""
    values = {
        key.replace("llama.", "gemma4-assistant."): value for key, value in llama_values().items()
    }
    path = tmp_path / "assistant.gguf"
    path.write_bytes(Gguf(values=values | {"general.architecture": "gemma4-assistant"}).file())
    entry = entry_of(path)
    told: list[DraftVerdict] = []
    check(DraftRequest(target.location, (entry.location,)), told.append)
    reason = told[0].why_not
    line = choices_of(EngineConfig(), target, [entry], lambda _: reason, "")[-2]
    assert line.text == (
        "assistant: gemma4-assistant layers read the model's own cache and are not run here"
    )
    assert not line.is_enabled
    assert "llama-server runs them with --spec-type draft-mtp -md FILE" in line.tip


def test_that_a_file_of_guessing_layers_is_a_choice_like_a_small_model(
    target: ModelEntry, small: ModelEntry
) -> None:
    layers = _with_facts(small, draft_kind=MTP)
    line = choices_of(EngineConfig(), target, [layers], lambda _: "", "")[-2]
    assert line.is_enabled
    assert line.text.startswith("small · draft-mtp · ")
    assert "layers trained to guess ahead for this model" in line.tip
    values = values_of_choice(line.key, layers.path, EngineConfig(), MTP)
    wanted = EngineConfig().with_values(values)
    assert wanted.draft is not None
    assert draft_text(None, wanted) == "Drafts: small · n ≤ 3"
    assert choices_of(wanted, target, [layers], lambda _: "", "")[-2].is_checked
    reason = "small cannot draft for target: its layers are a mimo2 model's. Choose the file."
    unfit = choices_of(EngineConfig(), target, [layers], lambda _: reason, "")[-2]
    assert not unfit.is_enabled
    assert "its layers are a mimo2 model's" in unfit.text


def test_that_guessing_layers_get_a_verdict_of_their_own(tmp_path: Path) -> None:
    trunk = write_tiny_mtp(tmp_path / "trunk.gguf", TinyMtp(part="trunk"))
    fitting = write_tiny_mtp(tmp_path / "fitting.gguf", TinyMtp(part="guesses"))
    wide = write_tiny_mtp(tmp_path / "wide.gguf", TinyMtp(part="guesses", width=96))
    other = write_tiny_mtp_chain(tmp_path / "other.gguf", TinyMtp(part="guesses"))
    told: list[DraftVerdict] = []
    locations = tuple(os.fsencode(path) for path in (fitting, wide, other))
    check(DraftRequest(os.fsencode(trunk), locations), told.append)
    fits, width, kind = (verdict.why_not for verdict in told)
    assert not fits
    assert "read states of 96 values, and this model's have 64" in width
    assert "are a mimo2 model's, and this is qwen35" in kind


_WORDS = ["<unk>", "<s>", "</s>", "▁a", "▁b", "▁c", "▁d"]


def head_file(path: Path, architecture: str = "eagle3", **changes: object) -> bytes:
    """The location of a head of one layer for a model of 64 values a state and 2 layers."""
    own = {
        key.replace("llama.", f"{architecture}."): value for key, value in llama_values().items()
    }
    own |= {
        "general.architecture": architecture, "general.name": path.stem,
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": _WORDS,
        f"{architecture}.target_layers": [0, 1, 1],
    }  # fmt: skip
    own |= {key.replace("__", "."): value for key, value in changes.items()}
    path.write_bytes(Gguf(values=own).file())
    return os.fsencode(path)


def test_that_a_head_is_checked_by_what_it_reads_of_the_model(tmp_path: Path) -> None:
    values = llama_values() | {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": _WORDS}
    values["tokenizer.ggml.add_bos_token"] = 0
    target = tmp_path / "target.gguf"
    target.write_bytes(Gguf(values=values).file())
    other = [*_WORDS[:-1], "▁other"]
    heads = (
        head_file(tmp_path / "fits.gguf"),
        head_file(tmp_path / "behind.gguf", eagle3__target_layers=[0, 1, 2]),
        head_file(tmp_path / "wide.gguf", eagle3__target_hidden_size=96),
        head_file(tmp_path / "deep.gguf", eagle3__target_layers=[0, 1, 3]),
        head_file(tmp_path / "block.gguf", "dflash"),
        head_file(tmp_path / "below.gguf", "dflash", dflash__target_layers=[0, 2]),
        head_file(tmp_path / "words.gguf", tokenizer__ggml__tokens=other),
        head_file(
            tmp_path / "filled.gguf",
            tokenizer__ggml__tokens=[*_WORDS, *(f"[PAD{number}]" for number in range(300))],
        ),
        head_file(tmp_path / "fewer.gguf", tokenizer__ggml__tokens=_WORDS[:6]),
    )
    told: list[DraftVerdict] = []
    check(DraftRequest(os.fsencode(target), heads), told.append)
    fits, behind, wide, deep, block, below, words, filled, fewer = (v.why_not for v in told)
    assert (fits, behind, block, filled, fewer) == ("", "", "", "", "")
    assert "reads states of 96 values, and this model's have 64" in wide
    assert "reads layer 3, and this model has 2 layers" in deep
    assert "reads layer 2, and this model has 2 layers" in below
    assert "token 6 is “▁d” here and “▁other” in the draft" in words
