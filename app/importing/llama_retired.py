"""Flags that llama.cpp's programs had once and that its own table does not list any more.

Facts from the project's releases since 2023; must not know settings.
"""

from __future__ import annotations

from app.export.engine_words import EngineWords, Word


def _gone(*names: str, arity: int = 0, heirs: tuple[str, ...] = ()) -> Word:
    return Word(
        names,
        kind="str" if arity else "bool",
        arity=arity,
        removed=True,
        heirs=heirs,
    )


RETIRED = EngineWords(
    engine="llama.cpp",
    version="before 0.5.0",
    source="releases of github.com/ggml-org/llama.cpp",
    underscores="--",
    flags=(
        _gone("-spf", "--system-prompt-file", arity=1),
        _gone("--log-enable"),
        _gone("--log-new"),
        _gone("--log-append"),
        _gone("--log-test"),
        _gone("--log-format", arity=1),
        _gone("--slots-endpoint-disable", heirs=("--no-slots",)),
        _gone("--memory-f32", heirs=("--cache-type-k f32 --cache-type-v f32",)),
        _gone("-mmq", "--mul-mat-q"),
        _gone("-nommq", "--no-mul-mat-q"),
        _gone("--low-vram"),
        _gone("-gqa", "--gqa", "--n-gqa", arity=1),
        _gone("-eps", "--rms-norm-eps", arity=1),
        _gone("-gan", "--grp-attn-n", arity=1),
        _gone("-gaw", "--grp-attn-w", arity=1),
        _gone("--lora-base", arity=1),
        _gone("-ps", "--p-split", arity=1, heirs=("--spec-draft-p-split",)),
        _gone("-pa", "--p-accept", arity=1),
        _gone("-ns", "--sequences", arity=1),
        _gone("--cfg-negative-prompt", arity=1),
        _gone("--cfg-negative-prompt-file", arity=1),
        _gone("--cfg-scale", arity=1),
        _gone("--no-penalize-nl"),
        _gone("--logits-all"),
        _gone("-ins", "--instruct"),
        _gone("-cml", "--chatml", heirs=("--chat-template chatml",)),
        _gone("-if", "--interactive-first"),
        _gone("-i", "--interactive"),
        _gone("--infill"),
        _gone("--spec-replace", arity=2),
        _gone("--spec-draft-replace", arity=2),
    ),
)

# Words that people carry over from llama.cpp's bindings and from programs built on it, each with
# the flag that says it.
BORROWED = {
    "--n-ctx": "--ctx-size",
    "--ctx": "--ctx-size",
    "--ctx-len": "--ctx-size",
    "--context": "--ctx-size",
    "--context-size": "--ctx-size",
    "--context-length": "--ctx-size",
    "--contextsize": "--ctx-size",
    "--num-ctx": "--ctx-size",
    "--n-batch": "--batch-size",
    "--n-ubatch": "--ubatch-size",
    "--n-threads": "--threads",
    "--n-threads-batch": "--threads-batch",
    "--num-gpu-layers": "--n-gpu-layers",
    "--ngpu-layers": "--n-gpu-layers",
    "--gpulayers": "--n-gpu-layers",
    "--n-parallel": "--parallel",
    "--num-parallel": "--parallel",
    "--model-path": "--model",
    "--flashattention": "--flash-attn",
    "--flash-attention": "--flash-attn",
    "--type-k": "--cache-type-k",
    "--type-v": "--cache-type-v",
    "--mmproj-path": "--mmproj",
    "--draft-model": "--model-draft",
    "--offload-kqv": "--kv-offload",
}
