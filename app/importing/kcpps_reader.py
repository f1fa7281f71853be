"""KoboldCpp's ``.kcpps``: its flags as keys of one JSON object.

Knows how to tell such a file; must not know what its keys mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.importing.invocation import Invocation
from app.importing.name_sets import names
from app.importing.yaml_text import Node, flat

# Some of these are in every file that KoboldCpp writes, and together in no other.
_MARKS = names(
    "model_param contextsize gpulayers blasbatchsize usecublas usecuda usevulkan useclblast "
    "flashattention noshift quantkv moeexperts skiplauncher launch onready multiuser "
    "nommap usemmap usemlock ropeconfig smartcontext debugmode"
)
_LEAST_MARKS = 2


def is_kcpps(document: Mapping[str, Node]) -> bool:
    """Whether an object has the keys that KoboldCpp writes."""
    return len(_MARKS.intersection(document)) >= _LEAST_MARKS


def read_kcpps(document: Mapping[str, Node]) -> tuple[Invocation, ...]:
    """What the file sets; keys as written, lists as several values."""
    return (Invocation("kcpps", "", values=flat(dict(document))),)
