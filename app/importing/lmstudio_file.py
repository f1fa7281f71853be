"""LM Studio's files as settings: load configurations, requests to its server, and presets."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.importing.draft_words import kind_by_name
from app.importing.gathering import Gathering
from app.importing.lmstudio_names import draft_name, layer_share, take_name
from app.importing.sampling_words import take_sampler
from app.importing.typed_numbers import decimal, truth
from engine_bridge.settings.cache_type import CACHE_TYPES

# Fields of its files begin with the room that they are from.
_ROOMS = ("load_params.", "load_config.", "inference_params.", "llm.load.llama.", "llm.load.",
          "embedding.load.llama.", "embedding.load.",
          "llm.prediction.llama.", "llm.prediction.", "load.", "config.", "operation.")  # fmt: skip
# Switches that say together how the file is read.
_LOADING = {"tryMmap": "mmap", "keepModelInMemory": "mlock", "use_mmap": "mmap",
            "use_mlock": "mlock"}  # fmt: skip
# A field that can be switched off has its value beside the switch.
_SWITCH, _VALUE = ".checked", ".value"
_Taker = Callable[[Gathering, str, tuple[str, ...]], None]


def _whole(key: str) -> _Taker:
    def take(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
        if items[-1] != "false":  # not set
            gathering.whole(key, items[-1], name)

    return take


def _decimal(key: str) -> _Taker:
    def take(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
        gathering.decimal(key, items[-1], name)

    return take


def _switch(key: str) -> _Taker:
    def take(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
        on = truth(items[-1])
        if on is None:
            gathering.open(key, items[-1], name)
        else:
            gathering.setting(key, on)

    return take


def _text(key: str) -> _Taker:
    def take(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
        gathering.understood(key, items[-1])

    return take


def _is_on(gathering: Gathering, name: str, items: tuple[str, ...]) -> bool:
    on = truth(items[-1])
    if on is None:
        gathering.problem("bad_value", f"{name} is on or off, and no “{items[-1][:40]}”")
    return bool(on)


def _flash(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    gathering.setting("flash_attn", "on" if truth(items[-1]) else "off")


def _cache(*keys: str) -> _Taker:
    def take(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
        if items[-1] == "false":  # not set
            return
        for key in keys:
            if items[-1] in CACHE_TYPES:
                gathering.setting(key, items[-1])
            else:
                gathering.open(key, items[-1], name)

    return take


def _wide_cache(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if _is_on(gathering, name, items):
        _cache("cache_type_k", "cache_type_v")(gathering, name, ("f16",))


def _ratio(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    layer_share(gathering, items[-1], name)


def _experts(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if items[-1] == "max" or decimal(items[-1]) == 1:
        gathering.setting("cpu_moe", True)
    elif items[-1] == "off" or decimal(items[-1]) == 0:
        gathering.setting("cpu_moe", False)
    else:
        gathering.settings["n_cpu_moe"] = None
        gathering.problem(
            "not_transferable",
            f"{name} {items[-1]} is a share of the layers; say their number once the model is "
            "chosen",
        )


def _direct(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if _is_on(gathering, name, items):
        gathering.setting("load_mode", "dio")


def _ahead(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if _is_on(gathering, name, items):
        gathering.setting("spec_types", ("draft-mtp",))


def _simple(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if _is_on(gathering, name, items):
        gathering.setting("spec_types", ("draft-simple",))


def _draft(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if not items[-1]:
        return
    draft_name(gathering, items[-1])
    if "spec_types" not in gathering.settings:
        gathering.setting("spec_types", (kind_by_name(items[-1]),), derived=True)


def _layers(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    if items[-1] == "-1":
        gathering.setting("n_gpu_layers", "all")
    else:
        gathering.whole("n_gpu_layers", items[-1], name)


def _model(gathering: Gathering, name: str, items: tuple[str, ...]) -> None:
    take_name(gathering, items[-1])


_KEYS: dict[str, _Taker] = {
    "model": _model,
    "identifier": _text("alias"),
    "contextLength": _whole("ctx_total_tok"),
    "context_length": _whole("ctx_total_tok"),
    "maxParallelPredictions": _whole("slots"),
    "numParallelSessions": _whole("slots"),
    "useUnifiedKvCache": _switch("kv_unified"),
    "evalBatchSize": _whole("batch_tok"),
    "eval_batch_size": _whole("batch_tok"),
    "physicalBatchSize": _whole("ubatch_tok"),
    "flashAttention": _flash,
    "flash_attention": _flash,
    "offloadKVCacheToGpu": _switch("kv_offload"),
    "offload_kv_cache_to_gpu": _switch("kv_offload"),
    "llamaKCacheQuantizationType": _cache("cache_type_k"),
    "kCacheQuantizationType": _cache("cache_type_k"),
    "llamaVCacheQuantizationType": _cache("cache_type_v"),
    "vCacheQuantizationType": _cache("cache_type_v"),
    "useFp16ForKVCache": _wide_cache,
    "gpu.ratio": _ratio,
    "acceleration.offloadRatio": _ratio,
    "gpu.mainGpu": _whole("main_gpu"),
    "gpu.numCpuExpertLayersRatio": _experts,
    "tryDirectIO": _direct,
    "contextCheckpoints": _whole("ctx_checkpoints"),
    "cpuThreadPoolSize": _whole("threads"),
    "cpuThreads": _whole("threads"),
    "speculativeDraftMtp": _ahead,
    "speculativeDraftSimple": _simple,
    "speculativeDraftModel": _draft,
    "speculativeDraftMaxTokens": _whole("draft_n_max"),
    "speculativeDraftMinTokens": _whole("draft_n_min"),
    "speculativeDraftMinContinueProbability": _decimal("draft_p_min"),
    "systemPrompt": _text("system_prompt"),
    # What its presets had before its version 0.3.
    "n_ctx": _whole("ctx_total_tok"),
    "n_batch": _whole("batch_tok"),
    "n_threads": _whole("threads"),
    "n_gpu_layers": _layers,
    "main_gpu": _whole("main_gpu"),
    "pre_prompt": _text("system_prompt"),
}
# How LM Studio calls samplers.
_SAMPLERS = {
    "temperature": "temperature",
    "topKSampling": "top_k",
    "topPSampling": "top_p",
    "minPSampling": "min_p",
    "repeatPenalty": "repeat_penalty",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "maxPredictedTokens": "max_new_tokens",
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "repeat_penalty": "repeat_penalty",
    "n_predict": "max_new_tokens",
    "seed": "seed",
}


def take_file(gathering: Gathering, values: Mapping[str, tuple[str, ...]]) -> None:
    """Take what a file says; of keys that nothing here stands for the lines are kept."""
    fields = _fields(values)
    _load_mode(gathering, fields)
    left = [key for key, items in fields.items() if not _is_taken(gathering, key, items)]
    gathering.leave("LM Studio", [f"{key}: {', '.join(fields[key])}" for key in left])


def _fields(values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Keys with their values; a value with a switch before it only where that is on."""
    off = {
        key.removesuffix(_SWITCH)
        for key, items in values.items()
        if key.endswith(_SWITCH) and items[-1:] == ("false",)
    }
    plain = {
        key.removesuffix(_VALUE): items
        for key, items in values.items()
        if items and not key.endswith(_SWITCH)
    }
    return {key: items for key, items in plain.items() if key not in off}


def _load_mode(gathering: Gathering, fields: Mapping[str, tuple[str, ...]]) -> None:
    """How the file is read, which two switches say together."""
    on = {_without_room(key): truth(items[-1]) for key, items in fields.items()}
    if not on.keys() & set(_LOADING):
        return
    parts = [part for name, part in _LOADING.items() if on.get(name)]
    gathering.setting("load_mode", "+".join(parts) or "none")


def _is_taken(gathering: Gathering, key: str, items: tuple[str, ...]) -> bool:
    name = _without_room(key)
    if name in _LOADING:
        return True
    take = _KEYS.get(name)
    if take is not None:
        take(gathering, key, items)
        return True
    sampler = _SAMPLERS.get(name)
    return sampler is not None and take_sampler(gathering, sampler, items[-1])


def _without_room(key: str) -> str:
    for room in _ROOMS:
        if key.startswith(room):
            return _without_room(key.removeprefix(room))
    return key
