"""Variables that Kubernetes keeps apart from the containers that get them, in ConfigMaps.

Knows where they stand; must not know any variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.importing.yaml_text import Node, mappings_in

Maps = Mapping[str, Mapping[str, Node]]
"""The data of ConfigMaps, by their names."""


def config_maps_in(documents: Iterable[Node]) -> dict[str, dict[str, Node]]:
    """The ConfigMaps of a text."""
    found: dict[str, dict[str, Node]] = {}
    for document in documents:
        for _, mapping in mappings_in(document):
            name, data = config_map(mapping)
            if name:
                found[name] = data
    return found


def config_map(node: Node) -> tuple[str, dict[str, Node]]:
    """The name and the data of a ConfigMap; an empty name where it is none."""
    if not isinstance(node, dict) or node.get("kind") != "ConfigMap":
        return "", {}
    about, data = node.get("metadata"), node.get("data")
    name = about.get("name") if isinstance(about, dict) else None
    is_one = isinstance(name, str) and isinstance(data, dict)
    return (name, data) if is_one and isinstance(name, str) and isinstance(data, dict) else ("", {})


def names_used(documents: Iterable[Node]) -> set[str]:
    """The ConfigMaps that containers of the text take variables from."""
    found: set[str] = set()
    for document in documents:
        for _, mapping in mappings_in(document):
            for key in ("configMapRef", "configMapKeyRef"):
                found |= {_name_in(mapping.get(key))}
    return found - {""}


def taken_over(sources: Node | None, maps: Maps) -> tuple[dict[str, str], list[str]]:
    """What ``envFrom`` gives, and the names of what is not in the text."""
    env: dict[str, str] = {}
    missing: list[str] = []
    for source in sources if isinstance(sources, list) else []:
        if not isinstance(source, dict):
            continue
        name = _name_in(source.get("configMapRef"))
        prefix = source.get("prefix")
        begin = prefix if isinstance(prefix, str) else ""
        if name in maps:
            env |= {f"{begin}{k}": v for k, v in maps[name].items() if isinstance(v, str)}
        else:
            missing.append(name or _name_in(source.get("secretRef")) or "envFrom")
    return env, missing


def value_from(source: Node | None, maps: Maps) -> tuple[str | None, str]:
    """The value that ``valueFrom`` gives; None where it is not in the text, and whence it comes."""
    parts = source if isinstance(source, dict) else {}
    place = parts.get("configMapKeyRef")
    name, key = _name_in(place), place.get("key") if isinstance(place, dict) else None
    value = maps.get(name, {}).get(key) if isinstance(key, str) else None
    if isinstance(value, str):
        return value, ""
    secret = _name_in(parts.get("secretKeyRef"))
    if secret:
        return None, f"the Secret {secret}"
    return None, f"the ConfigMap {name}" if name else "the cluster"


def _name_in(node: Node | None) -> str:
    name = node.get("name") if isinstance(node, dict) else None
    return name if isinstance(name, str) else ""
