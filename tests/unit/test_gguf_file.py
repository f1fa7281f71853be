"""That a model's header is read right, and that no file can do harm by it."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_bridge.gguf_file import (
    GgufError,
    decode_weight_bytes,
    read_model,
    read_model_facts,
    read_tensors,
)
from tests import models
from tests.unit.gguf_bytes import ARRAY, TEXT, Gguf, llama_values, text


def write(folder: Path, content: bytes, name: str = "model.gguf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def refusal(path: Path | str) -> str:
    """The sentence with which ``path`` is refused."""
    with pytest.raises(GgufError) as caught:
        read_model(path)
    said = str(caught.value)
    assert said.rstrip().endswith((".", "`"))
    return said


# --- Facts ----------------------------------------------------------------------------------


def test_that_facts_of_a_plain_llama_are_read(tmp_path: Path) -> None:
    content = Gguf().file()
    facts = read_model_facts(write(tmp_path, content))
    assert (facts.name, facts.architecture, facts.layers) == ("Small", "llama", 2)
    assert (facts.heads, facts.kv_heads, facts.gqa_ratio) == (4, 2, 2.0)
    assert (facts.head_dims_k, facts.head_dims_v) == ((16,), (16,))
    assert (facts.vocab, facts.ctx_train_tok) == (3, 4096)
    assert facts.file_bytes == len(content)
    assert facts.tensor_bytes == 768 + 64 * 68
    assert facts.parameters == 64 * 3 + 64 * 64
    assert facts.quantisation == "Q8_0"
    # 2 layers × 2 KV heads × (16 + 16) values × 2 bytes
    assert facts.bytes_per_token_f16 == 256


def test_that_a_mix_of_types_goes_by_the_name_the_file_gives_it(tmp_path: Path) -> None:
    values = llama_values() | {"general.file_type": 15}
    assert read_model_facts(write(tmp_path, Gguf(values).file())).quantisation == "Q4_K_M"


def test_that_explicit_head_lengths_and_layer_lists_count(tmp_path: Path) -> None:
    values = llama_values(
        attention__head_count_kv=[2, 0],
        attention__key_length=96,
        attention__value_length=80,
        attention__sliding_window=512,
    )
    facts = read_model_facts(write(tmp_path, Gguf(values).file()))
    assert (facts.head_dims_k, facts.head_dims_v) == ((96,), (80,))
    assert facts.kv_heads == 2
    assert facts.window_tok == 512
    assert facts.bytes_per_token_f16 == 2 * (96 + 80) * 2


def test_that_compressed_attention_keeps_no_values(tmp_path: Path) -> None:
    values = llama_values(
        attention__head_count_kv=1,
        attention__key_length=576,
        attention__value_length=512,
        attention__key_length_mla=192,
        attention__value_length_mla=128,
    )
    facts = read_model_facts(write(tmp_path, Gguf(values).file()))
    assert facts.is_mla
    assert facts.bytes_per_token_f16 == 2 * 576 * 2


def test_that_layers_for_further_tokens_are_not_counted(tmp_path: Path) -> None:
    values = llama_values(block_count=3, nextn_predict_layers=1)
    assert read_model_facts(write(tmp_path, Gguf(values).file())).layers == 2


def of_architecture(name: str, **changes: object) -> dict[str, object]:
    values = llama_values(**changes)
    renamed = {key.replace("llama.", f"{name}.", 1): value for key, value in values.items()}
    return renamed | {"general.architecture": name}


def test_that_recurrent_and_hybrid_models_are_known(tmp_path: Path) -> None:
    mamba = of_architecture("mamba", attention__head_count=0, attention__head_count_kv=None)
    facts = read_model_facts(write(tmp_path, Gguf(mamba).file()))
    assert facts.is_recurrent
    assert not facts.is_hybrid
    assert (facts.kv_heads, facts.gqa_ratio, facts.bytes_per_token_f16) == (0, 0.0, 0)
    every_fourth = of_architecture("qwen3next", block_count=8, full_attention_interval=4)
    facts = read_model_facts(write(tmp_path, Gguf(every_fourth).file()))
    assert facts.is_hybrid
    assert facts.bytes_per_token_f16 == 2 * 2 * (16 + 16) * 2


def test_that_experts_and_the_output_decide_what_a_step_reads(tmp_path: Path) -> None:
    tensors: dict[str, Any] = {
        "token_embd.weight": ((64, 3), 0, 768),
        "blk.0.ffn_up_exps.weight": ((64, 16, 8), 0, 32_768),
        "blk.0.ffn_gate_inp.weight": ((64, 8), 0, 2_048),
        "blk.2.attn_q.weight": ((64, 64), 0, 16_384),
    }
    values = llama_values(expert_count=8, expert_used_count=2)
    model = read_model(write(tmp_path, Gguf(values, tensors).file()))
    assert (model.facts.experts, model.facts.experts_used) == (8, 2)
    # No output.weight: the embedding is the output. Block 2 of 2 only predicts further tokens.
    assert decode_weight_bytes(model.tensors, model.facts) == 768 + 32_768 // 4 + 2_048
    tensors["output.weight"] = ((64, 3), 0, 768)
    model = read_model(write(tmp_path, Gguf(values, tensors).file()))
    assert decode_weight_bytes(model.tensors, model.facts) == 768 + 32_768 // 4 + 2_048


def test_that_the_file_name_stands_in_for_a_missing_name(tmp_path: Path) -> None:
    values = llama_values() | {"general.name": " "}
    assert read_model_facts(write(tmp_path, Gguf(values).file(), "kind.gguf")).name == "kind"


def test_that_gemma_reads_as_its_card_says() -> None:
    facts = read_model_facts(models.gemma_path())
    assert (facts.architecture, facts.layers, facts.vocab) == ("gemma3", 18, 262_144)
    assert (facts.heads, facts.kv_heads, facts.head_dims_k) == (4, 1, (256,))
    assert (facts.window_tok, facts.ctx_train_tok, facts.chat_template) == (512, 32_768, "")


def test_that_qwen_brings_a_template_and_an_own_output() -> None:
    model = read_model(models.qwen_path())
    assert "<|im_start|>" in model.facts.chat_template
    embedding = next(t for t in model.tensors if t.name == "token_embd.weight")
    weights = decode_weight_bytes(model.tensors, model.facts)
    assert weights == model.facts.tensor_bytes - embedding.bytes


# --- Files that are no model ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "named"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (b"PK\x03\x04" + bytes(60), "ZIP"),
        (struct.pack("<Q", 64) + b'{"__metadata__":{}}', "safetensors"),
        (b"\n<!DOCTYPE html><html>", "web page"),
        (b'{"error":"no access"}', "JSON"),
        (b"lmgg" + bytes(60), "GGML"),
        (bytes(4096), "unfinished"),
        (b"hello, world", "first bytes"),
    ],
)
def test_that_other_files_are_named(tmp_path: Path, start: bytes, named: str) -> None:
    said = refusal(write(tmp_path, start))
    assert "is no GGUF file" in said
    assert named in said


def test_that_missing_empty_and_odd_places_are_refused(tmp_path: Path) -> None:
    assert "no file" in refusal(tmp_path / "gone.gguf")
    assert "folder" in refusal(tmp_path)
    assert "is empty" in refusal(write(tmp_path, b""))
    assert "No model is chosen" in refusal("")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.gguf")
        assert "pipe" in refusal(tmp_path / "pipe.gguf")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_that_a_forbidden_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, Gguf().file())
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything; the error is then made by hand

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)
    assert "may not be read" in refusal(path)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"general.type": "adapter", "general.architecture": "llama"}, "LoRA"),
        ({"general.architecture": "clip"}, "mmproj"),
        ({"general.type": "imatrix"}, "importance matrix"),
        ({"general.name": "nothing"}, "no architecture"),
        ({"general.architecture": "flux"}, "layers"),
    ],
)
def test_that_other_kinds_of_gguf_are_named(
    tmp_path: Path, values: dict[str, object], named: str
) -> None:
    assert named in refusal(write(tmp_path, Gguf(values).file()))


def test_that_a_vocabulary_alone_is_refused(tmp_path: Path) -> None:
    assert "vocabulary" in refusal(write(tmp_path, Gguf(tensors={}).file()))


@pytest.mark.parametrize(("version", "named"), [(1, "version 1"), (4, "version 4")])
def test_that_other_versions_are_refused(tmp_path: Path, version: int, named: str) -> None:
    assert named in refusal(write(tmp_path, Gguf(version=version).file()))


def test_that_a_big_endian_file_is_refused(tmp_path: Path) -> None:
    assert "big-endian" in refusal(write(tmp_path, Gguf(version=3 << 24).file()))


def test_that_a_header_of_zeros_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gguf"
    path.write_bytes(b"GGUF" + bytes(1000))
    assert "zeros.gguf is damaged" in refusal(str(path))


def test_that_a_removed_quantisation_names_its_heir(tmp_path: Path) -> None:
    tensors = {"output.weight": ((64, 3), 31, 108)}
    assert "Q4_0 file" in refusal(write(tmp_path, Gguf(tensors=tensors).file()))


def test_that_impossible_layers_and_experts_are_refused(tmp_path: Path) -> None:
    for changes in ({"block_count": 0}, {"block_count": 513}):
        assert "layers" in refusal(write(tmp_path, Gguf(llama_values(**changes)).file()))
    values = llama_values(expert_count=4, expert_used_count=5)
    assert "experts" in refusal(write(tmp_path, Gguf(values).file()))


# --- Truncated, split and joined ------------------------------------------------------------


def test_that_every_truncation_is_a_sentence(tmp_path: Path) -> None:
    content = Gguf().file()
    for size in range(1, len(content) - 32, 7):
        said = refusal(write(tmp_path, content[:size]))
        assert "download" in said.lower() or "no GGUF" in said
    half = refusal(write(tmp_path, content[:-2000]))
    assert "cut short" in half


def split(folder: Path, stem: str = "big", count: int = 3) -> list[Path]:
    """A model in parts; part 1 holds no tensors, as llama-gguf-split can make it."""
    paths = []
    for number in range(count):
        values = llama_values() if number == 0 else {}
        values |= {"split.no": number, "split.count": count, "split.tensors.count": count - 1}
        tensors = {} if number == 0 else {f"blk.{number - 1}.attn_q.weight": ((64,), 0, 256)}
        name = f"{stem}-{number + 1:05d}-of-{count:05d}.gguf"
        paths.append(write(folder, Gguf(values, tensors).file(), name))
    return paths


def test_that_any_part_leads_to_part_one_s27(tmp_path: Path) -> None:
    parts = split(tmp_path)
    by_first, by_second = read_model_facts(parts[0]), read_model_facts(parts[1])
    assert by_first == by_second
    assert by_second.path == str(parts[0])
    assert by_first.file_bytes == sum(part.stat().st_size for part in parts)
    assert len(read_tensors(parts[2])) == 2


def test_that_a_missing_part_is_named(tmp_path: Path) -> None:
    parts = split(tmp_path)
    parts[1].unlink()
    assert "Part 2 of 3 is missing: big-00002-of-00003.gguf" in refusal(parts[0])
    parts[0].unlink()
    assert "Part 1 of 3" in refusal(parts[2])


def test_that_a_renamed_part_is_explained(tmp_path: Path) -> None:
    renamed = split(tmp_path)[1].rename(tmp_path / "mine.gguf")
    assert "-00002-of-00003.gguf" in refusal(renamed)


def test_that_a_part_of_something_else_is_noticed(tmp_path: Path) -> None:
    parts = split(tmp_path)
    parts[1].write_bytes(parts[2].read_bytes())
    assert "says that it is part 3" in refusal(parts[0])


def test_that_parts_joined_with_cat_are_refused_s27(tmp_path: Path) -> None:
    parts = split(tmp_path)
    joined = b"".join(part.read_bytes() for part in parts)
    for name in ("joined.gguf", "big-00001-of-00003.gguf"):
        said = refusal(write(tmp_path, joined, name))
        assert "longer than its header says" in said
        assert "llama-gguf-split --merge" in said


# --- Lies (S29) -----------------------------------------------------------------------------


def lying_files() -> dict[str, bytes]:
    huge = 1 << 60
    array_of_arrays = text("x") + struct.pack("<IIQ", ARRAY, ARRAY, 4)
    zeros = struct.pack("<IIQ", ARRAY, TEXT, 1_500_000)
    return {
        "tensor count": Gguf(tensor_count=huge).file(),
        "negative tensor count": Gguf(tensor_count=(1 << 64) - 1).file(),
        "key count": Gguf(key_count=huge).file(),
        "key length": Gguf(extra_entries=struct.pack("<Q", huge), extra_count=1).file(),
        "text length": Gguf(
            extra_entries=text("x") + struct.pack("<IQ", TEXT, huge), extra_count=1
        ).file(),
        "array length": Gguf(
            extra_entries=text("x") + struct.pack("<IIQ", ARRAY, 10, huge), extra_count=1
        ).file(),
        "texts": Gguf(
            extra_entries=text("x") + struct.pack("<IIQ", ARRAY, TEXT, huge), extra_count=1
        ).file(),
        "array of arrays": Gguf(extra_entries=array_of_arrays, extra_count=1).file(),
        "value type": Gguf(extra_entries=text("x") + struct.pack("<I", 77), extra_count=1).file(),
        "alignment 0": Gguf(llama_values() | {"general.alignment": 0}).file(),
        "alignment 48": Gguf(llama_values() | {"general.alignment": 48}).file(),
        "duplicate key": Gguf(
            extra_entries=text("llama.block_count") + struct.pack("<II", 4, 1), extra_count=1
        ).file(),
        "empty key": Gguf(extra_entries=text("") + struct.pack("<II", 4, 1), extra_count=1).file(),
        "many empty texts": Gguf(
            extra_entries=b"".join(text(f"k{n}") + zeros + bytes(12_000_000) for n in range(3)),
            extra_count=3,
        ).file(),
        "tensor shape": Gguf(tensors={"a": ((1 << 62, 1 << 62), 0, 4)}).file(),
        "negative shape": Gguf(tensors={"a": ((-64,), 0, 4)}).file(),
        "tensor type": Gguf(tensors={"a": ((64,), 4242, 4)}).file(),
        "tensor name": Gguf(tensors={"a" * 64: ((64,), 0, 256)}).file(),
        "broken rows": Gguf(tensors={"a": ((65,), 8, 68)}).file(),
        "offsets": Gguf(tensors={"a": ((64,), 0, 500), "b": ((64,), 0, 256)}).file(),
    }


@pytest.mark.parametrize("lie", list(lying_files()))
def test_that_a_header_that_lies_costs_nothing_s29(tmp_path: Path, lie: str) -> None:
    path = write(tmp_path, lying_files()[lie])
    tracemalloc.start()
    try:
        refusal(path)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 * 2**20
    begin_s = time.process_time()
    refusal(path)
    assert time.process_time() - begin_s < 1.0


def test_that_a_sparse_giant_of_lies_is_refused_at_once(tmp_path: Path) -> None:
    """A terabyte of zeros behind the header: lengths stay inside the file and still go nowhere."""
    lie = text("x") + struct.pack("<IIQ", ARRAY, TEXT, 1 << 36)
    path = write(tmp_path, Gguf(extra_entries=lie, extra_count=1).header())
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    begin_s = time.process_time()
    assert "claims" in refusal(path)
    assert time.process_time() - begin_s < 1.0


VALID = Gguf().file()


@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.binary(min_size=1, max_size=9)), max_size=4
    ),
    keep=st.integers(0, len(VALID)),
)
@settings(
    max_examples=100, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_that_no_damage_raises_anything_but_a_sentence(
    tmp_path: Path, changes: list[tuple[int, bytes]], keep: int
) -> None:
    content = bytearray(VALID)
    for position, new in changes:
        content[position : position + len(new)] = new
    path = write(tmp_path, bytes(content[: max(keep, len(VALID) // 3)]))
    with contextlib.suppress(GgufError):
        assert read_model_facts(path).layers >= 1


# --- Names that are not UTF-8 (S31) ---------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes as a name")
def test_that_a_name_that_is_no_utf8_works_s31(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/mod\xff.gguf")
    Path(path).write_bytes(Gguf(llama_values() | {"general.name": ""}).file())
    facts = read_model_facts(path)
    assert facts.path == path
    assert facts.name == "mod\\xff"
    Path(path).write_bytes(b"none")
    assert "mod\\xff.gguf" in refusal(path)


def test_that_a_sentence_shows_no_control_character_of_the_file(tmp_path: Path) -> None:
    good = Gguf().file()
    key = b"general.name"
    hostile = b"\x0bgen\x1b[31m\x00"
    said = refusal(
        write(
            tmp_path,
            good.replace(
                text(key) + struct.pack("<I", TEXT),
                text(hostile.ljust(len(key), b"\x07")) + struct.pack("<I", 99),
                1,
            ),
        )
    )
    assert said.isprintable()
    assert "99" in said
