"""What llama.cpp's server is told each setting by.

The words themselves are written by the ``Flag`` of each setting (``llama_flags``); this is their
index, for whoever wants to know what became of a setting. Must not know a shell.
"""

from __future__ import annotations

from app.export import llama_flags
from app.export.carried import Carried, answers_for_all, left_out, said, translated
from app.export.llama_flag import Situation
from app.export.llama_placement import layers_lost
from app.export.llama_speculation import NGRAM_KEYS, ngram_flags

# By what a setting is said, where the flag means the same as the setting.
FLAG_OF: dict[str, str] = {
    "model_path": "-m",
    "slots": "-np",
    "kv_unified": "-kvu, -no-kvu",
    "cache_type_k": "-ctk",
    "cache_type_v": "-ctv",
    "spec_types": "--spec-type",
    **{key: ", ".join(ngram_flags(key)) for key in NGRAM_KEYS},
    "lookup_cache_static_path": "-lcs",
    "lookup_cache_dynamic_path": "-lcd",
    "draft_model_path": "-md",
    "draft_n_max": "--spec-draft-n-max",
    "draft_n_min": "--spec-draft-n-min",
    "draft_p_min": "--spec-draft-p-min",
    "draft_n_gpu_layers": "-ngld",
    "draft_cache_type_k": "-ctkd",
    "draft_cache_type_v": "-ctvd",
    "cache_prompt": "--no-cache-prompt",
    "cache_ram_mib": "--cache-ram",
    "ctx_checkpoints": "-ctxcp",
    "checkpoint_min_step_tok": "-cms",
    "cache_reuse_tok": "--cache-reuse",
    "swa_full": "--swa-full",
    "context_shift": "--context-shift",
    "keep_tok": "--keep",
    "n_gpu_layers": "-ngl",
    "fit_margin_mib": "-fitt",
    "cpu_moe": "-cmoe",
    "n_cpu_moe": "-ncmoe",
    "n_cpu_ffn": "-ncffn",
    "override_tensor": "-ot",
    "split_mode": "-sm",
    "tensor_split": "-ts",
    "main_gpu": "-mg",
    "devices": "-dev",
    "rpc_servers": "--rpc",
    "kv_offload": "-nkvo",
    "op_offload": "--no-op-offload",
    "load_mode": "-lm",
    "lazy_mode": "-lzm",
    "no_host": "--no-host",
    "repack": "-nr",
    "mmproj_path": "-mm",
    "lora": "--lora, --lora-scaled",
    "override_kv": "--override-kv",
    "batch_tok": "-b",
    "ubatch_tok": "-ub",
    "temperature": "--temp",
    "top_k": "--top-k",
    "top_p": "--top-p",
    "min_p": "--min-p",
    "repeat_penalty": "--repeat-penalty",
    "repeat_last_n_tok": "--repeat-last-n",
    "presence_penalty": "--presence-penalty",
    "frequency_penalty": "--frequency-penalty",
    "seed": "-s",
    "max_new_tok": "-n",
    "dry_multiplier": "--dry-multiplier",
    "dry_base": "--dry-base",
    "dry_allowed_tok": "--dry-allowed-length",
    "dry_last_n_tok": "--dry-penalty-last-n",
    "dry_sequence_breakers": "--dry-sequence-breaker",
    "top_n_sigma": "--top-n-sigma",
    "typical_p": "--typical-p",
    "xtc_probability": "--xtc-probability",
    "xtc_threshold": "--xtc-threshold",
    "dynatemp_range": "--dynatemp-range",
    "dynatemp_exponent": "--dynatemp-exp",
    "adaptive_target": "--adaptive-target",
    "adaptive_decay": "--adaptive-decay",
    "mirostat": "--mirostat",
    "mirostat_lr": "--mirostat-lr",
    "mirostat_ent": "--mirostat-ent",
    "logit_bias": "--logit-bias",
    "ignore_eos": "--ignore-eos",
    "grammar": "--grammar",
}
# Where the flag means something else than the setting.
_TRANSLATED: dict[str, str] = {
    "ctx_per_slot_tok": (
        "-c is the pool of all slots: slots × context per slot, which is padded to a multiple of "
        "256. With a shared pool --kv-unified-per-slot caps each slot."
    ),
    "ctx_total_tok": "-c is the shared pool, padded to a multiple of 256; -kvu says that it is.",
    "flash_attn": "-fa is what the engine decided here, where auto was asked for and it is known.",
    "threads": "-t is the number that auto came to here, where it is known.",
    "threads_batch": "-tb is the number that auto came to here, where it is known.",
    "json_schema": "--grammar with the grammar that TuneDeck makes of the schema.",
    "extra_flags": "They stand as they came, behind all others.",
}


def answers(situation: Situation) -> dict[str, Carried]:
    """What becomes of each setting in the words of ``llama_flags`` for this situation."""
    drafters = situation.config.spec_types
    in_use = {
        key: said(", ".join(flags)) for key in NGRAM_KEYS if (flags := ngram_flags(key, drafters))
    }
    left = left_out(llama_flags.not_carried(situation))
    return answers_for_all(TABLE, in_use, left, layers_lost(situation))


TABLE: dict[str, Carried] = {
    **{key: said(flag) for key, flag in FLAG_OF.items()},
    **{key: translated(how) for key, how in _TRANSLATED.items()},
}
