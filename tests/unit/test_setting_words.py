"""What the muted line says of caches, of placement and of samplers that replace one another."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from app.hints import Situation, hint_for
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS

# Longer ones end in an ellipsis in a column of usual width.
_MOST_CHARACTERS = 58
_facts = partial(
    ModelFacts,
    path="m.gguf", name="M", architecture="llama", quantisation="F16", file_bytes=1,
    tensor_bytes=1, parameters=1, layers=24, ctx_train_tok=4096, vocab=32, heads=4, kv_heads=4,
    head_dims_k=(64,), head_dims_v=(64,), bytes_per_token_f16=32_768,
)  # fmt: skip
DENSE = _facts()
WINDOWED = _facts(window_tok=512)
RECURRENT = _facts(is_recurrent=True, bytes_per_token_f16=0)


def words(key: str, model: ModelFacts | None = None, **values: object) -> str:
    config = EngineConfig.from_values(values)
    return hint_for(key, Situation(config, model, has_gpu=True))


@pytest.mark.parametrize(
    ("key", "model", "values", "said"),
    [
        ("cache_prompt", DENSE, {"cache_prompt": False}, "off: each prompt is read"),
        ("cache_ram_mib", DENSE, {"cache_ram_mib": 1024}, "about 32,000 tokens"),
        ("cache_ram_mib", WINDOWED, {"cache_ram_mib": 1024}, "about 32,000 tokens or more"),
        (
            "cache_ram_mib",
            DENSE,
            {"cache_ram_mib": 1024, "cache_type_k": "q8_0", "cache_type_v": "q8_0"},
            "about 61,000 tokens",
        ),
        ("cache_ram_mib", DENSE, {"cache_ram_mib": -1}, "no limit"),
        ("cache_ram_mib", DENSE, {"cache_ram_mib": 0}, "none:"),
        ("ctx_checkpoints", DENSE, {}, "none needed"),
        ("ctx_checkpoints", WINDOWED, {"swa_full": True}, "none needed"),
        ("ctx_checkpoints", RECURRENT, {"ctx_checkpoints": 0}, "an edit is read"),
        ("checkpoint_min_step_tok", WINDOWED, {"ctx_checkpoints": 0}, "takes effect once"),
        ("checkpoint_min_step_tok", WINDOWED, {"checkpoint_min_step_tok": 0}, "none is taken"),
        ("cache_reuse_tok", DENSE, {}, "off"),
        ("swa_full", DENSE, {}, "no sliding window"),
        ("swa_full", WINDOWED, {}, "about 512 tokens"),
        ("keep_tok", DENSE, {"context_shift": True}, "a system prompt is dropped"),
        ("keep_tok", DENSE, {"context_shift": True, "keep_tok": 64}, "first 64 tokens"),
    ],
)
def test_that_a_cache_says_what_its_value_means_for_the_model(
    key: str, model: ModelFacts, values: dict[str, object], said: str
) -> None:
    assert said in words(key, model, **values)


@pytest.mark.parametrize(
    ("key", "values", "said"),
    [
        ("n_cpu_moe", {}, "no experts"),
        ("n_cpu_ffn", {"n_cpu_ffn": 6}, "6 of 24 layers"),
        ("tensor_split", {"tensor_split": ["3", "1"]}, "75% · 25%"),
        ("main_gpu", {}, "takes effect with split mode none or row"),
        ("devices", {"devices": ["none"]}, "everything stays on the CPU"),
        ("fit_margin_mib", {"n_gpu_layers": 4, "draft_n_gpu_layers": 0}, "left to auto"),
        ("load_mode", {"load_mode": "mlock"}, "pinned"),
    ],
)
def test_that_placement_says_what_its_value_does(
    key: str, values: dict[str, object], said: str
) -> None:
    assert said in words(key, DENSE, **values)


def test_that_rows_of_boards_say_why_they_rest_where_there_is_none() -> None:
    alone = Situation(EngineConfig(), DENSE)
    assert hint_for("split_mode", alone) == "takes effect with a GPU or a remote worker"
    assert "every layer runs on the CPU" in hint_for("n_gpu_layers", alone)
    assert "takes effect" not in hint_for("load_mode", alone)


def test_that_what_mirostat_replaces_says_so_and_waits_for_nothing_else() -> None:
    values: dict[str, Any] = {"dry_multiplier": 0.8, "xtc_probability": 0.5, "mirostat": 2}
    values["adaptive_target"] = 0.3
    for key in ("dry_base", "xtc_threshold", "dynatemp_exponent", "adaptive_decay"):
        assert words(key, **values) == "Mirostat takes its place"


def test_that_a_moving_temperature_is_not_called_greedy() -> None:
    assert "greedy" in words("temperature", temperature=0)
    assert "from 0 to 0.5" in words("temperature", temperature=0, dynatemp_range=0.5)
    assert "greedy" in words("temperature", temperature=0, dynatemp_range=0.5, mirostat=2)


def test_that_hints_fit_their_line() -> None:
    keys = [setting.key for setting in SETTINGS if setting.group is not Group.MODEL]
    configs = [EngineConfig(), EngineConfig(mirostat=2, context_shift=True)]
    for key in keys:
        for config in configs:
            for model in (None, DENSE, WINDOWED, RECURRENT):
                for has_gpu in (False, True):
                    hint = hint_for(key, Situation(config, model, has_gpu=has_gpu))
                    assert len(hint) <= _MOST_CHARACTERS or key == "context_shift", hint
