"""What a model file is made to draft, told from its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.draft_kind import draft_kind_of
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.header_facts import read_header_facts
from tests.unit.gguf_bytes import Gguf, llama_values

_TRUNK = ("token_embd.weight", "blk.0.attn_norm.weight")


@pytest.mark.parametrize(
    ("architecture", "names", "kind"),
    [
        ("llama", _TRUNK, "draft-simple"),
        ("qwen35", (*_TRUNK, "blk.3.nextn.eh_proj.weight"), "draft-simple"),
        ("qwen35", ("token_embd.weight", "blk.3.nextn.eh_proj.weight"), "draft-mtp"),
        ("gemma4-assistant", _TRUNK, "draft-mtp"),
        ("eagle3", _TRUNK, "draft-eagle3"),
        ("dflash", _TRUNK, "draft-dflash"),
        ("dflash", (*_TRUNK, "markov_w1.weight"), "draft-dspark"),
    ],
)
def test_that_a_file_s_names_tell_what_it_drafts(
    architecture: str, names: tuple[str, ...], kind: str
) -> None:
    assert draft_kind_of(architecture, 4, names) == kind


@pytest.mark.parametrize(("has_layer", "expected"), [(True, 1), (False, 0)])
def test_that_guessing_layers_count_where_the_file_holds_them(
    tmp_path: Path, has_layer: bool, expected: int
) -> None:
    gguf = Gguf(values=llama_values(nextn_predict_layers=1))
    names = ["blk.0.attn_norm.weight"] + ["blk.1.nextn.eh_proj.weight"] * has_layer
    tensors = dict(gguf.tensors) | dict.fromkeys(names, ((64,), 0, 256))
    path = tmp_path / "model.gguf"
    path.write_bytes(Gguf(values=gguf.values, tensors=tensors).file())
    facts = read_model_facts(str(path))
    assert facts.layers == 1
    assert facts.nextn_layers == expected
    assert facts.draft_kind == "draft-simple"
    header = read_header_facts(path)
    assert (header.nextn_layers, header.draft_kind) == (expected, "draft-simple")
