"""A text in YAML: containers, llama-swap's models, or settings of an engine.

Knows which of them it is; must not know any engine's keys.
"""

from __future__ import annotations

import re
from dataclasses import replace

from app.importing.call import is_read_by_engines
from app.importing.cluster_maps import Maps, config_map, config_maps_in, names_used
from app.importing.compose_reader import containers_in
from app.importing.invocation import Invocation
from app.importing.llama_swap_reader import models_in
from app.importing.text_error import TextError
from app.importing.yaml_templates import without_templates
from app.importing.yaml_text import Node, documents_of, flat, mappings_in, texts_of

# YAML in a text in YAML, as compose has the files of containers.
_DEEPEST = 2
_MOST_SHOWN = 8
# What charts call a list of flags: extraArgs, serverArgs, flags, command.
_OF_FLAGS = re.compile(r"args|flags|command|options", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
_LOOKS_LIKE_YAML = re.compile(r"^[ \t]*[\w.-]+:(?:[ \t]|$)", re.MULTILINE)


def read_yaml(text: str) -> tuple[Invocation, ...]:
    """What ``text`` starts or sets.

    Raises:
        TextError: If it is no YAML.
    """
    plain, problems, notes = without_templates(text)
    documents = documents_of(plain)
    maps, used = config_maps_in(documents), names_used(documents)
    found: list[Invocation] = []
    for document in documents:
        if config_map(document)[0] not in used:
            found += _read_document(document, 0, maps)
    return tuple(
        replace(each, problems=(*problems, *each.problems), notes=(*notes, *each.notes))
        for each in found
    )


def _read_document(document: Node, depth: int, maps: Maps) -> list[Invocation]:
    if isinstance(document, list) and texts_of(document):
        return _flags(texts_of(document))
    if isinstance(document, list) and all(map(_is_pair, document)):
        # Pairs of names and values alone, as they stand behind "env:".
        document = {"name": "", "env": document}
    swapped = list(models_in(document))
    contained = [] if swapped else list(containers_in(document, maps))
    inside = _texts_inside(document, depth) if depth < _DEEPEST else []
    found = [*swapped, *inside, *contained]
    if found or depth or not isinstance(document, dict):
        return found
    if all(isinstance(value, str) and _VARIABLE.fullmatch(key) for key, value in document.items()):
        return list(containers_in({"environment": document}))
    variables = _variables_inside(document)
    if variables:
        return list(containers_in({"environment": variables}))
    return _values_of_chart(document) or [Invocation("yaml", "", values=flat(document))]


def _values_of_chart(document: Node) -> list[Invocation]:
    """Lists of flags among the values of a chart, under whatever key it has them."""
    found: list[Invocation] = []
    for path, mapping in mappings_in(document):
        for key, value in mapping.items():
            words = texts_of(value) if isinstance(value, list) else []
            if words and words[0].startswith("-") and _OF_FLAGS.search(key):
                title = ".".join((*path, key))
                rest = [name for name in flat(document) if not name.startswith(title)]
                found += [
                    replace(each, notes=(*each.notes, *_beside(rest)))
                    for each in containers_in({"args": [*words], "name": title})
                ]
    return found


def _beside(keys: list[str]) -> tuple[str, ...]:
    if not keys:
        return ()
    shown = ", ".join(keys[:_MOST_SHOWN])
    more = f" and {len(keys) - _MOST_SHOWN} more" if len(keys) > _MOST_SHOWN else ""
    return (f"The chart alone knows what these of its values mean: {shown}{more}.",)


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
                    found += _read_document(inner, depth + 1, {})
            except TextError:
                # A text of several lines may be anything; what is no YAML is no fault.
                continue
    return found
