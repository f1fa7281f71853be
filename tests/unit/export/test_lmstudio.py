"""LM Studio: a key for the model, one pool, shares of layers, and all of it as JSON."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from app.export import lmstudio
from app.export.dialect import Export
from app.export.engine_words import engine_words
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.engine_line import flags_of
from tests.unit.fake_client import model_facts


def _export(values: dict[str, object], facts: ModelFacts | None = None) -> Export:
    return lmstudio.export(EngineConfig.from_values(values), None, facts or model_facts())


def _flags(values: dict[str, object]) -> dict[str, list[str]]:
    return flags_of(shlex.split(_export(values).text)[1:], engine_words("lmstudio"))


def _load(values: dict[str, object]) -> dict[str, Any]:
    (file,) = _export(values).files
    read: dict[str, Any] = json.loads(file.text)
    return read


def test_that_a_key_is_asked_for_in_place_of_a_path() -> None:
    words = shlex.split(_export({"model_path": "/models/toy.gguf"}).text)
    assert words[:3] == ["lms", "load", "<MODEL KEY: see lms ls>"]


@pytest.mark.parametrize(
    ("values", "pool", "slots"),
    [
        ({"ctx_per_slot_tok": 4096, "slots": 4}, 16384, 4),
        (
            {"ctx_per_slot_tok": 8192, "slots": 4, "kv_unified": True, "ctx_total_tok": 12288},
            12288,
            4,
        ),
        ({"ctx_per_slot_tok": 4096, "slots": 1}, 4096, 1),
    ],
)
def test_that_the_context_is_the_pool(values: dict[str, object], pool: int, slots: int) -> None:
    flags, load = _flags(values), _load(values)
    assert flags["--context-length"] == [str(pool)]
    assert flags["--parallel"] == [str(slots)]
    assert (load["contextLength"], load["maxParallelPredictions"]) == (pool, slots)
    is_shared = "kv_unified" in values
    assert load["useUnifiedKvCache"] is is_shared
    is_told = any("one pool" in note for note in _export(values).notes)
    assert is_told == (not is_shared and slots > 1)


@pytest.mark.parametrize(
    ("layers", "said"),
    [(0, "off"), ("all", "max"), (5, "max"), (3, "0.6"), ("auto", None)],  # the toy has 4 + 1
)
def test_that_layers_are_a_share(layers: int | str, said: str | None) -> None:
    values: dict[str, object] = {"n_gpu_layers": layers}
    assert _flags(values).get("--gpu") == (None if said is None else [said])
    ratio = _load(values)["gpu"].get("ratio")
    assert (None if ratio is None else str(ratio)) == said


def test_that_a_share_of_an_unknown_number_is_not_said() -> None:
    export = lmstudio.export(EngineConfig(n_gpu_layers=3), None, None)
    assert "not known" in export.not_carried["n_gpu_layers"]
    assert "--gpu" not in shlex.split(export.text)


def test_that_experts_on_the_cpu_are_a_share_as_well() -> None:
    assert _load({"n_cpu_moe": 1})["gpu"]["numCpuExpertLayersRatio"] == 0.25
    assert _load({"cpu_moe": True})["gpu"]["numCpuExpertLayersRatio"] == "max"
    assert _load({"n_cpu_moe": 9})["gpu"]["numCpuExpertLayersRatio"] == 1.0


def test_that_formats_batches_and_places_stand_in_the_file() -> None:
    load = _load(
        {
            "cache_type_k": "q8_0", "cache_type_v": "bf16", "flash_attn": "on", "batch_tok": 1024,
            "ubatch_tok": 256, "kv_offload": False, "ctx_checkpoints": 3, "seed": 5, "main_gpu": 1,
            "split_mode": "none",
        }
    )  # fmt: skip
    assert load["llamaKCacheQuantizationType"] == "q8_0"
    assert load["llamaVCacheQuantizationType"] == "f16"  # it has no bf16
    assert load["flashAttention"] is True
    assert (load["evalBatchSize"], load["physicalBatchSize"]) == (1024, 256)
    assert (load["offloadKVCacheToGpu"], load["contextCheckpoints"]) == (False, 3)
    assert load["seed"] == 5
    assert (load["gpu"]["mainGpu"], load["gpu"]["splitStrategy"]) == (1, "favorMainGpu")


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("auto", {}),
        ("none", {"tryMmap": False, "keepModelInMemory": False}),
        ("mmap+mlock", {"tryMmap": True, "keepModelInMemory": True}),
        ("dio", {"tryDirectIO": True}),
    ],
)
def test_that_reading_is_said_by_switches(mode: str, said: dict[str, bool]) -> None:
    load = _load({"load_mode": mode})
    names = ("tryMmap", "keepModelInMemory", "tryDirectIO")
    assert {name: load[name] for name in names if name in load} == said


def test_that_drafts_are_flags_and_keys() -> None:
    values: dict[str, object] = {
        "spec_types": ("draft-simple",), "draft_n_max": 2, "draft_n_min": 5, "draft_p_min": 0.5,
    }  # fmt: skip
    flags = _flags(values)
    assert flags["--speculative-draft-simple"] == []
    assert flags["--speculative-draft-model"] == ["<DRAFT MODEL KEY: see lms ls>"]
    assert flags["--speculative-draft-max-tokens"] == ["2"]
    assert flags["--speculative-draft-min-tokens"] == ["2"]  # no more than the most
    assert flags["--speculative-draft-min-continue-probability"] == ["0.5"]
    mtp = _flags({"spec_types": ("draft-mtp",)})
    assert "--speculative-draft-mtp" in mtp
    assert "--speculative-draft-model" not in mtp
