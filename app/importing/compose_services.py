"""Services of compose that take over another one, and models that compose starts.

Knows how they add up; must not know any engine's flags.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.importing.yaml_text import Node, texts_of

# One service extends another, that a third: files that go deeper are made to, not written.
_DEEPEST = 8
_ADDING = ("volumes", "ports", "env_file")
_EXTENDS = "extends"


def extended(
    mapping: Mapping[str, Node], services: Mapping[str, Node], notes: list[str]
) -> dict[str, Node]:
    """``mapping`` with what the service that it extends says besides.

    Args:
        mapping: A service.
        services: All of the file, by their names.
        notes: Are told what is not followed.
    """
    return _extended(mapping, services, notes, 0)


def _extended(
    mapping: Mapping[str, Node], services: Mapping[str, Node], notes: list[str], depth: int
) -> dict[str, Node]:
    said = mapping.get(_EXTENDS)
    if not said:
        return dict(mapping)
    name, file = _named(said)
    base = services.get(name)
    if file or not isinstance(base, dict) or depth >= _DEEPEST:
        where = f" in {file}" if file else ""
        notes.append(
            f"The service {name}{where}, which this one extends, is not in this text and was not "
            "read."
        )
        return dict(mapping)
    return _added(_extended(base, services, notes, depth + 1), mapping)


def _named(said: Node) -> tuple[str, str]:
    """The service that is extended, and the file that it stands in."""
    if isinstance(said, str):
        return said, ""
    parts = said if isinstance(said, dict) else {}
    name, file = parts.get("service", ""), parts.get("file", "")
    return (name if isinstance(name, str) else ""), (file if isinstance(file, str) else "")


def _added(base: Mapping[str, Node], own: Mapping[str, Node]) -> dict[str, Node]:
    made: dict[str, Node] = {**base, **own}
    for key in _ADDING:
        both = [*_items(base.get(key)), *_items(own.get(key))]
        if both:
            made[key] = both
    variables = {**_pairs(base.get("environment")), **_pairs(own.get("environment"))}
    if variables:
        made["environment"] = [
            f"{name}={value}" if value is not None else name for name, value in variables.items()
        ]
    return made


def _items(node: Node | None) -> list[Node]:
    return node if isinstance(node, list) else [node] if node else []


def _pairs(node: Node | None) -> dict[str, str | None]:
    """Variables as a mapping or as a list; None where the value is the host's."""
    if isinstance(node, dict):
        return {name: text for name, text in node.items() if isinstance(text, str)}
    found: dict[str, str | None] = {}
    for item in texts_of(node):
        name, equals, value = item.partition("=")
        found[name] = value if equals else None
    return found


def models_of(document: Node) -> list[tuple[str, tuple[str, ...]]]:
    """Models that compose has docker run itself: their names, and docker's words for each."""
    models = document.get("models") if isinstance(document, dict) else None
    found: list[tuple[str, tuple[str, ...]]] = []
    for name, model in models.items() if isinstance(models, dict) else ():
        if isinstance(model, dict) and isinstance(model.get("model"), str) and "cmd" not in model:
            context = model.get("context_size")
            size = ("--context-size", context) if isinstance(context, str) and context else ()
            words = ("docker", "model", "configure", *size, *texts_of(model["model"]))
            found.append((name, (*words, "--", *texts_of(model.get("runtime_flags")))))
    return found
