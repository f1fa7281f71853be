"""Programs that start llama.cpp themselves, and engines that nothing is imported from."""

from __future__ import annotations

import pytest

from app.importing.importer import import_text
from app.importing.other_engines import other_engine
from app.importing.text_error import TextError


def test_that_flags_of_the_web_interface_are_read() -> None:
    (found,) = import_text(
        "python server.py --model a.gguf --loader llama.cpp --n-gpu-layers 40 --ctx-size 8192 "
        "--cache-type q8_0 --flash-attn --no_mmap --api --listen-port 7861 "
        '--extra-flags "override-tensor=exps=CPU,cpu-moe"'
    )
    assert found.target == "text-generation-webui"
    assert {
        "model_path": "a.gguf", "n_gpu_layers": 40, "ctx_total_tok": 8192, "cache_type_k": "q8_0",
        "cache_type_v": "q8_0", "flash_attn": "on", "load_mode": "none", "cpu_moe": True,
        "override_tensor": ("exps=CPU",),
    }.items() <= found.settings.items()  # fmt: skip
    assert not found.passthrough
    assert any("--api; --listen-port 7861" in note for note in found.notes)


def test_that_its_file_of_flags_is_read_without_a_program() -> None:
    (found,) = import_text(
        "# flags\n--model a.gguf --ctx-size 4096 --listen --api", "CMD_FLAGS.txt"
    )
    assert (found.target, found.settings["ctx_total_tok"]) == ("text-generation-webui", 4096)


def test_that_its_file_of_models_is_read() -> None:
    (found,) = import_text(
        "a.gguf$:\n  loader: llama.cpp\n  gpu_layers: 36\n  ctx_size: 32768\n  cache_type: fp16\n",
        "config-user.yaml",
    )
    assert found.title == "a.gguf"
    assert found.settings["model_path"] == "a.gguf"
    assert found.settings["cache_type_k"] == "f16"


def test_that_another_loader_is_told() -> None:
    (found,) = import_text("python server.py --loader ExLlamav3 --model a --ctx-size 4096")
    assert any("ExLlamav3 is not llama.cpp" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("name: x\nmodel_path: m/a.gguf\nctx_len: 8192\nngl: 33\nn_parallel: 2\nengine: llama-cpp",
         "model.yml"),
        ('{"id": "x", "settings": {"llama_model_path": "m/a.gguf", "ctx_len": 8192, "ngl": 33, '
         '"n_parallel": 2}, "engine": "nitro"}', "model.json"),
    ],
)  # fmt: skip
def test_that_jan_is_read(text: str, hint: str) -> None:
    (found,) = import_text(text, hint)
    assert found.target == "jan"
    assert {
        "model_path": "m/a.gguf", "ctx_total_tok": 8192, "n_gpu_layers": 33, "slots": 2,
    }.items() <= found.settings.items()  # fmt: skip
    assert any("of Jan do:" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("aphrodite run a/b --max-model-len 8192", "Aphrodite"),
        ("python main.py --model-name a --max-seq-len 8192 --cache-mode Q4", "TabbyAPI"),
        ("model:\n  model_name: a\n  cache_mode: Q8\n  max_seq_len: 8192", "TabbyAPI"),
        ("mlx_lm.server --model a/b --port 8080", "MLX"),
        ("docker run ghcr.io/huggingface/text-generation-inference:3 --model-id a/b",
         "Text Generation Inference"),
        ("lmdeploy serve api_server a/b --session-len 8192", "LMDeploy"),
        ("[General]\nx=1\n[model-a.gguf]\ncontextLength=8192\ngpuLayers=33", "GPT4All"),
    ],
)  # fmt: skip
def test_that_other_engines_are_named(text: str, name: str) -> None:
    with pytest.raises(TextError, match=f"for {name}, whose settings are not read"):
        import_text(text)


def test_that_no_engine_is_named_where_none_is() -> None:
    assert not other_engine("llama-server -m a.gguf")
    with pytest.raises(TextError, match="are known"):
        import_text("some-server --flag x")
