"""Why engines that are not llama.cpp are not told of what llama.cpp has and they have no word for.

One reason a setting, for those without a word of their own; a dialect's own answers come over it.
Must not know any engine but the one the desk runs.
"""

from __future__ import annotations

from app.export.carried import Carried, left_out
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY

_ONE_CARD = "{engine} has no word for where single tensors lie: its weights lie together."
_CPU = "{engine} computes on the GPU; threads of the CPU only feed it."
_REQUEST = "{engine} takes it with each request and has no default for it."
_NO_SAMPLER = "{engine} has no such sampler."
_NO_DRAFT_WORD = "{engine} has no word for it where it drafts."

_REASONS: dict[str, str] = {
    "model_path": "{engine} is given the model by another name than the file's.",
    "kv_unified": "{engine} decides itself how conversations share the cache.",
    "ctx_total_tok": "{engine} decides itself how large the cache of all conversations is.",
    "flash_attn": "{engine} chooses its attention kernels itself; all of them are exact.",
    "spec_types": "{engine} has no drafts of this kind.",
    **dict.fromkeys(KINDS_OF_KEY, _NO_DRAFT_WORD),
    "draft_model_path": "{engine} drafts by no file of this kind.",
    "draft_n_max": _NO_DRAFT_WORD,
    "draft_n_min": _NO_DRAFT_WORD,
    "draft_p_min": _NO_DRAFT_WORD,
    "draft_n_gpu_layers": "{engine} puts a draft model where it puts the model.",
    "draft_cache_type_k": "{engine} has no type of its own for the cache of a draft model.",
    "draft_cache_type_v": "{engine} has no type of its own for the cache of a draft model.",
    "n_gpu_layers": "{engine} puts every layer on the GPU.",
    "fit_margin_mib": "{engine} counts what it may use, not what it leaves free.",
    "n_cpu_moe": _ONE_CARD,
    "cpu_moe": _ONE_CARD,
    "n_cpu_ffn": _ONE_CARD,
    "override_tensor": _ONE_CARD,
    "split_mode": "{engine} has no choice of how boards share a model.",
    "tensor_split": "{engine} has no shares for single boards.",
    "main_gpu": "{engine} has no main board.",
    "devices": "{engine} takes the boards that it sees.",
    "rpc_servers": "Workers of llama.cpp serve llama.cpp alone.",
    "kv_offload": "{engine} keeps the KV cache where it computes.",
    "op_offload": "{engine} has no layers in host memory whose work the GPU could take over.",
    "cache_prompt": "{engine} has no switch for what is kept of earlier prompts.",
    "cache_ram_mib": "{engine} keeps no prompts in host memory.",
    "ctx_checkpoints": "{engine} has no copies of states to go back to.",
    "checkpoint_min_step_tok": "{engine} has no copies of states to go back to.",
    "cache_reuse_tok": "{engine} reuses what a prompt begins with and moves no pieces behind it.",
    "swa_full": "{engine} decides itself what it keeps of a sliding window.",
    "context_shift": "{engine} ends an answer where the context is full.",
    "keep_tok": "{engine} drops no tokens of a running conversation, so none are kept.",
    "load_mode": "{engine} reads the weights in its own way.",
    "lazy_mode": "{engine} reads the weights in its own way.",
    "no_host": "{engine} manages its own buffers in host memory.",
    "repack": "{engine} orders weights for its own kernels.",
    "mmproj_path": "{engine} takes the vision part from the model's own files.",
    "lora": "{engine} reads adapters in another format than GGUF.",
    "override_kv": "{engine} reads no metadata of a GGUF file.",
    "extra_flags": "They are flags of llama.cpp's server, and {engine} hands none on.",
    "ubatch_tok": "{engine} has one batch: it is not cut into smaller ones.",
    "prefill_chunk_tok": "{engine} shares a step between prompts and answers in its own way.",
    "threads": _CPU,
    "threads_batch": _CPU,
    **dict.fromkeys(
        (
            "temperature", "top_k", "top_p", "min_p", "repeat_penalty", "presence_penalty",
            "frequency_penalty", "seed", "max_new_tok", "logit_bias", "ignore_eos", "grammar",
            "json_schema",
        ),
        _REQUEST,
    ),
    "repeat_last_n_tok": "{engine} looks at the whole text where it punishes repetition.",
    **dict.fromkeys(
        (
            "dry_multiplier", "dry_base", "dry_allowed_tok", "dry_last_n_tok",
            "dry_sequence_breakers", "top_n_sigma", "typical_p", "xtc_probability",
            "xtc_threshold", "dynatemp_range", "dynatemp_exponent", "adaptive_target",
            "adaptive_decay", "mirostat", "mirostat_lr", "mirostat_ent",
        ),
        _NO_SAMPLER,
    ),
}  # fmt: skip

# Engines that are built on llama.cpp have these as well, and say nothing of them.
_SILENT_ON = (
    "draft_n_gpu_layers", "draft_cache_type_k", "draft_cache_type_v", "fit_margin_mib",
    "n_cpu_moe", "cpu_moe", "n_cpu_ffn", "override_tensor", "tensor_split", "kv_offload",
    "op_offload", "cache_prompt", "cache_ram_mib", "ctx_checkpoints", "checkpoint_min_step_tok",
    "cache_reuse_tok", "swa_full", "context_shift", "keep_tok", "lazy_mode", "no_host", "repack",
    "mmproj_path", "lora", "override_kv", "prefill_chunk_tok", "threads", "threads_batch",
    "repeat_last_n_tok", "dry_multiplier", "dry_base", "dry_allowed_tok", "dry_last_n_tok",
    "dry_sequence_breakers", "top_n_sigma", "typical_p", "xtc_probability", "xtc_threshold",
    "dynatemp_range", "dynatemp_exponent", "adaptive_target", "adaptive_decay",
)  # fmt: skip
_SILENT = "{engine} is built on llama.cpp, but has no word for this."


def why_not(engine: str, *, is_built_on_llama_cpp: bool = False) -> dict[str, Carried]:
    """Why ``engine`` is not told, for every setting that it may have no word for."""
    reasons = dict(_REASONS)
    if is_built_on_llama_cpp:
        reasons |= dict.fromkeys(_SILENT_ON, _SILENT)
    return left_out({key: reason.format(engine=engine) for key, reason in reasons.items()})
