"""Workloads as words of a command line, and in words for the reader."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from app.experiments.lengths import Lengths, lengths_of
from app.experiments.presets import preset_workload
from app.experiments.texts import user_text
from app.experiments.workload import LIMIT_USERS, Material, Workload
from app.experiments.workload_error import WorkloadError
from app.experiments.workload_file import read_workload
from engine_bridge.settings.home_path import home_path, whole_path
from engine_bridge.typed_text import LONGEST_NUMBER, quoted, whole_number

_NONE = ("", "none")


def workload_of(words: Sequence[str]) -> Workload:
    """A workload from a preset or a file and what is to be changed in it.

    Args:
        words: The name of a preset, or the path of a JSON file (it ends in ``.json`` or has a
            folder in it), then any ``key=value``.

    Raises:
        WorkloadError: If there is no such workload, or it or its text cannot be used.
        DomainError: If a path begins with a home folder that there is none of.
    """
    name, *changes = words
    is_file = name.lower().endswith(".json") or len(Path(name).parts) > 1
    base = read_workload(home_path(name)) if is_file else preset_workload(name)
    workload = changed(base, changes)
    if workload.material is Material.FILE:
        # Here already, before an engine is started for nothing.
        user_text(Path(workload.text_path))
    return workload


def changed(base: Workload, words: Sequence[str]) -> Workload:
    """``base`` with other values.

    Where ``requests`` is not given, each user keeps as many conversations as in ``base``. A
    ``text_path`` makes the prompts of that text; ``material=file`` need not be said.

    Args:
        base: A workload without problems.
        words: ``key=value``; the last word for a key counts.

    Raises:
        WorkloadError: For a word that is none, or values that cannot be used.
        DomainError: If a path begins with a home folder that there is none of.
    """
    values: dict[str, object] = {}
    for word in words:
        key, found, text = word.partition("=")
        key = key.strip()
        if not found:
            raise WorkloadError(f"--set-workload takes key=value; {quoted(word)} has no '='.")
        read = _READERS.get(key)
        if read is None:
            near = difflib.get_close_matches(key, _READERS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(_READERS)}."
            raise WorkloadError(f"A workload has no {quoted(key)}. {hint}")
        values[key] = read(key, text.strip())
    if values.get("text_path"):
        values.setdefault("material", Material.FILE)
    workload = msgspec.structs.replace(base, **values)
    if "requests" not in values and 1 <= workload.users <= LIMIT_USERS and workload.turns > 0:
        per_user = base.conversations / base.users
        requests = round(per_user * workload.users) * workload.turns
        workload = msgspec.structs.replace(workload, requests=requests)
    workload.check()
    return workload


def summary(workload: Workload, *, counts: bool = True) -> str:
    """A workload in one line; without ``counts`` it says nothing of how many users and requests."""
    parts = [_arrival(workload, counts=counts)]
    if workload.recording is not None:
        parts.append(f"“{workload.recording.title}” replayed")
    else:
        parts.append(f"prompts of {workload.prompt_tok.words}")
        if workload.later_tok is not None:
            parts.append(f"later ones of {workload.later_tok.words}")
        parts.append(f"answers of {workload.answer_tok.words}")
    turns = _count(workload.turns, "turn")
    parts.append(
        f"{_count(workload.requests, 'request')} of {turns}" if counts else f"{turns} each"
    )
    if workload.prefix_tok and workload.recording is None:
        parts.append(f"{workload.prefix_tok:,} tokens in common ({workload.prefix_share:.0%})")
    for name, limit_s in (("TTFT", workload.ttft_slo_s), ("TPOT", workload.tpot_slo_s)):
        if limit_s is not None:
            parts.append(f"{name} at most {limit_s:g} s")
    return f"{workload.name}: {', '.join(parts)}"


def limits_text(workload: Workload) -> str:
    """What a good request keeps: ``TTFT ≤ 2 s and TPOT ≤ 80 ms``; empty without limits."""
    told = [
        f"{name} ≤ {_plain_time(limit_s)}"
        for name, limit_s in (("TTFT", workload.ttft_slo_s), ("TPOT", workload.tpot_slo_s))
        if limit_s is not None
    ]
    return " and ".join(told)


# --- Inside -----------------------------------------------------------------------------


def _arrival(workload: Workload, *, counts: bool) -> str:
    if workload.rate_req_s is not None:
        rate = f"{workload.rate_req_s:g} requests a second" if counts else "requests"
        return f"{rate} (Poisson)"
    users = _count(workload.users, "user") if counts else "users"
    return f"{users} with pauses of {workload.think_s:g} s" if workload.think_s else users


def _plain_time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _whole(key: str, text: str) -> int:
    try:
        return whole_number(text)
    except ValueError:
        size = f" of at most {LONGEST_NUMBER} digits" if len(text) > LONGEST_NUMBER else ""
        raise WorkloadError(f"{key} takes a whole number{size}; got {quoted(text)}.") from None


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WorkloadError(f"{key} takes a number; got {quoted(text)}.") from None


def _number_or_none(key: str, text: str) -> float | None:
    return None if text.lower() in _NONE else _number(key, text)


def _lengths_or_none(key: str, text: str) -> Lengths | None:
    return None if text.lower() in _NONE else lengths_of(key, text)


def _material(key: str, text: str) -> Material:
    # A conversation cannot be named by a word.
    choices = [str(each) for each in Material if each is not Material.CONVERSATION]
    if text not in choices:
        raise WorkloadError(f"{key} takes one of {', '.join(choices)}; got {quoted(text)}.")
    return Material(text)


def _path(_key: str, text: str) -> str:
    return whole_path(text) if text else ""


def _word(_key: str, text: str) -> str:
    return text


_READERS: Mapping[str, Callable[[str, str], object]] = {
    "name": _word,
    "material": _material,
    "prompt_tok": lengths_of,
    "answer_tok": lengths_of,
    "later_tok": _lengths_or_none,
    "turns": _whole,
    "requests": _whole,
    "prefix_share": _number,
    "users": _whole,
    "think_s": _number,
    "rate_req_s": _number_or_none,
    "ttft_slo_s": _number_or_none,
    "tpot_slo_s": _number_or_none,
    "seed": _whole,
    "text_path": _path,
}
