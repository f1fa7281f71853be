"""The flags of llama.cpp's server that draft tokens ahead."""

from __future__ import annotations

from app.export.llama_flag import Flag, Situation
from engine_bridge.settings.table import SETTINGS

DRAFT_KEYS = tuple(setting.key for setting in SETTINGS if setting.key.startswith("draft_"))


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


SPECULATION: tuple[Flag, ...] = (
    Flag(("spec_types", "ngram_size_n", "ngram_size_m"), _speculation),
    Flag(DRAFT_KEYS, _draft_model),
)
