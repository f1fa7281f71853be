"""The Python script: only arguments that the class has, with the values that are meant."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.export import llama_cpp_python
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.test_export import EFFECTIVE, FACTS, configs, effectives

CHAT = msgspec.structs.replace(FACTS, chat_template="{{ messages }}")


def _source_of(module: str) -> ast.Module:
    """The installed package's source; it is not imported, which would load its library."""
    found = importlib.util.find_spec("llama_cpp")
    assert found is not None
    assert found.origin is not None
    text = (Path(found.origin).parent / f"{module}.py").read_text(encoding="utf-8")
    return ast.parse(text)


@pytest.fixture(scope="module")
def signatures() -> dict[str, set[str]]:
    """Argument names of the methods that the script calls."""
    names: dict[str, set[str]] = {}
    for module in ("llama", "llama_speculative"):
        for node in _source_of(module).body:
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        arguments = (*method.args.args, *method.args.kwonlyargs)
                        key = f"{node.name}.{method.name}"
                        names[key] = {argument.arg for argument in arguments}
    return names


@pytest.fixture(scope="module")
def constants() -> set[str]:
    """Names that ``llama_cpp`` gives to numbers."""
    return {
        target.id
        for node in _source_of("llama_cpp").body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def calls_in(text: str) -> dict[str, dict[str, ast.expr]]:
    """Arguments of each call by the name of what is called."""
    return {
        ast.unparse(node.func): {
            argument.arg: argument.value for argument in node.keywords if argument.arg is not None
        }
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    }


def script_for(
    config: EngineConfig, effective: EffectiveConfig | None = None, facts: Any = CHAT
) -> str:
    export = llama_cpp_python.export(config, effective, facts)
    assert export.files[0].name == "chat.py"
    return export.files[0].text


def loaded(config: EngineConfig, effective: EffectiveConfig | None = None) -> dict[str, Any]:
    """Arguments of ``Llama``; those that are no literals as source."""
    return _values(calls_in(script_for(config, effective))["llama_cpp.Llama"])


def asked(config: EngineConfig) -> dict[str, Any]:
    return _values(calls_in(script_for(config))["model.create_chat_completion"])


def _values(arguments: dict[str, ast.expr]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, node in arguments.items():
        try:
            values[name] = ast.literal_eval(node)
        except ValueError:
            values[name] = ast.unparse(node)
    return values


@given(config=configs(), effective=st.none() | effectives(), facts=st.sampled_from([CHAT, FACTS]))
def test_that_it_compiles_and_calls_what_there_is(
    signatures: dict[str, set[str]],
    constants: set[str],
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: Any,
) -> None:
    export = llama_cpp_python.export(config, effective, facts)
    assume(export.text)
    text = export.files[0].text
    compile(text, "chat.py", "exec")
    calls = calls_in(text)
    method = "create_chat_completion" if facts is CHAT else "create_completion"
    assert set(calls["llama_cpp.Llama"]) <= signatures["Llama.__init__"]
    assert set(calls[f"model.{method}"]) <= signatures[f"Llama.{method}"]
    if "LlamaPromptLookupDecoding" in calls:
        lookup = signatures["LlamaPromptLookupDecoding.__init__"]
        assert set(calls["LlamaPromptLookupDecoding"]) <= lookup
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr.isupper():
            assert node.attr in constants


def test_that_the_version_is_the_one_that_is_installed() -> None:
    from importlib.metadata import version  # noqa: PLC0415

    assert version("llama-cpp-python") == llama_cpp_python.VERSION


def test_that_what_the_class_takes_otherwise_is_always_said() -> None:
    found = loaded(EngineConfig(model_path='/it\'s "m".gguf'), EFFECTIVE)
    assert found == {
        "model_path": "/it's \"m\".gguf", "n_ctx": 4096, "n_batch": 2048, "n_ubatch": 512,
        "flash_attn": True, "swa_full": False, "n_gpu_layers": 0, "n_threads": 6,
        "n_threads_batch": 12, "last_n_tokens_size": 64, "verbose": False,
    }  # fmt: skip


def test_that_the_context_is_the_one_of_a_slot_and_not_the_pool() -> None:
    assert loaded(EngineConfig(ctx_per_slot_tok=1000, slots=3))["n_ctx"] == 1024
    shared = EngineConfig(kv_unified=True, ctx_per_slot_tok=4096, ctx_total_tok=2048)
    assert loaded(shared)["n_ctx"] == 2048


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"cache_type_k": "q8_0", "cache_type_v": "bf16"},
         {"type_k": "llama_cpp.GGML_TYPE_Q8_0", "type_v": 30}),
        ({"flash_attn": "off"}, {"flash_attn": False}),
        ({"n_gpu_layers": "all"}, {"n_gpu_layers": -1}),
        ({"n_gpu_layers": 7}, {"n_gpu_layers": 7}),
        ({"split_mode": "row", "tensor_split": ["3", "1"], "main_gpu": 1},
         {"split_mode": "llama_cpp.LLAMA_SPLIT_MODE_ROW", "tensor_split": [3.0, 1.0],
          "main_gpu": 1}),
        ({"kv_offload": False, "op_offload": False}, {"offload_kqv": False, "op_offload": False}),
        ({"load_mode": "none"}, {"use_mmap": False}),
        ({"load_mode": "mlock"}, {"use_mmap": False, "use_mlock": True}),
        ({"load_mode": "mmap+mlock"}, {"use_mlock": True}),
        ({"override_kv": ["a.b=int:2", "c=bool:true", "d=str:x y"]},
         {"kv_overrides": {"a.b": 2, "c": True, "d": "x y"}}),
        ({"lora": ["/a.gguf:0.5"]}, {"lora_path": "/a.gguf", "lora_scale": 0.5}),
        ({"repeat_last_n_tok": 0}, {"last_n_tokens_size": 0}),
        ({"spec_types": ["ngram-simple"], "ngram_size_n": 4, "ngram_size_m": 8},
         {"draft_model": "LlamaPromptLookupDecoding(max_ngram_size=4, num_pred_tokens=8)"}),
        ({"swa_full": True}, {"swa_full": True}),
    ],
)  # fmt: skip
def test_that_the_model_is_loaded_as_meant(
    values: dict[str, object], expected: dict[str, object]
) -> None:
    found = loaded(EngineConfig().with_values(values))
    assert expected.items() <= found.items()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"temperature": 0.0, "top_k": 7}, {"temperature": 0.0, "top_k": 7}),
        ({"max_new_tok": -1}, {"max_tokens": None}),
        ({"max_new_tok": 0}, {"max_tokens": 1}),
        ({"max_new_tok": 9}, {"max_tokens": 9}),
        ({"seed": 0}, {"seed": 0}),
        ({"mirostat": 2, "mirostat_lr": 0.25, "mirostat_ent": 3.0},
         {"mirostat_mode": 2, "mirostat_eta": 0.25, "mirostat_tau": 3.0}),
        ({"logit_bias": ["15+1.5", "29-inf"]}, {"logit_bias": "{15: 1.5, 29: float('-inf')}"}),
    ],
)  # fmt: skip
def test_that_it_is_asked_as_meant(values: dict[str, object], expected: dict[str, object]) -> None:
    found = asked(EngineConfig().with_values(values))
    assert expected.items() <= found.items()
    assert found["stream"] is True


def test_that_a_grammar_and_a_schema_arrive_as_grammars() -> None:
    grammar = 'root ::= "it\'s" [a-z \\"]+\n# done\n'
    call = calls_in(script_for(EngineConfig(grammar=grammar)))["model.create_chat_completion"]
    node = call["grammar"]
    assert isinstance(node, ast.Call)
    assert ast.unparse(node.func) == "llama_cpp.LlamaGrammar.from_string"
    assert ast.literal_eval(node.args[0]) == grammar
    schema = asked(EngineConfig(json_schema='{"type": "object"}'))["grammar"]
    assert "root ::=" in schema


def test_that_a_base_model_is_asked_without_a_chat() -> None:
    text = script_for(EngineConfig(), None, FACTS)
    assert "create_chat_completion" not in text
    assert calls_in(text)["model.create_completion"].keys() >= {"prompt", "max_tokens", "stream"}


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"lora": ["/a.gguf", "/b.gguf"]}, "lora"), ({"load_mode": "dio"}, "load_mode"),
        ({"spec_types": ["ngram-mod"]}, "spec_types"), ({"ngram_size_n": 4}, "ngram_size_n"),
        ({"slots": 8}, "slots"), ({"draft_model_path": "/d.gguf"}, "draft_model_path"),
    ],
)  # fmt: skip
def test_that_what_the_class_cannot_is_named(values: dict[str, object], key: str) -> None:
    export = llama_cpp_python.export(EngineConfig().with_values(values), None, CHAT)
    assert key in export.not_carried
    if key == "lora":
        assert "lora_path" not in export.files[0].text


def test_that_slots_and_automatic_attention_are_told() -> None:
    notes = llama_cpp_python.export(EngineConfig(), None, CHAT).notes
    assert any("4 slots" in note for note in notes)
    assert any("no auto for flash attention" in note for note in notes)
    one = EngineConfig(slots=1, flash_attn="on", model_path="/m.gguf")
    assert not llama_cpp_python.export(one, None, CHAT).notes
