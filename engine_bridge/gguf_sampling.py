"""The sampling values that a model file recommends, and which settings they are.

Keys: ``general.sampling.*`` as llama.cpp's converter writes them and ``common_init_result`` takes
them for what a command line does not say (common/common.cpp). Knows no file and no engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.table import BY_KEY

PREFIX = "general.sampling."
# By what stands behind the prefix.
_SETTINGS = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_last_n": "repeat_last_n_tok",
    "penalty_repeat": "repeat_penalty",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "mirostat": "mirostat",
    "mirostat_tau": "mirostat_ent",
    "mirostat_eta": "mirostat_lr",
}
_SEQUENCE = "sequence"
# llama.cpp reads these as whole numbers.
_WHOLE = frozenset({"top_k", "penalty_last_n", "mirostat"})
# A list of all samplers has a hundred.
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class Recommended:
    """What a model file recommends.

    Attributes:
        values: Settings by key, each within its domain.
        left_out: A sentence for each recommendation that no setting can take.
    """

    values: Mapping[str, Value]
    left_out: tuple[str, ...] = ()


def sampling_in(values: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """The recommendations of a header as texts, by what stands behind ``general.sampling.``.

    Decimal numbers have six digits, as llama.cpp prints them before it reads them back: 0.6 is
    stored as 0.60000002.

    Args:
        values: The header's values by key.
    """
    found = []
    for name in (*_SETTINGS, _SEQUENCE):
        value = values.get(PREFIX + name)
        if isinstance(value, float):
            found.append((name, f"{value:.6f}"))
        elif isinstance(value, int | str):
            found.append((name, str(value)[:_MOST_CHARACTERS]))
    return tuple(found)


def recommended(sampling: tuple[tuple[str, str], ...]) -> Recommended:
    """The settings that ``sampling_in`` found, and what of it none of them can take."""
    values: dict[str, Value] = {}
    left_out: list[str] = []
    for name, text in sampling:
        key = _SETTINGS.get(name)
        if key is None:
            left_out.append(
                f"The model file recommends the order of samplers “{_shown(text)}”; TuneDeck "
                "keeps llama.cpp's own order."
            )
            continue
        setting = BY_KEY[key]
        try:
            values[key] = setting.domain.check(_number(text, is_whole=name in _WHOLE))
        except (DomainError, ValueError, OverflowError):
            left_out.append(
                f"The model file recommends {_shown(text)} for {setting.label} ({key}), which "
                "is no value of that setting; it is left as it is."
            )
    return Recommended(values, tuple(left_out))


def _number(text: str, *, is_whole: bool) -> int | float:
    """The number of a text.

    Raises:
        ValueError: If it is none.
        OverflowError: If it has no end.
    """
    number = float(text)
    # As C's strtol reads it, which stops at the point.
    return int(number) if is_whole else number


def _shown(text: str) -> str:
    return "".join(filter(str.isprintable, text)) or "nothing"
