"""Calls of llama-cpp-python's server (``python -m llama_cpp.server``) as settings of the desk.

It has names of its own, values behind every flag, one slot, and the library's numbers for types.
"""

from __future__ import annotations

from collections.abc import Callable

from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.sampling_words import take_sampler
from app.importing.secret_words import is_secret_name
from app.importing.typed_numbers import decimal, truth, whole
from engine_bridge.settings.domain import Value

TARGET = "llama-cpp-python"

# ggml's numbers for types, as its binding takes them.
_TYPES = {
    0: "f32", 1: "f16", 2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 20: "iq4_nl",
    30: "bf16",
}  # fmt: skip
_SPLITS = {0: "none", 1: "layer", 2: "row"}
_ROPE_TYPES = {0: "none", 1: "linear", 2: "yarn"}


def _whole(text: str) -> Value | None:
    return whole(text)


def _decimal(text: str) -> Value | None:
    return decimal(text)


def _truth(text: str) -> Value | None:
    return truth(text)


def _text(text: str) -> Value | None:
    return text


def _named(names: dict[int, str]) -> Callable[[str], Value | None]:
    return lambda text: names.get(number) if (number := whole(text)) is not None else None


def _layers(text: str) -> Value | None:
    number = whole(text)
    return "all" if number == -1 else number


_KEYS: dict[str, tuple[str, Callable[[str], Value | None]]] = {
    "model": ("model_path", _text),
    "hf_model_repo_id": ("hf_repo", _text),
    "hf_file": ("hf_file", _text),
    "n_ctx": ("ctx_total_tok", _whole),
    "n_gpu_layers": ("n_gpu_layers", _layers),
    "split_mode": ("split_mode", _named(_SPLITS)),
    "main_gpu": ("main_gpu", _whole),
    "n_batch": ("batch_tok", _whole),
    "n_ubatch": ("ubatch_tok", _whole),
    "n_threads": ("threads", _whole),
    "n_threads_batch": ("threads_batch", _whole),
    "type_k": ("cache_type_k", _named(_TYPES)),
    "type_v": ("cache_type_v", _named(_TYPES)),
    "offload_kqv": ("kv_offload", _truth),
    "seed": ("seed", _whole),
    "rope_scaling_type": ("rope_scaling", _named(_ROPE_TYPES)),
    "rope_freq_base": ("rope_freq_base", _decimal),
    "rope_freq_scale": ("rope_freq_scale", _decimal),
    "yarn_orig_ctx": ("yarn_orig_ctx_tok", _whole),
    "yarn_ext_factor": ("yarn_ext_factor", _decimal),
    "yarn_attn_factor": ("yarn_attn_factor", _decimal),
    "yarn_beta_fast": ("yarn_beta_fast", _decimal),
    "yarn_beta_slow": ("yarn_beta_slow", _decimal),
    "clip_model_path": ("mmproj_path", _text),
    "lora_path": ("lora", lambda text: (text,)),
}
_OTHERS: dict[str, tuple[str, Callable[[str], Value | None]]] = {
    "host": ("host", _text),
    "port": ("port", _whole),
    "model_alias": ("alias", _text),
    "chat_format": ("chat_format", _text),
    "hf_tokenizer_config_path": ("hf_tokenizer_config_path", _text),
    "verbose": ("verbose", _truth),
    "cache": ("cache", _truth),
    "root_path": ("root_path", _text),
    "config_file": ("config_file", _text),
    "interrupt_requests": ("interrupt_requests", _truth),
}


def understand(invocation: Invocation) -> Found:
    """What a call of the binding's server means to the desk."""
    gathering = Gathering(TARGET, invocation)
    for written, value in _pairs(invocation.words):
        _take(gathering, written, value)
    _derive(gathering)
    if not {"model_path", "hf_repo"} & gathering.settings.keys() and (
        "config_file" not in gathering.other
    ):
        gathering.problem("no_model", "neither a model nor a repository is named")
    return gathering.found()


def _pairs(words: tuple[str, ...]) -> list[tuple[str, str | None]]:
    """Each flag with the word behind it, or with what stands behind its equals sign."""
    pairs: list[tuple[str, str | None]] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        head, sign, tail = word.partition("=")
        if sign and word.startswith("--"):
            pairs.append((head, tail))
        elif rest and word.startswith("--") and not rest[0].startswith("--"):
            pairs.append((word, rest.pop(0)))
        else:
            pairs.append((word, None))
    return pairs


def _take(gathering: Gathering, written: str, value: str | None) -> None:
    name = written.lstrip("-").replace("-", "_")
    if name == "api_key" and value is not None:
        gathering.secret(name, value)
    elif name in _KEYS and value is not None:
        key, read = _KEYS[name]
        meant = read(value)
        if meant is None:
            gathering.open(key, value, written)
        else:
            gathering.settings[key] = meant
    elif name in _OTHERS and value is not None:
        key, read = _OTHERS[name]
        gathering.understood(key, read(value))
    elif not _take_special(gathering, name, value) and not _is_sampler(gathering, name, value):
        gathering.problem("unknown_flag", f"{written} is no setting that TuneDeck has")
        shown = "REDACTED" if is_secret_name(name) else value
        gathering.keep_words((written, *([shown] if shown is not None else [])))


def _take_special(gathering: Gathering, name: str, value: str | None) -> bool:
    """Flags that are worded otherwise in llama.cpp itself."""
    flag = truth(value) if value is not None else None
    match name:
        case "flash_attn" if flag is not None:
            gathering.settings["flash_attn"] = "on" if flag else "off"
        case "use_mmap" | "use_mlock" if flag is not None:
            gathering.other[name] = flag
        case "tensor_split" if value is not None:
            parts = tuple(value.replace(",", " ").split())
            gathering.settings["tensor_split"] = parts
        case "draft_model_num_pred_tokens" if value is not None and whole(value) is not None:
            gathering.settings["draft_n_max"] = whole(value)
        case "draft_model" if value is not None:
            gathering.other["draft_model"] = value
            gathering.problem(
                "no_heir",
                "its drafts copy from the prompt; ngram-simple is the nearest kind of llama.cpp",
            )
        case _:
            return False
    return True


def _is_sampler(gathering: Gathering, name: str, value: str | None) -> bool:
    """Whether a library of chains sets a sampler where it loads, and takes it then."""
    is_python = gathering.invocation.kind == "python"
    return is_python and value is not None and take_sampler(gathering, name, value)


def _derive(gathering: Gathering) -> None:
    """One slot with the whole context, which is short where nothing is said."""
    settings = gathering.settings
    mapped, locked = gathering.other.get("use_mmap"), gathering.other.get("use_mlock")
    if locked is True:
        settings["load_mode"] = "mlock" if mapped is False else "mmap+mlock"
    elif mapped is not None:
        settings["load_mode"] = "mmap" if mapped else "none"
    gathering.setting("slots", 1, derived=True)
    gathering.setting("kv_unified", value=False, derived=True)
    total = settings.get("ctx_total_tok")
    if "ctx_total_tok" not in settings:
        default_tok = 512 if gathering.invocation.kind == "python" else 2048
        gathering.note(f"Its context is {default_tok:,} tokens where no n_ctx is said.")
    elif isinstance(total, int) and total > 0:
        gathering.setting("ctx_per_slot_tok", total, derived=True)
    if "n_gpu_layers" not in settings:
        gathering.note("It leaves every layer on the CPU where no --n_gpu_layers is said.")
