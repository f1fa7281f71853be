"""Calls of engines' libraries in Python, read and never run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.importing.found import Found
from app.importing.importer import import_text
from app.importing.python_calls import is_python, read_python


def one(text: str, hint: str = "") -> Found:
    (found,) = import_text(text, hint)
    return found


LLAMA = """from llama_cpp import Llama

CTX = 8 * 1024
path = "./models/a.gguf"  # here
llm = Llama(
    model_path=path,
    n_gpu_layers=-1,  # all
    # seed=1337,
    n_ctx=4096,
    flash_attn=True,
    type_k=llama_cpp.GGML_TYPE_Q8_0,
    tensor_split=[0.5, 0.5],
    use_mlock=True,
    verbose=False,
)
print(llm("Q: x? A:", max_tokens=32))
"""


def test_that_the_binding_is_read() -> None:
    found = one(LLAMA)
    assert found.target == "llama-cpp-python"
    wanted: dict[str, Any] = {
        "model_path": "./models/a.gguf", "n_gpu_layers": "all", "ctx_total_tok": 4096,
        "flash_attn": "on", "cache_type_k": "q8_0", "tensor_split": ("0.5", "0.5"),
        "load_mode": "mmap+mlock", "slots": 1,
    }  # fmt: skip
    assert wanted.items() <= found.settings.items()
    assert not found.problems


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('llm = Llama("a.gguf", n_ctx=2048)', {"model_path": "a.gguf", "ctx_total_tok": 2048}),
        ('>>> from llama_cpp import Llama\n>>> Llama(model_path=r"C:\\m\\a.gguf")',
         {"model_path": "C:\\m\\a.gguf"}),
        ('llm = Llama.from_pretrained(repo_id="a/b-GGUF", filename="*q8_0.gguf")',
         {"hf_repo": "a/b-GGUF", "hf_file": "*q8_0.gguf"}),
        ('from langchain_community.llms import LlamaCpp\n'
         'x = LlamaCpp(model_path="a.gguf", n_batch=256, temperature=0.5)',
         {"model_path": "a.gguf", "batch_tok": 256, "temperature": 0.5}),
        ('from vllm import LLM\nllm = LLM(model="a/b", max_model_len=8192, max_num_seqs=4)',
         {"ctx_per_slot_tok": 8192, "slots": 4}),
        ('from tensorrt_llm import LLM\nllm = LLM(model="a/b", max_seq_len=8192)',
         {"ctx_per_slot_tok": 8192}),
        ('import sglang as sgl\nllm = sgl.Engine(model_path="a/b", context_length=8192)',
         {"ctx_per_slot_tok": 8192}),
        ('import ollama\nollama.chat(model="a", options={"num_ctx": 8192, "top_k": 5})',
         {"ctx_per_slot_tok": 8192, "top_k": 5}),
        ('from langchain_ollama import ChatOllama\nllm = ChatOllama(model="a", num_ctx=4096)',
         {"ctx_per_slot_tok": 4096}),
    ],
)  # fmt: skip
def test_that_libraries_are_read(text: str, wanted: dict[str, Any]) -> None:
    assert wanted.items() <= one(text).settings.items()


def test_that_what_only_python_knows_is_open() -> None:
    found = one('llm = Llama(model_path=find(), n_ctx=size, seed=1, weird={"a": 1})')
    assert found.settings["ctx_total_tok"] is None
    assert any("find()" in str(value) for value in found.settings.values())


def test_that_a_configuration_of_the_server_is_one_model_each() -> None:
    found = import_text(
        '{"port": 8080, "models": [{"model": "a.gguf", "n_ctx": 1024, "model_alias": "x"}, '
        '{"model": "b.gguf", "n_gpu_layers": -1}]}'
    )
    assert [each.settings["model_path"] for each in found] == ["a.gguf", "b.gguf"]
    assert [each.title for each in found] == ["x", ""]
    assert found[1].settings["n_gpu_layers"] == "all"


@given(st.text(alphabet="Llama(model_path='\"[]{},=#\n\\)x1 :", max_size=200))
def test_that_no_text_breaks_the_reader(text: str) -> None:
    text = f"llm = Llama({text}"
    assert is_python(text)
    read_python(text)
