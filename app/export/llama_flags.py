"""The settings as flags of llama.cpp's server, version 0.5.0 (``common/arg.cpp`` of its tree).

Both dialects of that program share them; each says in ``Situation`` what it calls it. Settings left
to ``auto`` are written as what the engine made of them, so that the line describes the program
whose memory was predicted. Must not know a shell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.quoting import has_stray_bytes
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY, SETTINGS

# Settings without a flag, each with the reason.
NOT_CARRIED = {
    "prefill_chunk_tok": (
        "{program} has no limit on the prompt tokens of a step but -b: a long prompt can make "
        "other streams wait."
    ),
}
_DRAFT_KEYS = tuple(setting.key for setting in SETTINGS if setting.key.startswith("draft_"))


@dataclass(frozen=True)
class Situation:
    """What a flag may depend on: the configuration, what became of it, and the model.

    Attributes:
        program: What the dialect calls the program, for sentences.
    """

    config: EngineConfig
    effective: EffectiveConfig | None
    facts: ModelFacts | None
    program: str


@dataclass(frozen=True)
class Flag:
    """How some settings are said.

    Attributes:
        keys: The settings it says.
        words: Its words on the command line, empty where the program's default says the same.
    """

    keys: tuple[str, ...]
    words: Callable[[Situation], tuple[str, ...]]


def words(situation: Situation) -> tuple[str, ...]:
    """All flags with their values, without the program."""
    return tuple(word for flag in FLAGS for word in flag.words(situation))


def notes(situation: Situation) -> tuple[str, ...]:
    """What the user should know before running the line."""
    config, effective, program = situation.config, situation.effective, situation.program
    said = []
    if not config.model_path:
        said.append("No model is chosen, so the line names none: add -m FILE.")
    if "draft-simple" in config.spec_types and config.draft is None:
        said.append("No draft model is chosen, so the line names none: add -md FILE.")
    if has_stray_bytes(config.model_path) or has_stray_bytes(config.draft_model_path):
        said.append(
            "The model's name holds bytes that are no UTF-8; the line needs bash, zsh or ksh."
        )
    if effective is None and "auto" in (config.threads, config.threads_batch):
        said.append(
            f"Automatic threads are left to {program}, which takes the physical cores: no "
            "engine has said yet what it takes here."
        )
    if _asks_for_absent_gpu(situation):
        said.append(
            f"No layer is on a GPU here, so the line says -ngl 0; {config.n_gpu_layers} were "
            "asked for."
        )
    if config.max_new_tok == 0:
        said.append(f"With -n 0 {program} still writes one token.")
    if situation.facts is not None and situation.facts.recommends_sampling:
        said.append(
            f"The model file recommends sampling values of its own, which {program} would take "
            "for any that the line does not say: so it says all of the desk's."
        )
    said.append(
        f"-fit off --cache-ram 0 -ctxcp 0 keep {program} to the memory shown here. Without the "
        "last two it also keeps prompts and checkpoints in RAM (up to 8 GiB), which spares "
        "conversations that come back the prefill."
    )
    return tuple(said)


def not_carried(situation: Situation) -> dict[str, str]:
    """Settings whose values the line does not say, each with the reason."""
    config = situation.config
    reasons = {key: why.format(program=situation.program) for key, why in NOT_CARRIED.items()}
    if not config.kv_unified and config.ctx_total_tok != "auto":
        reasons["ctx_total_tok"] = "Without a shared pool it always is slots × context per slot."
    for key in ("ngram_size_m", "ngram_size_n"):
        if "ngram-simple" not in config.spec_types and getattr(config, key) != BY_KEY[key].default:
            reasons[key] = "It has no effect while ngram-simple does not draft."
    for key in _DRAFT_KEYS:
        if config.draft is None and getattr(config, key) != BY_KEY[key].default:
            reasons[key] = "It has no effect while draft-simple does not draft."
    return reasons


def _said(flag: str, key: str) -> Flag:
    """``flag VALUE``, always."""
    return Flag((key,), lambda s: (flag, str(getattr(s.config, key))))


def _said_if_changed(flag: str, key: str) -> Flag:
    """``flag VALUE`` where the value is not the default, which is the program's as well."""
    default = BY_KEY[key].default

    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        return () if value == default else (flag, str(value))

    return Flag((key,), write)


def _sampling(flag: str, key: str) -> Flag:
    """``flag VALUE`` where the program would otherwise take something else."""
    default = BY_KEY[key].default

    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        is_overruled = s.facts is not None and s.facts.recommends_sampling
        return (flag, str(value)) if is_overruled or value != default else ()

    return Flag((key,), write)


def _switch(flag: str, key: str, *, when: bool) -> Flag:
    """``flag`` alone, where the setting is ``when``."""
    return Flag((key,), lambda s: (flag,) if getattr(s.config, key) is when else ())


def _model(s: Situation) -> tuple[str, ...]:
    return ("-m", s.config.model_path) if s.config.model_path else ()


def _pool(s: Situation) -> tuple[str, ...]:
    config = s.config
    written: tuple[str, ...] = ("-c", str(config.pool_tok), "-np", str(config.slots))
    # An explicit -np switches the shared pool off, an automatic one switches it on: say which.
    written += ("-kvu",) if config.kv_unified else ("-no-kvu",)
    if config.kv_unified and config.slot_cap_tok < config.pool_tok:
        written += ("--kv-unified-per-slot", str(config.slot_cap_tok))
    return written


def _flash_attention(s: Situation) -> tuple[str, ...]:
    value = s.config.flash_attn
    if value == "auto" and s.effective is not None and s.effective.flash_attn == "on":
        return ("-fa", "on")
    is_quantised = CACHE_TYPES[s.config.cache_type_v].is_quantised
    if value == "auto" and s.effective is not None and not is_quantised:
        return ("-fa", s.effective.flash_attn)
    # A quantised V cache turns auto into on, and refuses off.
    return ("-fa", value)


def _speculation(s: Situation) -> tuple[str, ...]:
    config = s.config
    if not config.spec_types:
        return ()
    written: tuple[str, ...] = ("--spec-type", ",".join(config.spec_types))
    if "ngram-simple" in config.spec_types:
        written += ("--spec-ngram-simple-size-n", str(config.ngram_size_n))
        written += ("--spec-ngram-simple-size-m", str(config.ngram_size_m))
    return written


def _draft_model(s: Situation) -> tuple[str, ...]:
    """Nothing without draft-simple: the program would load the file all the same."""
    config = s.config
    if config.draft is None:
        return ()
    written: tuple[str, ...] = ("-md", config.draft_model_path)
    written += ("--spec-draft-n-max", str(config.draft_n_max))
    if config.draft_n_min:
        written += ("--spec-draft-n-min", str(config.draft_n_min))
    if config.draft_p_min:
        written += ("--spec-draft-p-min", str(config.draft_p_min))
    written += ("-ngld", _draft_layers(s))
    return (*written, "-ctkd", config.draft_cache_type_k, "-ctvd", config.draft_cache_type_v)


def _draft_layers(s: Situation) -> str:
    wanted = s.config.draft_n_gpu_layers
    has_no_gpu = s.config.n_gpu_layers != 0 and s.effective and s.effective.n_gpu_layers == 0
    if has_no_gpu:
        return "0"
    return str(wanted) if isinstance(wanted, int) else "all"


def _asks_for_absent_gpu(s: Situation) -> bool:
    wanted = s.config.n_gpu_layers
    is_absent = s.effective is not None and s.effective.n_gpu_layers == 0
    return is_absent and isinstance(wanted, int) and wanted > 0


def _gpu_layers(s: Situation) -> tuple[str, ...]:
    wanted, made = s.config.n_gpu_layers, s.effective.n_gpu_layers if s.effective else None
    if made == 0:
        return ("-ngl", "0")
    if isinstance(wanted, int):
        return ("-ngl", str(wanted))
    # The output layer counts as one more.
    is_partly = made is not None and s.facts is not None and made < s.facts.layers + 1
    return ("-ngl", str(made) if is_partly else "all")


def _threads(s: Situation) -> tuple[str, ...]:
    decode: int | str = s.config.threads
    prefill: int | str = s.config.threads_batch
    if s.effective is not None:
        decode = s.effective.threads if decode == "auto" else decode
        prefill = s.effective.threads_batch if prefill == "auto" else prefill
    written = ("-t", str(decode)) if decode != "auto" else ()
    return written + (("-tb", str(prefill)) if prefill != "auto" else ())


FLAGS: tuple[Flag, ...] = (
    Flag(("model_path",), _model),
    Flag(("ctx_per_slot_tok", "ctx_total_tok", "slots", "kv_unified"), _pool),
    _said("-ctk", "cache_type_k"),
    _said("-ctv", "cache_type_v"),
    Flag(("flash_attn",), _flash_attention),
    Flag(("spec_types", "ngram_size_n", "ngram_size_m"), _speculation),
    Flag(_DRAFT_KEYS, _draft_model),
    Flag(("n_gpu_layers",), _gpu_layers),
    _switch("-nkvo", "kv_offload", when=False),
    _switch("--no-op-offload", "op_offload", when=False),
    _switch("--swa-full", "swa_full", when=True),
    _said_if_changed("-lm", "load_mode"),
    _said("-b", "batch_tok"),
    _said("-ub", "ubatch_tok"),
    Flag(("threads", "threads_batch"), _threads),
    _sampling("--temp", "temperature"),
    _sampling("--top-k", "top_k"),
    _sampling("--top-p", "top_p"),
    _sampling("--min-p", "min_p"),
    _sampling("--repeat-penalty", "repeat_penalty"),
    _sampling("--repeat-last-n", "repeat_last_n_tok"),
    _sampling("--presence-penalty", "presence_penalty"),
    _sampling("--frequency-penalty", "frequency_penalty"),
    _said_if_changed("-s", "seed"),
    _said_if_changed("-n", "max_new_tok"),
    # The program would change what is not said to fit it into memory, and keep up to 8 GiB of
    # prompts and 32 checkpoints a slot in host memory; the desk's engine has neither, so the
    # memory predicted is that of a program without them.
    Flag((), lambda _: ("-fit", "off", "--cache-ram", "0", "-ctxcp", "0")),
)
