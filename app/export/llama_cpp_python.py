"""A Python script with llama-cpp-python's ``Llama``, of version 0.3.36.

That class runs one sequence, has no ``auto`` for flash attention, and other defaults than the
server: so the script says what matters even where it is the server's default. Must not import it.
"""

from __future__ import annotations

import re

from app.export.carried import (
    Carried,
    answers_for_all,
    keys_in,
    not_carried,
    said,
    same_for,
    translated,
)
from app.export.dialect import Export, ExportedFile, exported, refused
from app.export.llama_flag import Situation, situation_of
from app.export.llama_placement import layers_lost
from app.export.python_call import Raw, call, text_of
from app.export.told import value_of, why_not_in_file, without_grammar
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import kv_override, lora_file
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import BY_KEY

TARGET = "llama-cpp-python"
FILE = "chat.py"
VERSION = "0.3.36"
_LOOKUP = "ngram-simple"
_UNNAMED_TYPE = "bf16"  # llama_cpp has no name for its number
_SIZES = ("ngram_size_n", "ngram_size_m")
_MIROSTAT = ("mirostat_lr", "mirostat_ent")
_BIAS = re.compile(r"(\d+)([+-].+)")


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a script that answers one prompt, and the line that runs it."""
    s = situation_of(config, effective, facts, TARGET, shell)
    answers = answers_for_all(TABLE, _of_this(s.config), layers_lost(s))
    if reason := why_not_in_file(config, "the script"):
        return refused(TARGET, reason, answers)
    about = f"Needs llama-cpp-python {VERSION}; the words behind its name are the prompt."
    file = ExportedFile(FILE, script_of(s), about)
    return exported(
        TARGET, ("python", FILE, "Say in one sentence what you are."), _notes(s), answers, shell,
        files=(file,),
    )  # fmt: skip


def _notes(s: Situation) -> tuple[str, ...]:
    notes = []
    if not s.config.model_path:
        notes.append("No model is chosen: write its path in the place of MODEL.gguf.")
    if s.config.slots > 1:
        notes.append(
            f"Llama() runs one conversation at a time, where {s.config.slots} slots are set."
        )
    if value_of(s, "-fa", "flash_attn") == "auto":
        notes.append(
            "Llama() has no auto for flash attention: the script switches it on, which auto does "
            "wherever the backend can."
        )
    return tuple(notes)


def _of_this(config: EngineConfig) -> dict[str, Carried]:
    """What is not said of this configuration, though there is an argument for it."""
    missing: dict[str, Carried] = {}
    if len(config.lora) > 1:
        missing["lora"] = not_carried("Llama() takes one adapter, and there are several.")
    if config.load_mode == "dio":
        missing["load_mode"] = not_carried("Llama() has no argument for direct I/O.")
    if config.grammar and config.json_schema:
        missing["json_schema"] = not_carried(
            "An answer follows one form, and the script says the grammar."
        )
    if any(kind != _LOOKUP for kind in config.spec_types):
        missing["spec_types"] = not_carried(
            f"Llama() drafts from the prompt alone, as {_LOOKUP} does; other kinds are left out."
        )
    if _LOOKUP not in config.spec_types:
        moved = [key for key in _SIZES if getattr(config, key) != BY_KEY[key].default]
        missing |= same_for(moved, not_carried(f"It has no effect while {_LOOKUP} does not draft."))
    if not config.mirostat:
        moved = [key for key in _MIROSTAT if getattr(config, key) != BY_KEY[key].default]
        missing |= same_for(moved, not_carried("It has no effect while Mirostat is off."))
    return missing


# --- The script ----------------------------------------------------------------------------------


def script_of(s: Situation) -> str:
    """The script's text."""
    drafts = _LOOKUP in s.config.spec_types
    is_base = s.facts is not None and not s.facts.chat_template
    lines = ["import sys", "", "import llama_cpp"]
    if drafts:
        lines.append("from llama_cpp.llama_speculative import LlamaPromptLookupDecoding")
    lines += ["", call("model = llama_cpp.Llama", _load_arguments(s)), ""]
    lines.append('prompt = " ".join(sys.argv[1:])')
    if is_base:
        lines.append(call("pieces = model.create_completion", _ask_arguments(s, "prompt")))
        lines += ["for piece in pieces:", '    text = piece["choices"][0]["text"]']
    else:
        lines.append(call("pieces = model.create_chat_completion", _ask_arguments(s, "messages")))
        lines += ["for piece in pieces:", '    text = piece["choices"][0]["delta"].get("content")']
    lines += ['    print(text or "", end="", flush=True)', "print()", ""]
    return "\n".join(lines)


def _load_arguments(s: Situation) -> dict[str, object]:
    config = s.config
    layers = value_of(s, "-ngl", "n_gpu_layers")
    return {
        "model_path": config.model_path or "MODEL.gguf",
        "n_ctx": config.slot_cap_tok,
        "n_batch": config.batch_tok,
        "n_ubatch": config.ubatch_tok,
        **_cache_types(config),
        "flash_attn": value_of(s, "-fa", "flash_attn") != "off",
        "swa_full": config.swa_full,
        "n_gpu_layers": -1 if layers in (None, "all") else int(layers or 0),
        **_placement(config),
        **_threads(s),
        **_files(config),
        **_drafts(config),
        "last_n_tokens_size": config.repeat_last_n_tok,
        "verbose": False,
    }


def _cache_types(config: EngineConfig) -> dict[str, object]:
    types: dict[str, object] = {}
    for argument, name in (("type_k", config.cache_type_k), ("type_v", config.cache_type_v)):
        if name == _UNNAMED_TYPE:
            types[argument] = CACHE_TYPES[name].ggml_type
        elif name != "f16":
            types[argument] = Raw(f"llama_cpp.GGML_TYPE_{name.upper()}")
    return types


def _placement(config: EngineConfig) -> dict[str, object]:
    made: dict[str, object] = {}
    if config.split_mode != "layer":
        made["split_mode"] = Raw(f"llama_cpp.LLAMA_SPLIT_MODE_{config.split_mode.upper()}")
    if config.main_gpu:
        made["main_gpu"] = config.main_gpu
    if config.tensor_split:
        made["tensor_split"] = [float(share) for share in config.tensor_split]
    if not config.kv_offload:
        made["offload_kqv"] = False
    if not config.op_offload:
        made["op_offload"] = False
    if config.load_mode in ("none", "mlock"):
        made["use_mmap"] = False
    if "mlock" in config.load_mode:
        made["use_mlock"] = True
    return made


def _threads(s: Situation) -> dict[str, object]:
    decode, prefill = value_of(s, "-t", "threads"), value_of(s, "-tb", "threads_batch")
    made: dict[str, object] = {"n_threads": int(decode)} if decode is not None else {}
    return made | ({"n_threads_batch": int(prefill)} if prefill is not None else {})


def _files(config: EngineConfig) -> dict[str, object]:
    made: dict[str, object] = {}
    if config.override_kv:
        overrides = [kv_override(item) for item in config.override_kv]
        made["kv_overrides"] = {override.key: override.value for override in overrides}
    if len(config.lora) == 1:
        path, scale = lora_file(config.lora[0])
        made |= {"lora_path": path} | ({"lora_scale": scale} if scale != 1.0 else {})
    return made


def _drafts(config: EngineConfig) -> dict[str, object]:
    if _LOOKUP not in config.spec_types:
        return {}
    sizes = f"max_ngram_size={config.ngram_size_n}, num_pred_tokens={config.ngram_size_m}"
    return {"draft_model": Raw(f"LlamaPromptLookupDecoding({sizes})")}


def _ask_arguments(s: Situation, asked: str) -> dict[str, object]:
    config = s.config
    message = Raw('[{"role": "user", "content": prompt}]')
    made: dict[str, object] = {asked: Raw("prompt") if asked == "prompt" else message}
    # With 0 the class writes without an end, the server one token.
    made["max_tokens"] = None if config.max_new_tok < 0 else max(1, config.max_new_tok)
    made |= {
        "temperature": config.temperature,
        "top_k": config.top_k,
        "top_p": config.top_p,
        "min_p": config.min_p,
        "typical_p": config.typical_p,
        "repeat_penalty": config.repeat_penalty,
        "presence_penalty": config.presence_penalty,
        "frequency_penalty": config.frequency_penalty,
    }
    if config.mirostat:
        made |= {
            "mirostat_mode": config.mirostat,
            "mirostat_eta": config.mirostat_lr,
            "mirostat_tau": config.mirostat_ent,
        }
    if config.seed != -1:
        made["seed"] = config.seed
    if config.logit_bias:
        made["logit_bias"] = dict(map(_bias, config.logit_bias))
    if grammar := without_grammar(config)[1]:
        made["grammar"] = Raw(f"llama_cpp.LlamaGrammar.from_string({text_of(grammar)})")
    return made | {"stream": True}


def _bias(item: str) -> tuple[int, float]:
    found = _BIAS.fullmatch(item)
    assert found is not None, item
    return int(found[1]), float(found[2])


_ONE = "Llama() runs one sequence: there are no slots, and no pool that they share."
_KEPT = "Llama() keeps the tokens of the last prompt and reuses what the next begins with alike."
_PARTS = "Llama() has no argument that places single parts of the model."
TABLE: dict[str, Carried] = {
    "model_path": said("model_path"),
    "ctx_per_slot_tok": translated("n_ctx is the context of its one conversation."),
    **same_for(("slots", "kv_unified", "ctx_total_tok"), not_carried(_ONE)),
    "prefill_chunk_tok": not_carried(_ONE),
    "cache_type_k": said("type_k"),
    "cache_type_v": said("type_v"),
    "flash_attn": translated("flash_attn is on or off: auto is what it came to, else on."),
    "batch_tok": said("n_batch"),
    "ubatch_tok": said("n_ubatch"),
    "threads": said("n_threads"),
    "threads_batch": said("n_threads_batch"),
    "spec_types": translated(f"draft_model is a prompt lookup for {_LOOKUP}; others are left out."),
    "ngram_size_n": translated("max_ngram_size, below which it tries shorter runs as well."),
    "ngram_size_m": said("num_pred_tokens"),
    **same_for(
        (
            "ngram_min_hits",
            "ngram_mod_n_match",
            "ngram_mod_n_min",
            "ngram_mod_n_max",
            "lookup_cache_static_path",
            "lookup_cache_dynamic_path",
        ),
        not_carried(f"Its prompt lookup knows what {_LOOKUP} needs and no more."),
    ),
    **same_for(
        ("draft_model_path", *keys_in(Group.DRAFT)),
        not_carried("Llama() drafts from the prompt alone, without a model."),
    ),
    **same_for(
        (
            "cache_prompt",
            "cache_ram_mib",
            "ctx_checkpoints",
            "checkpoint_min_step_tok",
            "cache_reuse_tok",
        ),
        not_carried(_KEPT),
    ),
    "swa_full": said("swa_full"),
    **same_for(
        ("context_shift", "keep_tok"),
        not_carried("Llama() ends with an error where the context is full."),
    ),
    "n_gpu_layers": translated("n_gpu_layers as a number: what auto came to, and -1 for all."),
    "fit_margin_mib": not_carried("Llama() fits nothing: layers are said as they were placed."),
    **same_for(
        (
            "n_cpu_moe",
            "cpu_moe",
            "n_cpu_ffn",
            "override_tensor",
            "devices",
            "rpc_servers",
            "no_host",
            "repack",
        ),
        not_carried(_PARTS),
    ),
    "split_mode": said("split_mode"),
    "tensor_split": said("tensor_split"),
    "main_gpu": said("main_gpu"),
    "kv_offload": said("offload_kqv"),
    "op_offload": said("op_offload"),
    "load_mode": translated("use_mmap and use_mlock together; auto is Llama()'s own, mmap."),
    "lazy_mode": not_carried("Llama() has no argument for it."),
    "mmproj_path": not_carried(
        "Images need a chat handler of the model's family beside Llama(): the script asks in text."
    ),
    "lora": said("lora_path, lora_scale"),
    "override_kv": said("kv_overrides"),
    "extra_flags": not_carried("They are flags of llama-server."),
    "temperature": said("temperature"),
    "top_k": said("top_k"),
    "top_p": said("top_p"),
    "min_p": said("min_p"),
    "typical_p": said("typical_p"),
    "repeat_penalty": said("repeat_penalty"),
    "repeat_last_n_tok": said("last_n_tokens_size"),
    "presence_penalty": said("presence_penalty"),
    "frequency_penalty": said("frequency_penalty"),
    "seed": said("seed"),
    "max_new_tok": translated("max_tokens, None for no limit."),
    "mirostat": said("mirostat_mode"),
    "mirostat_lr": said("mirostat_eta"),
    "mirostat_ent": said("mirostat_tau"),
    "logit_bias": said("logit_bias"),
    "ignore_eos": not_carried("Llama() stops at the model's end of text in any case."),
    "grammar": translated("grammar, built by LlamaGrammar.from_string."),
    "json_schema": translated("grammar, with the grammar that TuneDeck makes of the schema."),
    **same_for(
        (
            "dry_multiplier",
            "dry_base",
            "dry_allowed_tok",
            "dry_last_n_tok",
            "dry_sequence_breakers",
            "top_n_sigma",
            "xtc_probability",
            "xtc_threshold",
            "dynatemp_range",
            "dynatemp_exponent",
            "adaptive_target",
            "adaptive_decay",
        ),
        not_carried("Llama() has no such sampler."),
    ),
}
