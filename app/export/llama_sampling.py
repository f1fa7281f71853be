"""The flags of llama.cpp's server that choose the next token."""

from __future__ import annotations

from app.export.llama_flag import Flag, Situation, said_if_changed
from engine_bridge.settings.table import BY_KEY


def is_overruled(s: Situation) -> bool:
    """Whether the program would take the model file's values for those not said."""
    return s.facts is not None and s.facts.recommends_sampling


def sampling(flag: str, key: str) -> Flag:
    """``flag VALUE`` where the program would otherwise take something else."""
    default = BY_KEY[key].default

    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        return (flag, str(value)) if is_overruled(s) or value != default else ()

    return Flag((key,), write)


SAMPLING: tuple[Flag, ...] = (
    sampling("--temp", "temperature"),
    sampling("--top-k", "top_k"),
    sampling("--top-p", "top_p"),
    sampling("--min-p", "min_p"),
    sampling("--repeat-penalty", "repeat_penalty"),
    sampling("--repeat-last-n", "repeat_last_n_tok"),
    sampling("--presence-penalty", "presence_penalty"),
    sampling("--frequency-penalty", "frequency_penalty"),
    said_if_changed("-s", "seed"),
    said_if_changed("-n", "max_new_tok"),
)
