"""How one sampler is called elsewhere: by the hub's files, by Ollama, by KoboldCpp."""

from __future__ import annotations

from collections.abc import Mapping

from app.importing.gathering import Gathering
from app.importing.typed_numbers import truth, whole
from engine_bridge.settings.domain import FlagDomain, IntDomain
from engine_bridge.settings.table import BY_KEY

SAME_NAME = (
    "temperature", "top_k", "top_p", "min_p", "typical_p", "presence_penalty",
    "frequency_penalty", "seed", "mirostat", "dynatemp_range", "dynatemp_exponent",
    "xtc_threshold", "xtc_probability", "dry_multiplier", "dry_base", "adaptive_target",
    "adaptive_decay", "ignore_eos",
)  # fmt: skip
_OTHER_NAMES = {
    "repetition_penalty": "repeat_penalty",
    "repeat_penalty": "repeat_penalty",
    "rep_pen": "repeat_penalty",
    "repeat_last_n": "repeat_last_n_tok",
    "rep_pen_range": "repeat_last_n_tok",
    "typical": "typical_p",
    "nsigma": "top_n_sigma",
    "mirostat_tau": "mirostat_ent",
    "mirostat_eta": "mirostat_lr",
    "dry_allowed_length": "dry_allowed_tok",
    "dry_penalty_last_n": "dry_last_n_tok",
    "sampler_seed": "seed",
    "ban_eos_token": "ignore_eos",
    "max_new_tokens": "max_new_tok",
    "max_tokens": "max_new_tok",
    "max_length": "max_new_tok",
    "num_predict": "max_new_tok",
}
KEYS: Mapping[str, str] = {name: name for name in SAME_NAME} | _OTHER_NAMES
"""Names of samplers elsewhere, each with the setting that is the same."""


def take_sampler(gathering: Gathering, name: str, text: str) -> bool:
    """Set the sampler that another program calls ``name``.

    Returns:
        Whether there is such a setting.
    """
    key = KEYS.get(name)
    if key is None:
        return False
    if name == "top_k" and whole(text) == -1:
        gathering.setting("top_k", 0)  # every token: 0 is how llama.cpp says it
    elif isinstance(BY_KEY[key].domain, FlagDomain):
        _take_flag(gathering, key, text, name)
    elif isinstance(BY_KEY[key].domain, IntDomain):
        gathering.whole(key, text, name)
    else:
        gathering.decimal(key, text, name)
    return True


def _take_flag(gathering: Gathering, key: str, text: str, name: str) -> None:
    on = truth(text)
    if on is None:
        gathering.open(key, text, name)
    else:
        gathering.setting(key, on)
