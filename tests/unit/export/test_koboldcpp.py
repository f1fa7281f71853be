"""KoboldCpp: one slot, flags with several values, defaults for requests, and the same as a file."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from app.export import koboldcpp
from app.export.carried import Manner
from app.export.dialect import Export
from app.export.engine_words import engine_words
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.engine_line import flags_of
from tests.unit.fake_client import model_facts
from tests.unit.test_export import EFFECTIVE


def _export(values: dict[str, object]) -> Export:
    config = EngineConfig.from_values({"model_path": "/m/toy.gguf"} | values)
    return koboldcpp.export(config, None, model_facts())


def _flags(values: dict[str, object]) -> dict[str, list[str]]:
    return flags_of(shlex.split(_export(values).text)[1:], engine_words("koboldcpp"))


def _defaults(values: dict[str, object]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(_flags(values)["--gendefaults"][0])
    return read


def test_that_one_slot_has_the_context_of_one_conversation() -> None:
    assert _flags({"ctx_per_slot_tok": 8192, "slots": 4})["--contextsize"] == ["8192"]
    shared: dict[str, object] = {
        "ctx_per_slot_tok": 8192, "slots": 4, "kv_unified": True, "ctx_total_tok": 4096,
    }  # fmt: skip
    assert _flags(shared)["--contextsize"] == ["4096"]
    assert "one slot" in _export({"slots": 4}).not_carried["slots"]
    assert "slots" not in _export({"slots": 1}).not_carried


def test_that_a_context_stays_within_what_it_takes() -> None:
    config = EngineConfig(ctx_per_slot_tok=1_000_000)
    text = koboldcpp.export(config, None, None).text
    assert flags_of(shlex.split(text), engine_words("koboldcpp"))["--contextsize"] == ["524288"]


@pytest.mark.parametrize(
    ("type_k", "type_v", "flash", "said", "manner"),
    [
        ("f16", "f16", "auto", "f16", Manner.SAID),
        ("q8_0", "q8_0", "on", "q8_0", Manner.SAID),
        ("q5_1", "q5_1", "auto", "q5_1", Manner.SAID),
        ("q4_1", "q4_1", "on", "q5_1", Manner.TRANSLATED),
        ("q8_0", "f16", "on", "f16", Manner.NOT_CARRIED),
        # Without flash attention the one type is that of the keys.
        ("q8_0", "f16", "off", "q8_0", Manner.SAID),
    ],
)
def test_that_one_flag_says_both_types(
    type_k: str, type_v: str, flash: str, said: str, manner: Manner
) -> None:
    values: dict[str, object] = {
        "cache_type_k": type_k,
        "cache_type_v": type_v,
        "flash_attn": flash,
    }
    assert _flags(values)["--quantkv"] == [said]
    assert _export(values).carried["cache_type_k"].manner is manner
    assert ("--noflashattention" in _flags(values)) == (flash == "off")


@pytest.mark.parametrize(
    ("wanted", "said"), [(2048, "2048"), (1000, "512"), (9999, "4096"), (2, "16")]
)
def test_that_batches_are_powers_of_two(wanted: int, said: str) -> None:
    assert _flags({"batch_tok": wanted})["--batchsize"] == [said]
    assert _flags({"ubatch_tok": 64})["--ubatchsize"] == ["64"]


def test_that_lists_are_several_values() -> None:
    values: dict[str, object] = {
        "tensor_split": ("3", "1"), "lora": ("/a b.gguf:0.5", "/c.gguf:0.5"),
        "override_tensor": ("ffn_up=CPU", "ffn_down=CPU"), "devices": ("CUDA0", "CUDA1"),
        "rpc_servers": ("127.0.0.1:50052", "host:50053"),
    }  # fmt: skip
    flags = _flags(values)
    assert flags["--tensor_split"] == ["3", "1"]
    assert flags["--lora"] == ["/a b.gguf", "/c.gguf"]
    assert flags["--loramult"] == ["0.5"]
    assert flags["--overridetensors"] == ["ffn_up=CPU,ffn_down=CPU"]
    assert flags["--device"] == ["CUDA0,CUDA1"]
    assert flags["--rpcmode"] == ["connect"]
    assert flags["--rpctargets"] == ["127.0.0.1:50052,host:50053"]
    assert "strength" in _export({"lora": ("/a.gguf", "/b.gguf:2")}).not_carried["lora"]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (("a=int:1",), "a=int:1"),
        (("a=int:1", "b=str:x"), "a=int:1,b=str:x"),
        (("a=str:x:y",), "a=str:x:y"),
        (("a=str:x,y",), "a=str:x,y"),
        (("a=str:b=c,d:e",), None),
        (("a=int:1", "b=str:x:y"), None),
    ],
)
def test_that_metadata_are_said_where_they_can_be_told_apart(
    items: tuple[str, ...], said: str | None
) -> None:
    values: dict[str, object] = {"override_kv": items}
    assert _flags(values).get("--overridekv") == (None if said is None else [said])
    assert ("override_kv" in _export(values).not_carried) == (said is None)


@pytest.mark.parametrize(
    ("values", "flag"),
    [
        ({"cache_prompt": False}, "--nofastforward"),
        ({"swa_full": True}, "--noswa"),
        ({"kv_offload": False}, "--lowvram"),
        ({"context_shift": False}, "--noshift"),
        ({"load_mode": "mmap"}, "--usemmap"),
        ({"load_mode": "mlock"}, "--usemlock"),
        ({"load_mode": "dio"}, "--usedirectio"),
    ],
)
def test_that_switches_are_said(values: dict[str, object], flag: str) -> None:
    assert _flags(values)[flag] == []


def test_that_context_shift_is_on_unless_told() -> None:
    assert "--noshift" not in _flags({"context_shift": True})


def test_that_layers_and_threads_are_said_as_resolved() -> None:
    config = EngineConfig(model_path="/m.gguf")
    text = koboldcpp.export(config, EFFECTIVE, model_facts()).text
    flags = flags_of(shlex.split(text)[1:], engine_words("koboldcpp"))
    assert flags["--gpulayers"] == ["0"]
    assert (flags["--threads"], flags["--blasthreads"]) == (["6"], ["12"])
    assert _flags({})["--gpulayers"] == ["-1"]
    assert _flags({"n_gpu_layers": "all"})["--gpulayers"] == ["5"]
    assert _flags({"cpu_moe": True})["--moecpu"] == ["999"]


def test_that_drafts_are_by_models() -> None:
    values: dict[str, object] = {
        "spec_types": ("draft-simple",), "draft_model_path": "/d.gguf", "draft_n_max": 6,
        "draft_n_gpu_layers": 7,
    }  # fmt: skip
    flags = _flags(values)
    assert flags["--draftmodel"] == ["/d.gguf"]
    assert flags["--draftamount"] == ["6"]
    assert flags["--draftgpulayers"] == ["7"]
    assert "--usemtp" in _flags({"spec_types": ("draft-mtp",)})
    assert "--draftamount" not in _flags({"spec_types": ("ngram-mod",)})


def test_that_requests_get_the_desk_s_values() -> None:
    said = _defaults(
        {
            "temperature": 0.2, "repeat_penalty": 1.1, "repeat_last_n_tok": 32, "seed": 9,
            "max_new_tok": 200, "dry_multiplier": 0.8, "xtc_probability": 0.5, "mirostat": 2,
            "mirostat_ent": 4.0, "mirostat_lr": 0.2, "top_n_sigma": 1.0, "ignore_eos": True,
            "logit_bias": ("15+1", "29-inf"), "adaptive_target": 0.3, "adaptive_decay": 0.0,
            "typical_p": 0.9,
        }
    )  # fmt: skip
    assert (said["temperature"], said["rep_pen"], said["rep_pen_range"]) == (0.2, 1.1, 32)
    assert (said["sampler_seed"], said["max_length"]) == (9, 200)
    assert said["dry_allowed_length"] == 2
    assert said["dry_sequence_breakers"] == ["\n", ":", '"', "*"]
    assert (said["mirostat"], said["mirostat_tau"], said["mirostat_eta"]) == (2, 4.0, 0.2)
    assert said["logit_bias"] == {"15": 1.0, "29": -100.0}
    assert (said["nsigma"], said["typical"], said["ban_eos_token"]) == (1.0, 0.9, True)
    assert said["adaptive_decay"] == 0.01  # the least it takes
    assert said["xtc_threshold"] == 0.1


def test_that_its_own_defaults_do_not_stand_in_for_the_desk_s() -> None:
    said = _defaults({})
    assert said == {
        "temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "rep_pen": 1.0,
        "rep_pen_range": 64,
    }  # fmt: skip
    assert "2,048" in _export({}).not_carried["max_new_tok"]


def test_that_a_form_is_a_grammar() -> None:
    grammar = 'root ::= "a" | "b"\n'
    assert _defaults({"grammar": grammar})["grammar"] == grammar
    schema = _defaults({"json_schema": '{"type": "object"}'})
    assert schema["grammar"].startswith("root") or "root ::=" in schema["grammar"]
    both = _export({"grammar": grammar, "json_schema": "{}"})
    assert "one form" in both.not_carried["json_schema"]


def test_that_a_path_is_not_taken_for_a_flag() -> None:
    assert _flags({"model_path": "-odd.gguf"})["--model"] == ["./-odd.gguf"]


def test_that_the_file_is_what_the_line_says() -> None:
    (file,) = _export({"cache_prompt": False}).files
    assert file.name == "toy.kcpps"
    read = json.loads(file.text)
    assert read["model_param"] == "/m/toy.gguf"
    assert read["contextsize"] == 4096
    assert read["nofastforward"] is True
    assert json.loads(read["gendefaults"])["top_k"] == 40


def test_that_a_path_that_json_cannot_hold_leaves_the_line() -> None:
    export = koboldcpp.export(EngineConfig(model_path="/a\udcff.gguf"), None, None)
    assert export.files == ()
    assert export.text
    assert any(".kcpps file cannot hold" in note for note in export.notes)
