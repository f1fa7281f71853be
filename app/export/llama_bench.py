"""``llama-bench``: what it can measure of the settings.

It loads the model as told, and in each test reads a prompt or writes tokens of one stream. It knows
no slots, no sampler and no drafts, and each of its flags takes several values, cut at commas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.export.carried import (
    Carried,
    answers_for_all,
    keys_in,
    not_carried,
    said,
    same_for,
    translated,
)
from app.export.dialect import Export, exported, refused
from app.export.llama_flag import Situation, situation_of
from app.export.llama_placement import layers_lost
from app.export.told import value_of
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import BY_KEY

TARGET = "llama-bench"
# What it reads and writes in a test unless told otherwise.
_READ_TOK, _WRITTEN_TOK = 512, 128
_ONE_STREAM = "llama-bench runs one stream; llama-batched-bench with -npl measures several."


@dataclass(frozen=True)
class _Flag:
    """How one setting is said.

    Attributes:
        key: The setting.
        words: Its words, empty where the program's default says the same.
    """

    key: str
    words: Callable[[Situation], tuple[str, ...]]


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``llama-bench`` command line."""
    situation = situation_of(config, effective, facts, TARGET, shell)
    answers = answers_for_all(_TABLE, _of_this(situation), layers_lost(situation))
    if "," in config.model_path:
        return refused(
            TARGET,
            "llama-bench cuts the model's path at its comma and looks for two files: move or "
            "rename the file.",
            answers,
        )
    words = tuple(word for flag in _FLAGS for word in flag.words(situation))
    return exported(TARGET, (TARGET, *words), _notes(situation), answers, shell)


def _notes(s: Situation) -> tuple[str, ...]:
    notes = []
    if not s.config.model_path:
        notes.append("No model is chosen, so the line names none: add -m FILE.")
    notes.append(
        f"It measures reading {_READ_TOK} tokens and writing {_WRITTEN_TOK}, five times each; "
        "-p and -n change that."
    )
    depth = s.config.slot_cap_tok - _READ_TOK
    if depth > 0:
        notes.append(
            f"A test's context is as large as the test: -d {depth} measures with a context of "
            f"{s.config.slot_cap_tok:,} tokens that is full, and takes as long as reading it."
        )
    if s.config.rpc_servers:
        notes.append("Only builds with RPC know --rpc; its workers have to run before.")
    return tuple(notes)


def _of_this(s: Situation) -> dict[str, Carried]:
    """What is not said of this configuration, though the program has a flag for it."""
    missing: dict[str, Carried] = {}
    for key in ("cache_type_k", "cache_type_v"):
        if getattr(s.config, key) == "f32":
            missing[key] = not_carried("llama-bench has no f32 cache, so it measures f16 instead.")
    if any(";" in item for item in s.config.override_tensor):
        missing["override_tensor"] = not_carried(
            "llama-bench cuts the list at every semicolon, and a pattern holds one."
        )
    return missing


def _model(s: Situation) -> tuple[str, ...]:
    return ("-m", s.config.model_path) if s.config.model_path else ()


def _layers(s: Situation) -> tuple[str, ...]:
    layers = value_of(s, "-ngl", "n_gpu_layers")
    return ("-ngl", "-1" if layers in (None, "all") else str(layers))  # -1 is all of them


def _experts(s: Situation) -> tuple[str, ...]:
    if s.config.cpu_moe:
        # There is no switch for all layers; more than there are does no harm.
        return ("-ncmoe", str(s.facts.layers if s.facts is not None else 999))
    return ("-ncmoe", str(s.config.n_cpu_moe)) if s.config.n_cpu_moe else ()


def _cache(flag: str, key: str) -> _Flag:
    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        return () if value in ("f16", "f32") else (flag, value)

    return _Flag(key, write)


def _attention(s: Situation) -> tuple[str, ...]:
    return ("-fa", value_of(s, "-fa", "flash_attn") or "auto")


def _threads(s: Situation) -> tuple[str, ...]:
    threads = value_of(s, "-t", "threads")
    return ("-t", threads) if threads is not None else ()


def _overrides(s: Situation) -> tuple[str, ...]:
    items = s.config.override_tensor
    is_cut = any(";" in item for item in items)
    return ("-ot", ";".join(items)) if items and not is_cut else ()


def _listed(flag: str, key: str, mark: str) -> _Flag:
    def write(s: Situation) -> tuple[str, ...]:
        items: tuple[str, ...] = getattr(s.config, key)
        return (flag, mark.join(items)) if items else ()

    return _Flag(key, write)


def _changed(flag: str, key: str) -> _Flag:
    default = BY_KEY[key].default

    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        return () if value == default else (flag, str(value))

    return _Flag(key, write)


def _always(flag: str, key: str) -> _Flag:
    return _Flag(key, lambda s: (flag, str(getattr(s.config, key))))


def _bit(flag: str, key: str, *, when: bool, bit: int) -> _Flag:
    """``flag BIT`` where the setting is ``when``: its switches take a number."""
    return _Flag(key, lambda s: (flag, str(bit)) if getattr(s.config, key) is when else ())


_FLAGS: tuple[_Flag, ...] = (
    # Before the devices: a worker's device exists only once the worker is named.
    _listed("--rpc", "rpc_servers", ","),
    _Flag("model_path", _model),
    _listed("-dev", "devices", "/"),
    _Flag("n_gpu_layers", _layers),
    _Flag("n_cpu_moe", _experts),
    _Flag("override_tensor", _overrides),
    _changed("-sm", "split_mode"),
    _listed("-ts", "tensor_split", "/"),
    _changed("-mg", "main_gpu"),
    _bit("-nkvo", "kv_offload", when=False, bit=1),
    _bit("-nopo", "op_offload", when=False, bit=1),
    _changed("-lm", "load_mode"),
    _changed("-lzm", "lazy_mode"),
    _bit("--no-host", "no_host", when=True, bit=1),
    _bit("--repack", "repack", when=False, bit=0),
    _cache("-ctk", "cache_type_k"),
    _cache("-ctv", "cache_type_v"),
    _Flag("flash_attn", _attention),
    _always("-b", "batch_tok"),
    _always("-ub", "ubatch_tok"),
    _Flag("threads", _threads),
)
_TABLE: dict[str, Carried] = {
    "model_path": said("-m"),
    "rpc_servers": said("--rpc"),
    "n_cpu_moe": said("-ncmoe"),
    "split_mode": said("-sm"),
    "main_gpu": said("-mg"),
    "load_mode": said("-lm"),
    "lazy_mode": said("-lzm"),
    "cache_type_k": said("-ctk"),
    "cache_type_v": said("-ctv"),
    "batch_tok": said("-b"),
    "ubatch_tok": said("-ub"),
    "threads": said("-t"),
    "devices": translated("-dev with / between devices: a comma would begin another test."),
    "n_gpu_layers": translated("-ngl as a number: what auto came to, and -1 for all."),
    "cpu_moe": translated("-ncmoe with the number of layers: there is no switch for all."),
    "override_tensor": translated("-ot with ; between items: a comma would begin another test."),
    "tensor_split": translated("-ts with / between parts: a comma would begin another test."),
    "kv_offload": translated("-nkvo 1 where the cache stays in host memory."),
    "op_offload": translated("-nopo 1 where operations stay with their weights."),
    "no_host": translated("--no-host 1."),
    "repack": translated("--repack 0 where weights are kept as they are."),
    "flash_attn": translated("-fa is what the engine decided here, where auto was asked for."),
    "threads_batch": not_carried("llama-bench reads prompts with the threads of -t."),
    "ctx_per_slot_tok": not_carried(
        "A test's context is as large as the test; -d fills it before, for as many tokens as that."
    ),
    **same_for(("slots", "kv_unified", "ctx_total_tok"), not_carried(_ONE_STREAM)),
    "prefill_chunk_tok": not_carried(
        "llama-bench runs one stream: no other waits for a long prompt."
    ),
    "fit_margin_mib": not_carried(
        "llama-bench fits nothing unless -fitt asks for it; layers are said as they were placed."
    ),
    "n_cpu_ffn": not_carried("llama-bench has no flag for it; -ot with a pattern would do it."),
    **same_for(
        ("spec_types", "draft_model_path", *keys_in(Group.NGRAM, Group.DRAFT)),
        not_carried("llama-bench does not draft."),
    ),
    **same_for(keys_in(Group.CACHE), not_carried("llama-bench keeps nothing between its tests.")),
    "swa_full": not_carried("llama-bench has no flag for it: windows have small caches there."),
    **same_for(
        ("mmproj_path", "lora", "override_kv"),
        not_carried("llama-bench loads the model alone, as its file says it is."),
    ),
    "extra_flags": not_carried("They are flags of llama-server, which llama-bench mostly lacks."),
    **same_for(
        keys_in(Group.SAMPLING, Group.MORE_SAMPLING),
        not_carried("llama-bench measures speed: it draws tokens at random, without a sampler."),
    ),
}
