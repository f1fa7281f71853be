"""The flags of llama.cpp's server that choose the next token."""

from __future__ import annotations

from app.export.llama_flag import Flag, Situation, said_if_changed
from engine_bridge.settings.table import BY_KEY


def _sampling(flag: str, key: str) -> Flag:
    """``flag VALUE`` where the program would otherwise take something else."""
    default = BY_KEY[key].default

    def write(s: Situation) -> tuple[str, ...]:
        value = getattr(s.config, key)
        is_overruled = s.facts is not None and s.facts.recommends_sampling
        return (flag, str(value)) if is_overruled or value != default else ()

    return Flag((key,), write)


SAMPLING: tuple[Flag, ...] = (
    _sampling("--temp", "temperature"),
    _sampling("--top-k", "top_k"),
    _sampling("--top-p", "top_p"),
    _sampling("--min-p", "min_p"),
    _sampling("--repeat-penalty", "repeat_penalty"),
    _sampling("--repeat-last-n", "repeat_last_n_tok"),
    _sampling("--presence-penalty", "presence_penalty"),
    _sampling("--frequency-penalty", "frequency_penalty"),
    said_if_changed("-s", "seed"),
    said_if_changed("-n", "max_new_tok"),
)
