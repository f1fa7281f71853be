"""What was found, as values that the desk's settings can take, or the reason why not."""

from __future__ import annotations

import pytest

from app.importing.found import Found
from app.importing.found_settings import settings_for
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value


def found(**settings: Value | None) -> Found:
    """Something with these settings."""
    return Found("llama-server", settings)


def test_that_every_value_can_be_set() -> None:
    usable = settings_for(
        found(n_gpu_layers=9999, threads=-1, threads_batch=0, ctx_total_tok=20000, slots=4,
              kv_unified=True, tensor_split=("3", "1"), temperature=0.5)
    )  # fmt: skip
    config = EngineConfig().with_values(dict(usable.values))
    assert config.n_gpu_layers == "all"
    assert config.threads == "auto"
    assert config.threads_batch == "auto"
    assert (config.ctx_total_tok, config.ctx_per_slot_tok) == (20224, 20224)
    assert usable.left_out == {}


@pytest.mark.parametrize(
    ("settings", "context"),
    [
        ({"ctx_total_tok": 8192, "slots": 3, "kv_unified": False}, (2816, "auto")),
        ({"ctx_total_tok": 8192, "slots": 2, "kv_unified": True}, (8192, 8192)),
        ({"ctx_total_tok": 8192, "slots": 2, "kv_unified": True, "ctx_per_slot_tok": 4096},
         (4096, "auto")),
        ({"ctx_total_tok": 8192, "slots": 1, "kv_unified": True}, (8192, "auto")),
        ({"ctx_per_slot_tok": 4096, "slots": 4, "kv_unified": False}, (4096, "auto")),
        ({"ctx_per_slot_tok": 4096}, (4096, None)),
        ({"ctx_total_tok": 4096}, (4096, None)),
        ({"slots": 4, "kv_unified": True}, (None, None)),
    ],
)  # fmt: skip
def test_that_a_pool_becomes_the_context_of_a_slot(
    settings: dict[str, Value], context: tuple[object, object]
) -> None:
    values = settings_for(found(**settings)).values
    assert (values.get("ctx_per_slot_tok"), values.get("ctx_total_tok")) == context


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("ctx_total_tok", 0, "trained for"),
        ("ctx_total_tok", None, "open"),
        ("model_path", "$MODEL", "variable"),
        ("temperature", 99.0, "outside"),
        ("slots", 300, "outside"),
    ],
)
def test_that_what_cannot_be_set_is_left_out_with_the_reason(
    key: str, value: Value | None, why: str
) -> None:
    usable = settings_for(found(**{key: value}))
    assert key not in usable.values
    assert why in usable.left_out[key]
    assert usable.left_out[key].endswith(".")


def test_that_what_the_desk_has_no_setting_for_leaves_as_a_flag() -> None:
    one = Found("llama-server", {"hf_repo": "a/b", "rope_scale": 1.25}, extra_flags=("--jinja",))
    assert settings_for(one).values == {
        "extra_flags": ("--hf-repo a/b", "--rope-scale 1.25", "--jinja")
    }


def test_that_flags_that_cannot_be_kept_are_named() -> None:
    one = Found("llama-server", {}, extra_flags=("--jinja", "--chat-template '" + "x" * 2000 + "'"))
    usable = settings_for(one)
    assert usable.values == {"extra_flags": ("--jinja",)}
    assert "too long" in usable.left_out["extra_flags"]


def test_that_paths_of_a_container_are_those_of_the_host() -> None:
    one = Found(
        "llama-server",
        {"model_path": "/models/a/x.gguf", "mmproj_path": "/other/y.gguf",
         "lora": ("/models/l.gguf:0.5",)},
        mounts=(("/srv/llm", "/models"), ("/mnt/a", "/models/a/"), ("/z", "/oth")),
    )  # fmt: skip
    assert settings_for(one).values == {
        "model_path": "/mnt/a/x.gguf", "mmproj_path": "/other/y.gguf",
        "lora": ("/srv/llm/l.gguf:0.5",),
    }  # fmt: skip
