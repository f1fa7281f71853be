"""The engines that a configuration can be written for."""

from __future__ import annotations

from app.export import (
    docker_compose,
    docker_run,
    koboldcpp,
    llama_bench,
    llama_cpp_python,
    llama_preset,
    llama_serve,
    llama_server,
    llama_swap,
    lmstudio,
    ollama,
    sglang,
    systemd_unit,
    tensorrt_llm,
    vllm,
)
from app.export.dialect import Dialect

# The first one is what the window shows unasked.
TARGETS: dict[str, Dialect] = {
    llama_serve.TARGET: llama_serve.export,
    llama_server.TARGET: llama_server.export,
    llama_bench.TARGET: llama_bench.export,
    llama_preset.TARGET: llama_preset.export,
    llama_swap.TARGET: llama_swap.export,
    docker_run.TARGET: docker_run.export,
    docker_compose.TARGET: docker_compose.export,
    systemd_unit.TARGET: systemd_unit.export,
    llama_cpp_python.TARGET: llama_cpp_python.export,
    ollama.TARGET: ollama.export,
    vllm.TARGET: vllm.export,
    sglang.TARGET: sglang.export,
    tensorrt_llm.TARGET: tensorrt_llm.export,
    lmstudio.TARGET: lmstudio.export,
    koboldcpp.TARGET: koboldcpp.export,
}
