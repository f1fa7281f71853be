"""The flags of llama.cpp's server that draft tokens ahead."""

from __future__ import annotations

from app.export.llama_extras import names_draft
from app.export.llama_flag import Flag, Situation
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY, MODEL_KINDS, kinds_that_use
from engine_bridge.settings.table import BY_KEY, SETTINGS

_NGRAM_FLAGS = {
    "ngram_size_n": "--spec-{kind}-size-n",
    "ngram_size_m": "--spec-{kind}-size-m",
    "ngram_min_hits": "--spec-{kind}-min-hits",
    "ngram_mod_n_match": "--spec-{kind}-n-match",
    "ngram_mod_n_min": "--spec-{kind}-n-min",
    "ngram_mod_n_max": "--spec-{kind}-n-max",
}
NGRAM_KEYS = tuple(_NGRAM_FLAGS)
"""Settings that each kind of draft has a flag of its own for."""
_LOOKUP_FLAGS = (("lookup_cache_static_path", "-lcs"), ("lookup_cache_dynamic_path", "-lcd"))
_DRAFT_LAYERS = "draft_n_gpu_layers"
DRAFT_KEYS = tuple(setting.key for setting in SETTINGS if setting.key.startswith("draft_"))


def ngram_flags(key: str, kinds: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """The flags that say the setting ``key``, one of ``NGRAM_KEYS``.

    Args:
        key: The setting.
        kinds: The kinds of drafts in use; all that the setting is of where it is None.
    """
    users = KINDS_OF_KEY[key] if kinds is None else kinds_that_use(key, kinds)
    return tuple(_NGRAM_FLAGS[key].format(kind=kind) for kind in users)


def _speculation(s: Situation) -> tuple[str, ...]:
    config = s.config
    if not config.spec_types:
        return ()
    written: tuple[str, ...] = ("--spec-type", ",".join(config.spec_types))
    # The program has a set of these for each kind, the desk one for the kinds that are on.
    for key in NGRAM_KEYS:
        for flag in ngram_flags(key, config.spec_types):
            written += (flag, str(getattr(config, key)))
    for key, flag in _LOOKUP_FLAGS:
        path = getattr(config, key)
        if path and kinds_that_use(key, config.spec_types):
            written += (flag, path)
    return written


def _draft_model(s: Situation) -> tuple[str, ...]:
    """Nothing without such a kind: the program would load the file all the same."""
    config = s.config
    if not _drafts_by_model(config):
        return ()
    written: tuple[str, ...] = ()
    if _has_draft_file(config):
        written += ("-md", config.draft_model_path)
    written += ("--spec-draft-n-max", str(config.draft_n_max))
    if config.draft_n_min:
        written += ("--spec-draft-n-min", str(config.draft_n_min))
    if config.draft_p_min:
        written += ("--spec-draft-p-min", str(config.draft_p_min))
    if names_draft(config):
        written += ("-ngld", _draft_layers(s))
    return (*written, "-ctkd", config.draft_cache_type_k, "-ctvd", config.draft_cache_type_v)


def _drafts_by_model(config: EngineConfig) -> bool:
    return any(kind in config.spec_types for kind in MODEL_KINDS) and (
        config.uses_mtp or names_draft(config)
    )


def _has_draft_file(config: EngineConfig) -> bool:
    """Also for kinds that the desk does not run itself."""
    return _drafts_by_model(config) and bool(config.draft_model_path)


def _draft_layers(s: Situation) -> str:
    wanted = s.config.draft_n_gpu_layers
    has_no_gpu = s.config.n_gpu_layers != 0 and s.effective and s.effective.n_gpu_layers == 0
    if has_no_gpu:
        return "0"
    return str(wanted) if isinstance(wanted, int) else "all"


SPECULATION: tuple[Flag, ...] = (
    Flag(("spec_types", *KINDS_OF_KEY), _speculation),
    Flag(DRAFT_KEYS, _draft_model),
)


def without_effect(s: Situation) -> dict[str, str]:
    """Settings whose values the line leaves out because nothing drafts by them, with the reason."""
    config = s.config
    reasons: dict[str, str] = {}
    for key, kinds in KINDS_OF_KEY.items():
        if not kinds_that_use(key, config.spec_types) and _is_moved(s, key):
            reasons[key] = f"It has no effect while {' or '.join(kinds)} does not draft."
    for key in DRAFT_KEYS:
        if not _drafts_by_model(config) and _is_moved(s, key):
            reasons[key] = "It has no effect while no model drafts."
    if _drafts_by_model(config) and not names_draft(config) and _is_moved(s, _DRAFT_LAYERS):
        reasons[_DRAFT_LAYERS] = (
            "It has no effect without a draft model: the guessing layers are the model's own."
        )
    return reasons


def _is_moved(s: Situation, key: str) -> bool:
    return bool(getattr(s.config, key) != BY_KEY[key].default)
