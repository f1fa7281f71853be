"""What is no setting here and was understood all the same, as a person calls it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

SYSTEM_PROMPT_PLACE = "A system prompt is set above its conversation, in the chat: paste it there."

_LABELS = {
    "chunked_prefill_tok": "prompt tokens in a step",
    "cuda_devices": "GPUs that are seen",
    "data_parallel": "copies of the model side by side",
    "draft_hf_file": "file of the draft model on the hub",
    "draft_source_model": "draft model",
    "gpu_mem_fraction": "share of GPU memory that it takes",
    "gpu_overhead_bytes": "GPU memory left free, in bytes",
    "gpu_ratio": "share of the model on the GPU",
    "pipeline_parallel": "GPUs that take layers in turn",
    "queue": "requests that may wait",
    "tensor_parallel": "GPUs that share each layer",
}


def other_label(name: str) -> str:
    """The words for ``name``; variables of the environment keep theirs."""
    if name in _LABELS:
        return _LABELS[name]
    return name.replace("_", " ") if name.islower() else name


def about_others(names: Iterable[str]) -> tuple[str, ...]:
    """Where in the window a person puts what is no setting, sentences."""
    return (SYSTEM_PROMPT_PLACE,) if "system_prompt" in names else ()
