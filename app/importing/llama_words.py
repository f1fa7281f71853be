"""Calls of llama.cpp's programs as settings of the desk.

Words win over variables, as in the program itself; what a preset says by keys is read as the flags
that the keys stand for.
"""

from __future__ import annotations

from app.importing.found import Found
from app.importing.found_settings import NOT_IN_TEXT, settings_for
from app.importing.invocation import Invocation
from app.importing.llama_bench_words import as_server_flags
from app.importing.llama_checks import check
from app.importing.llama_environment import flags_in
from app.importing.llama_gathering import LlamaGathering
from app.importing.llama_heirs import with_heirs
from app.importing.llama_meanings import FLAG_OF_KEY
from app.importing.llama_preset import flags_of
from app.importing.llama_rules import derive
from app.importing.llama_scan import scan
from app.importing.llama_tools import BENCH, Tool, tell_age, tool_of
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem, Severity
from engine_bridge.settings.rules import problems_of

# Told of in words of their own.
_TOLD_ELSEWHERE = ({"ubatch_tok", "batch_tok"},)
_OF_CONTEXT = ("ctx_per_slot_tok", "ctx_total_tok", "slots", "kv_unified")
# Kinds of text in which the first name is the model's alias.
_TITLED = ("llama-swap", "preset")


def understand(invocation: Invocation) -> Found:
    """What ``invocation`` of a program of llama.cpp means to the desk."""
    tool = tool_of(invocation)
    gathering = LlamaGathering(tool.target, invocation)
    tell_age(invocation, tool.target, gathering)
    _take_flags(tool, gathering)
    if invocation.kind in _TITLED and invocation.title:
        gathering.other.setdefault("alias", invocation.title)
    derive(gathering, is_server=tool.is_server)
    check(gathering, is_server=tool.is_server)
    _tell_contradictions(gathering)
    return gathering.found()


def _take_flags(tool: Tool, gathering: LlamaGathering) -> None:
    invocation = gathering.invocation
    of_env, gathering.env = flags_in(invocation.env, tool.vocabulary, gathering)
    of_file = flags_of(invocation.values, tool.vocabulary, gathering)
    of_words = scan(tool.words, tool.vocabulary, gathering)
    said = {one.id for one in of_words if one.word is not None}
    for one in of_env:
        if one.id in said:
            gathering.note(f"{one.written} is set as well, and the flag wins.")
    flags = [*(one for one in of_env if one.id not in said), *of_file, *of_words]
    flags = with_heirs(flags, tool.vocabulary, gathering)
    if tool.target == BENCH:
        flags = as_server_flags(flags, gathering)
    for one in flags:
        gathering.take(one)


# --- What contradicts -----------------------------------------------------------------------------


def _tell_contradictions(gathering: LlamaGathering) -> None:
    """Values out of their bounds, and settings that do not go together."""
    usable = settings_for(gathering.found())
    for key, why in usable.left_out.items():
        if key == "extra_flags":
            gathering.note(f"Not every other flag can be kept: {why}")
        value = gathering.settings.get(key)
        is_told = value is None or key in FLAG_OF_KEY or key in _OF_CONTEXT
        if not is_told and not why.endswith(NOT_IN_TEXT):
            gathering.problem("odd_value", f"{key}: {why}")
    values: dict[str, object] = dict(usable.values)
    config = EngineConfig().with_values(values)
    for problem in problems_of(config):
        _tell(problem, gathering)


def _tell(problem: Problem, gathering: LlamaGathering) -> None:
    keys = set(problem.keys)
    if keys in _TOLD_ELSEWHERE or not keys & gathering.settings.keys():
        return
    if "draft_model_path" in keys and "draft_hf_repo" in gathering.settings:
        return  # the draft model is one of the hub
    if problem.severity is Severity.ERROR:
        gathering.problem("contradiction", problem.message)
    else:
        gathering.note(problem.message)
