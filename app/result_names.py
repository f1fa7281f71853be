"""Settings in sentences, titles and names as the window calls them: ``slots=2`` is ``2 slots``.

The history and the command line write the keys that a command line takes; in the window a setting
has the label and the unit of the tune column. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from app.experiments.experiment import Cell, Experiment
from engine_bridge.settings.domain import PathDomain
from engine_bridge.settings.table import BY_KEY

_KEY = "|".join(sorted(BY_KEY, key=len, reverse=True))
_KEYS = rf"(?<![\w./-])((?:{_KEY})(?:\+(?:{_KEY}))*)"
_ASSIGNED = re.compile(rf"{_KEYS}=([^\s,;()]*[^\s,;().:])")
# What a sweep varies, as its title has it: ``slots 1/2/4``. A word alone may be no setting.
_VARIED = re.compile(rf"{_KEYS} ([^\s,;/×]+(?:/[^\s,;/×]+)+)(?=$|[\s,;×])")
_COUNTED = {"slots": "slot", "threads": "thread", "threads_batch": "prefill thread"}
_CACHES = ("cache_type_k", "cache_type_v")


def said(text: str) -> str:
    """``text`` with every setting in it as the window calls it."""
    if "=" not in text and "/" not in text:
        return text
    return _VARIED.sub(_varied, _ASSIGNED.sub(_assigned, text))


def setting_label(keys: Sequence[str]) -> str:
    """What settings that change together are called: ``Context per slot``, ``KV cache``."""
    if tuple(keys) == _CACHES:
        return "KV cache"
    return " + ".join(BY_KEY[key].label if key in BY_KEY else key for key in keys)


def setting_said(keys: Sequence[str], value: str) -> str:
    """A setting with its value: ``Context per slot 1,024 tok``, ``1 thread``.

    Args:
        keys: The setting, or several that have the same value.
        value: As the setting's domain writes it.
    """
    number = _number(value)
    noun = _COUNTED.get(keys[0])
    if noun is not None and len(keys) == 1:
        return f"{number} {noun}{'' if value == '1' else 's'}" if number else f"{noun}s {value}"
    unit = BY_KEY[keys[0]].unit if keys[0] in BY_KEY else ""
    return f"{setting_label(keys)} {number or value}" + (f" {unit}" if unit and number else "")


def said_experiment(experiment: Experiment) -> Experiment:
    """``experiment`` with the words of the window in its title, its sentences and its names."""
    return msgspec.structs.replace(
        experiment,
        title=said(experiment.title),
        conclusion=tuple(map(said, experiment.conclusion)),
        cells=tuple(map(_cell, experiment.cells)),
    )


# --- Inside -----------------------------------------------------------------------------


def _cell(cell: Cell) -> Cell:
    return msgspec.structs.replace(
        cell, name=said(cell.name), skipped=said(cell.skipped), notes=tuple(map(said, cell.notes))
    )


def _assigned(found: re.Match[str]) -> str:
    keys = found[1].split("+")
    return found[0] if _is_path(keys) else setting_said(keys, found[2])


@lru_cache(maxsize=512)
def _number(value: str) -> str:
    """``1,024`` of ``1024``; empty of what is no number."""
    try:
        return f"{int(value):,}"
    except ValueError:
        return ""


def _varied(found: re.Match[str]) -> str:
    keys, values = found[1].split("+"), found[2].split("/")
    if _is_path(keys):
        return found[0]
    shown = [_number(value) or value for value in values]
    unit = BY_KEY[keys[0]].unit if all(map(_number, values)) else ""
    noun = _COUNTED.get(keys[0]) if len(keys) == 1 else None
    label = f"{noun}s" if noun else setting_label(keys)
    return f"{label} {', '.join(shown)}" + (f" {unit}" if unit else "")


def _is_path(keys: Sequence[str]) -> bool:
    return isinstance(BY_KEY[keys[0]].domain, PathDomain)
