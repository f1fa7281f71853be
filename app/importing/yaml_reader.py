"""A text in YAML: containers, llama-swap's models, or settings of an engine.

Knows which of them it is; must not know any engine's keys.
"""

from __future__ import annotations

import re

from app.importing.call import is_read_by_engines
from app.importing.compose_reader import containers_in
from app.importing.invocation import Invocation
from app.importing.llama_swap_reader import models_in
from app.importing.text_error import TextError
from app.importing.yaml_text import Node, documents_of, flat, mappings_in, texts_of

# YAML in a text in YAML, as compose has the files of containers.
_DEEPEST = 2
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
_LOOKS_LIKE_YAML = re.compile(r"^[ \t]*[\w.-]+:(?:[ \t]|$)", re.MULTILINE)


def read_yaml(text: str) -> tuple[Invocation, ...]:
    """What ``text`` starts or sets.

    Raises:
        TextError: If it is no YAML.
    """
    found: list[Invocation] = []
    for document in documents_of(text):
        found += _read_document(document, 0)
    return tuple(found)


def _read_document(document: Node, depth: int) -> list[Invocation]:
    if isinstance(document, list) and texts_of(document):
        return _flags(texts_of(document))
    if isinstance(document, list) and all(map(_is_pair, document)):
        # Pairs of names and values alone, as they stand behind "env:".
        document = {"name": "", "env": document}
    swapped = list(models_in(document))
    contained = [] if swapped else list(containers_in(document))
    inside = _texts_inside(document, depth) if depth < _DEEPEST else []
    found = [*swapped, *inside, *contained]
    if found or depth or not isinstance(document, dict):
        return found
    if all(isinstance(value, str) and _VARIABLE.fullmatch(key) for key, value in document.items()):
        return list(containers_in({"environment": document}))
    variables = _variables_inside(document)
    if variables:
        return list(containers_in({"environment": variables}))
    return [Invocation("yaml", "", values=flat(document))]


def _variables_inside(document: Node) -> dict[str, Node]:
    """Variables of engines, wherever a chart or a map of settings has them."""
    found: dict[str, Node] = {}
    for _, mapping in mappings_in(document):
        name = mapping.get("name")
        if isinstance(name, str) and _is_pair(mapping) and is_read_by_engines(name):
            found[name] = mapping.get("value", "")
        found |= {key: value for key, value in mapping.items() if is_read_by_engines(key)}
    return found


def _is_pair(node: Node) -> bool:
    return isinstance(node, dict) and not set(node) - {"name", "value", "valueFrom"}


def _flags(words: list[str]) -> list[Invocation]:
    """A list alone, as it stands behind ``args:``, ``command:`` or ``environment:``."""
    if any(word.startswith("-") for word in words):
        return list(containers_in({"args": list(words), "name": ""}))
    if all(re.match(r"[A-Za-z_]\w*=", word) for word in words):
        return list(containers_in({"environment": list(words)}))
    return []


def _texts_inside(document: Node, depth: int) -> list[Invocation]:
    """What texts of several lines hold: the content of a config, the data of a ConfigMap."""
    found: list[Invocation] = []
    for _, mapping in mappings_in(document):
        for value in mapping.values():
            if not isinstance(value, str) or value.count("\n") < 2:
                continue
            if not _LOOKS_LIKE_YAML.search(value):
                continue
            try:
                for inner in documents_of(value):
                    found += _read_document(inner, depth + 1)
            except TextError:
                # A text of several lines may be anything; what is no YAML is no fault.
                continue
    return found
