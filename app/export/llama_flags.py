"""The settings as flags of llama.cpp's server, version 0.5.0 (``common/arg.cpp`` of its tree).

Both dialects of that program share them; each says in ``Situation`` what it calls it. Settings left
to ``auto`` are written as what the engine made of them, so that the line describes the program
whose memory was predicted. Must not know a shell.
"""

from __future__ import annotations

from app.export import llama_extras, llama_more_sampling, llama_placement, llama_speculation
from app.export.llama_caches import CACHES
from app.export.llama_extras import EXTRAS, OTHERS
from app.export.llama_flag import Flag, Situation, said
from app.export.llama_more_sampling import MORE_SAMPLING
from app.export.llama_placement import PLACEMENT, asks_for_absent_gpu
from app.export.llama_sampling import SAMPLING
from app.export.llama_speculation import SPECULATION
from app.quoting import has_stray_bytes
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import MODEL_KINDS

# Settings without a flag, each with the reason.
NOT_CARRIED = {
    "prefill_chunk_tok": (
        "{program} has no limit on the prompt tokens of a step but -b: a long prompt can make "
        "other streams wait."
    ),
}


def words(situation: Situation) -> tuple[str, ...]:
    """All flags with their values, without the program."""
    return tuple(word for flag in FLAGS for word in flag.words(situation))


def _of_settings(situation: Situation) -> tuple[str, ...]:
    return tuple(word for flag in FLAGS if flag is not OTHERS for word in flag.words(situation))


def notes(situation: Situation) -> tuple[str, ...]:
    """What the user should know before running the line."""
    config, effective, program = situation.config, situation.effective, situation.program
    said = []
    if not config.model_path and not llama_extras.names_model(config):
        said.append("No model is chosen, so the line names none: add -m FILE.")
    needs_draft_model = set(config.spec_types) & (MODEL_KINDS.keys() - {"draft-mtp"})
    if needs_draft_model and not llama_extras.names_draft(config):
        said.append("No draft model is chosen, so the line names none: add -md FILE.")
    if has_stray_bytes(config.model_path) or has_stray_bytes(config.draft_model_path):
        said.append(
            "The model's name holds bytes that are no UTF-8; the line needs bash, zsh or ksh."
        )
    # Those that read prompts are as many unless they are said.
    if effective is None and config.threads == "auto":
        said.append(
            f"Automatic threads are left to {program}, which takes the physical cores: no "
            "engine has said yet what it takes here."
        )
    if asks_for_absent_gpu(situation):
        said.append(
            f"No layer is on a GPU here, so the line says -ngl 0; {config.n_gpu_layers} were "
            "asked for."
        )
    if config.max_new_tok == 0:
        said.append(f"With -n 0 {program} still writes one token.")
    if situation.facts is not None and situation.facts.recommends_sampling:
        said.append(
            f"The model file recommends sampling values of its own, which {program} would take "
            "for any that the line does not say: so it says all that are set here."
        )
    said.extend(llama_placement.notes(situation))
    said.extend(llama_extras.notes(situation))
    said.extend(llama_extras.notes_on_others(situation, _of_settings(situation)))
    said.extend(llama_more_sampling.notes(situation))
    said.append(_memory_note(config, program))
    return tuple(said)


def _memory_note(config: EngineConfig, program: str) -> str:
    kept, forbidding = [], []
    if config.cache_ram_mib:
        most = f"up to {config.cache_ram_mib:,} MiB"
        kept.append(f"prompts ({most if config.cache_ram_mib > 0 else 'without a limit'})")
        forbidding.append("--cache-ram 0")
    if config.ctx_checkpoints:
        kept.append(
            f"up to {config.ctx_checkpoints:,} checkpoints a slot, where a model needs them"
        )
        forbidding.append("-ctxcp 0")
    said = f"-fit off keeps {program} to the memory shown here."
    if not kept:
        return said
    return (
        f"{said} Beside that, {program} keeps in RAM {' and '.join(kept)}, without a look whether "
        f"there is room; {' '.join(forbidding)} would forbid it."
    )


def not_carried(situation: Situation) -> dict[str, str]:
    """Settings whose values the line does not say, each with the reason."""
    config = situation.config
    reasons = {key: why.format(program=situation.program) for key, why in NOT_CARRIED.items()}
    if not config.kv_unified and config.ctx_total_tok != "auto":
        reasons["ctx_total_tok"] = "Without a shared pool it always is slots × context per slot."
    reasons |= llama_speculation.without_effect(situation)
    reasons |= llama_more_sampling.without_effect(situation)
    return reasons


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
    said("-ctk", "cache_type_k"),
    said("-ctv", "cache_type_v"),
    Flag(("flash_attn",), _flash_attention),
    *SPECULATION,
    *CACHES,
    *PLACEMENT,
    *EXTRAS,
    said("-b", "batch_tok"),
    said("-ub", "ubatch_tok"),
    Flag(("threads", "threads_batch"), _threads),
    *SAMPLING,
    *MORE_SAMPLING,
    # The program would change what is not said to fit it into memory.
    Flag((), lambda _: ("-fit", "off")),
    OTHERS,
)
