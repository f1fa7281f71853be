"""Programs of unknown names that get what only llama.cpp's server gets.

A build may be renamed and a name mistyped; what stands behind it tells the program all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from app.export.engine_words import engine_words
from app.importing.invocation import Invocation
from app.importing.llama_scan import begins_flag
from app.importing.name_sets import names

_MODEL = names("-m --model")
_REPOSITORY = names("-hf -hfr --hf-repo")
# Other programs take a model and threads as well; these are of engines for text.
_OF_SERVERS = names(
    "-c --ctx-size -ngl --gpu-layers --n-gpu-layers -np --parallel -ctk --cache-type-k -ctv "
    "--cache-type-v -ncmoe --n-cpu-moe -cmoe --cpu-moe -ot --override-tensor"
)
_WEIGHTS = re.compile(r"\.gguf$", re.IGNORECASE)
_SHOWN_CHARACTERS = 40


def look_alikes(calls: Iterable[Invocation]) -> list[Invocation]:
    """The calls that can only be llama-server's by their words, as calls of it.

    Args:
        calls: Of programs that nobody knows.
    """
    return [_as_server(each) for each in calls if each.program and _is_alike(each)]


def _is_alike(call: Invocation) -> bool:
    """Whether a model, a flag of servers and nothing but flags of llama.cpp stand there."""
    engine = engine_words("llama_cpp")
    flags = [word for word in call.words if begins_flag(word)]
    if not flags or not all(engine.flag(flag.partition("=")[0]) for flag in flags):
        return False
    pairs = zip(call.words, call.words[1:], strict=False)
    has_model = any(
        flag in _REPOSITORY or (flag in _MODEL and _WEIGHTS.search(value)) for flag, value in pairs
    )
    return has_model and bool(_OF_SERVERS.intersection(flags))


def _as_server(call: Invocation) -> Invocation:
    name = call.program[:_SHOWN_CHARACTERS]
    told = f"foreign_program: {name} is no program that is known here"
    if name.startswith(("$", "%")):
        told = f"unresolved_variable: {name} is the program and has no value in this text"
    told += "; all its flags are llama.cpp's, so it is read as llama-server"
    return replace(call, program="llama-server", problems=(told, *call.problems))
