"""What the flags of llama.cpp's programs mean to the desk.

Knows flags and keys; must not know how a line is taken apart.
"""

from __future__ import annotations

from app.export.engine_words import Word
from app.importing import llama_values as values
from app.importing.llama_values import Reader

# The setting of each flag, by one spelling of it. Those of the last group are no settings of the
# desk yet; their keys are reserved for them.
KEYS = {
    "--model": "model_path",
    "--ctx-size": "ctx_total_tok",
    "--kv-unified-per-slot": "ctx_per_slot_tok",
    "--parallel": "slots",
    "--kv-unified": "kv_unified",
    "--cache-type-k": "cache_type_k",
    "--cache-type-v": "cache_type_v",
    "--flash-attn": "flash_attn",
    "--spec-type": "spec_types",
    "--spec-ngram-simple-size-n": "ngram_size_n",
    "--spec-ngram-simple-size-m": "ngram_size_m",
    "--spec-ngram-simple-min-hits": "ngram_min_hits",
    "--spec-ngram-map-k-size-n": "ngram_size_n",
    "--spec-ngram-map-k-size-m": "ngram_size_m",
    "--spec-ngram-map-k-min-hits": "ngram_min_hits",
    "--spec-ngram-map-k4v-size-n": "ngram_size_n",
    "--spec-ngram-map-k4v-size-m": "ngram_size_m",
    "--spec-ngram-map-k4v-min-hits": "ngram_min_hits",
    "--spec-ngram-mod-n-match": "ngram_mod_n_match",
    "--spec-ngram-mod-n-min": "ngram_mod_n_min",
    "--spec-ngram-mod-n-max": "ngram_mod_n_max",
    "--lookup-cache-static": "lookup_cache_static_path",
    "--lookup-cache-dynamic": "lookup_cache_dynamic_path",
    "--spec-draft-model": "draft_model_path",
    "--spec-draft-n-max": "draft_n_max",
    "--spec-draft-n-min": "draft_n_min",
    "--spec-draft-p-min": "draft_p_min",
    "--spec-draft-ngl": "draft_n_gpu_layers",
    "--spec-draft-type-k": "draft_cache_type_k",
    "--spec-draft-type-v": "draft_cache_type_v",
    "--n-gpu-layers": "n_gpu_layers",
    "--fit-target": "fit_margin_mib",
    "--n-cpu-moe": "n_cpu_moe",
    "--cpu-moe": "cpu_moe",
    "--n-cpu-ffn": "n_cpu_ffn",
    "--override-tensor": "override_tensor",
    "--split-mode": "split_mode",
    "--tensor-split": "tensor_split",
    "--main-gpu": "main_gpu",
    "--device": "devices",
    "--rpc": "rpc_servers",
    "--kv-offload": "kv_offload",
    "--op-offload": "op_offload",
    "--cache-prompt": "cache_prompt",
    "--cache-ram": "cache_ram_mib",
    "--ctx-checkpoints": "ctx_checkpoints",
    "--checkpoint-min-step": "checkpoint_min_step_tok",
    "--cache-reuse": "cache_reuse_tok",
    "--swa-full": "swa_full",
    "--context-shift": "context_shift",
    "--keep": "keep_tok",
    "--load-mode": "load_mode",
    "--lazy-mode": "lazy_mode",
    "--no-host": "no_host",
    "--repack": "repack",
    "--mmproj": "mmproj_path",
    "--lora": "lora",
    "--lora-scaled": "lora",
    "--override-kv": "override_kv",
    "--batch-size": "batch_tok",
    "--ubatch-size": "ubatch_tok",
    "--threads": "threads",
    "--threads-batch": "threads_batch",
    "--temp": "temperature",
    "--top-k": "top_k",
    "--top-p": "top_p",
    "--min-p": "min_p",
    "--repeat-penalty": "repeat_penalty",
    "--repeat-last-n": "repeat_last_n_tok",
    "--presence-penalty": "presence_penalty",
    "--frequency-penalty": "frequency_penalty",
    "--seed": "seed",
    "--n-predict": "max_new_tok",
    "--dry-multiplier": "dry_multiplier",
    "--dry-base": "dry_base",
    "--dry-allowed-length": "dry_allowed_tok",
    "--dry-penalty-last-n": "dry_last_n_tok",
    "--dry-sequence-breaker": "dry_sequence_breakers",
    "--top-n-sigma": "top_n_sigma",
    "--typical-p": "typical_p",
    "--xtc-probability": "xtc_probability",
    "--xtc-threshold": "xtc_threshold",
    "--dynatemp-range": "dynatemp_range",
    "--dynatemp-exp": "dynatemp_exponent",
    "--adaptive-target": "adaptive_target",
    "--adaptive-decay": "adaptive_decay",
    "--mirostat": "mirostat",
    "--mirostat-lr": "mirostat_lr",
    "--mirostat-ent": "mirostat_ent",
    "--logit-bias": "logit_bias",
    "--ignore-eos": "ignore_eos",
    "--grammar": "grammar",
    "--json-schema": "json_schema",
    "--hf-repo": "hf_repo",
    "--hf-file": "hf_file",
    "--spec-draft-hf": "draft_hf_repo",
    "--chat-template-file": "chat_template_file",
    "--rope-scaling": "rope_scaling",
    "--rope-scale": "rope_scale",
    "--rope-freq-base": "rope_freq_base",
    "--rope-freq-scale": "rope_freq_scale",
    "--yarn-orig-ctx": "yarn_orig_ctx_tok",
    "--yarn-ext-factor": "yarn_ext_factor",
    "--yarn-attn-factor": "yarn_attn_factor",
    "--yarn-beta-slow": "yarn_beta_slow",
    "--yarn-beta-fast": "yarn_beta_fast",
}

# The flag of each key that is no setting of the desk.
FLAG_OF_KEY = {
    "hf_repo": "--hf-repo",
    "hf_file": "--hf-file",
    "draft_hf_repo": "--hf-repo-draft",
    "chat_template_file": "--chat-template-file",
    "rope_scaling": "--rope-scaling",
    "rope_scale": "--rope-scale",
    "rope_freq_base": "--rope-freq-base",
    "rope_freq_scale": "--rope-freq-scale",
    "yarn_orig_ctx_tok": "--yarn-orig-ctx",
    "yarn_ext_factor": "--yarn-ext-factor",
    "yarn_attn_factor": "--yarn-attn-factor",
    "yarn_beta_slow": "--yarn-beta-slow",
    "yarn_beta_fast": "--yarn-beta-fast",
}

# Settings whose values add up where they are said again.
ADDED_UP = frozenset(
    {
        "spec_types",
        "override_tensor",
        "override_kv",
        "lora",
        "logit_bias",
        "dry_sequence_breakers",
    }
)

# Values that are not simply of the flag's kind.
_READERS: dict[str, Reader] = {
    "flash_attn": values.tri_state,
    "n_gpu_layers": values.layers,
    "draft_n_gpu_layers": values.layers,
    "fit_margin_mib": values.shares,
    "override_tensor": values.overrides,
    "tensor_split": values.shares,
    "devices": values.items,
    "rpc_servers": values.items,
    "lora": values.row,
    "override_kv": values.row,
    "spec_types": values.spec_types,
    "dry_sequence_breakers": values.breaker,
    "logit_bias": values.one,
    "json_schema": values.schema,
    "seed": values.seed,
}

_BY_KIND: dict[str, Reader] = {"int": values.whole, "float": values.decimal}

# How flags are called that no setting stands for, where their first long spelling does not tell.
_NAMES = {
    "--slots": "endpoint_slots",  # "slots" alone is how many there are
    "--verbosity": "log_verbosity",
    "--timeout": "timeout_s",
    "--reasoning-budget": "reasoning_budget_tok",
    "--sleep-idle-seconds": "sleep_idle_s",
}
# Lists by what the program does with them, and yet one text to a person.
_TEXTS = ("--alias", "--api-key", "--tags")


def key_of(word: Word) -> str:
    """The setting that a flag says; empty where no setting stands for it."""
    return next((KEYS[name] for name in word.names if name in KEYS), "")


def reader_of(word: Word) -> Reader:
    """How a value of the flag is read."""
    special = _READERS.get(key_of(word))
    if special is not None:
        return special
    if word.kind == "choice" and word.choices:
        return values.one_of(*map(str, word.choices))
    if word.kind == "list":
        return _reader_of_list(word)
    return _BY_KIND.get(word.kind, values.text)


def _reader_of_list(word: Word) -> Reader:
    if "--samplers" in word.names:
        return values.chain
    return values.text if any(name in _TEXTS for name in word.names) else values.items


def name_of(word: Word) -> str:
    """How a flag is called among what is no setting: ``cont_batching``, ``timeout_s``."""
    long = [n for n in word.names if n.startswith("--") and n not in word.negated]
    first = (long or [word.names[0]])[0]
    return _NAMES.get(first, first.lstrip("-").replace("-", "_").replace(".", "_"))
