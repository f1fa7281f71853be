"""Flags of llama-bench as those of the server, where both mean the same.

It takes numbers where the server has switches, parts values with ``/`` and ``;``, and runs every
combination of several values; the desk has one of each.
"""

from __future__ import annotations

import re

from app.export.engine_words import engine_words
from app.importing.gathering import Gathering
from app.importing.llama_meanings import key_of
from app.importing.llama_said import Said, Vocabulary
from app.importing.llama_tools import BENCH
from app.importing.typed_numbers import truth, whole

# Numbers for what are switches of the server, each with the spelling for 1 and for 0.
_SWITCHES = {
    "--no-kv-offload": ("--no-kv-offload", "--kv-offload"),
    "--no-op-offload": ("--no-op-offload", "--op-offload"),
    "--no-host": ("--no-host", ""),
    "--repack": ("--repack", "--no-repack"),
    "--embeddings": ("--embeddings", ""),
}
# What stands between the parts of one value, where the server wants a comma.
_PARTED = {"--tensor-split": "[/;]", "--device": "/", "--override-tensor": ";"}
# What it measures and prints: nothing a server could be told.
_OF_THE_BENCH = {
    "--n-prompt": "n_prompt",
    "--n-gen": "n_gen",
    "-pg": "prompt_and_gen",
    "--n-depth": "n_depth",
    "--repetitions": "repetitions",
    "--delay": "delay_s",
    "--output": "output",
    "--output-err": "output_err",
    "--progress": "progress",
}
_RANGE = re.compile(r"\d+-\d+(?:[+*]\d+)?")


def as_server_flags(said: list[Said], gathering: Gathering) -> list[Said]:
    """The flags in the server's words; what belongs to the measurement goes to ``gathering``."""
    server = Vocabulary(engine_words("llama_cpp"))
    made: list[Said] = []
    for one in said:
        name = next((n for n in _OF_THE_BENCH if one.is_called(n)), "")
        if name:
            number = whole(one.value)
            told = number if number is not None else one.value
            gathering.understood(_OF_THE_BENCH[name], told if one.values else True)
        else:
            made += _as_server_flag(one, server, gathering)
    return made


def _as_server_flag(one: Said, server: Vocabulary, gathering: Gathering) -> list[Said]:
    switch = next((n for n in _SWITCHES if one.is_called(n)), "")
    parted = next((n for n in _PARTED if one.is_called(n)), "")
    if one.word is None or one.is_called("--load-mode"):
        return [one]
    if _has_several(one, parted):
        _leave_open(one, gathering)
        return []
    if switch:
        spelling = _SWITCHES[switch][0 if truth(one.value) is not False else 1]
        return [server.said(spelling, (), one.written)] if spelling else []
    value = re.sub(_PARTED[parted], ",", one.value) if parted else one.value
    if server.flag(one.spelling) is None:
        gathering.understood(one.spelling.lstrip("-").replace("-", "_"), value or True)
        return []
    return [server.said(one.spelling, (value,) if one.values else (), one.written)]


def _has_several(one: Said, parted: str) -> bool:
    if parted:
        return "," in one.value
    is_text = one.word is None or one.word.kind in ("str", "list")
    return not is_text and ("," in one.value or _RANGE.fullmatch(one.value) is not None)


def _leave_open(one: Said, gathering: Gathering) -> None:
    gathering.problem(
        "several_values",
        f"{one.written} {one.value} asks {BENCH} for several runs; TuneDeck has one value",
    )
    key = key_of(one.word) if one.word is not None else ""
    if key:
        gathering.settings[key] = None
    else:
        gathering.understood(one.spelling.lstrip("-").replace("-", "_"), one.value)
