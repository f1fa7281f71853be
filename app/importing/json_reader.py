"""JSON: settings by keys, words as lists, requests to a server, what docker tells of a container.

Knows the shapes; must not know any engine's keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.importing.call import Call
from app.importing.cmd_reader import read_script as read_cmd
from app.importing.docker_run_reader import Container, add_variable, ports_of
from app.importing.invocation import Invocation
from app.importing.kcpps_reader import is_kcpps, read_kcpps
from app.importing.kinds import shell_of
from app.importing.loose_json import without_comments
from app.importing.name_sets import names
from app.importing.posix_reader import read_script as read_posix
from app.importing.powershell_reader import read_script as read_powershell
from app.importing.shell_text import begins_call
from app.importing.text_error import NotOfThisKindError, TextError
from app.importing.unwrapping import all_of, of_container, unwrapped
from app.importing.yaml_text import Node, flat, mappings_in, texts_of

# The names that lists of words, and the program before them, go by; in lower case.
_PROGRAMS = ("program", "command", "cmd", "path", "executable", "entrypoint")
_LINES = ("commandline", "command", "cmd", "run", "script")
_TITLES = ("name", "label", "title")
_WORDS = ("args", "arguments", "argv", "cmd", "command")


def read_json(text: str) -> tuple[Invocation, ...]:
    """What ``text`` starts or sets.

    Raises:
        TextError: If it is no JSON, or nested without bounds.
    """
    try:
        try:
            document = _document(text)
        except json.JSONDecodeError:
            # Editors of settings allow comments, and a comma behind the last entry; a part of a
            # file has no braces around it.
            document = _document(without_comments(_braced(text)))
    except json.JSONDecodeError as error:
        raise NotOfThisKindError(
            f"The text looks like JSON and is none: line {error.lineno} breaks it "
            f"({error.msg}). Paste the whole file."
        ) from error
    except RecursionError as error:
        raise TextError(
            "The JSON is nested deeper than any file of settings. Paste the part that holds them."
        ) from error
    if isinstance(document, list) and document and all(isinstance(each, str) for each in document):
        return unwrapped(Call(tuple(texts_of(document))), "json")
    if isinstance(document, dict) and is_kcpps(document):
        return read_kcpps(document)
    served = _served_models(document)
    if served:
        return served
    called = [each for _, mapping in mappings_in(document) for each in _called(mapping)]
    if called:
        return tuple(called)
    fields = _fields(document)
    values = fields or flat(document)
    return (Invocation("json", "", values=values),) if values else ()


def _braced(text: str) -> str:
    return text if text.strip()[:1] in {"{", "[", "/", "#"} else f"{{{text.strip().rstrip(',')}}}"


def _document(text: str) -> Node:
    read = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, strict=False)
    return _node(read, 0)


def _served_models(document: Node) -> tuple[Invocation, ...]:
    """The models of a file of llama-cpp-python's server, each with what all of them get."""
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(models, list):
        return ()
    found = []
    for model in models:
        if not isinstance(model, dict) or "model" not in model or not _OF_BINDING & model.keys():
            continue
        common = {key: value for key, value in document.items() if isinstance(value, str)}
        said = {f"--{key}": texts_of(value) for key, value in (common | model).items()}
        words = [word for flag, texts in said.items() for word in (flag, ",".join(texts))]
        title = next(iter(texts_of(model.get("model_alias"))), "")
        found.append(Invocation("json", "llama_cpp.server", tuple(words), title=title))
    return tuple(found)


_OF_BINDING = names("n_ctx n_gpu_layers n_batch n_threads chat_format offload_kqv model_alias")
_DEEPEST = 100


def _node(value: Any, depth: int) -> Node:  # noqa: ANN401
    """JSON as YAML is read here: texts, lists and mappings; nothing for null."""
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, dict):
        return {str(key): _node(item, depth + 1) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_node(item, depth + 1) for item in value if item is not None]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _called(mapping: Mapping[str, Node]) -> list[Invocation]:
    """The program and its words, where a mapping has both, or a container as docker tells of it."""
    named = {key.lower(): value for key, value in mapping.items()}
    if "image" in named and ("cmd" in named or "entrypoint" in named):
        return list(_container(named))
    words = next((named[key] for key in _WORDS if isinstance(named.get(key), list)), None)
    program = next((named[key] for key in _PROGRAMS if isinstance(named.get(key), str)), None)
    if words is None or not texts_of(words):
        return _lines(named)
    env = named.get("env") or named.get("environment")
    known = _variables(env)
    whole = (*([program] if isinstance(program, str) else []), *texts_of(words))
    return list(unwrapped(Call(tuple(whole), known), "json"))


def _lines(named: Mapping[str, Node]) -> list[Invocation]:
    """A command that stands in one text, as profiles of terminals and tasks of editors have it."""
    texts = [named[key] for key in _LINES if isinstance(named.get(key), str)]
    line = next((text for text in texts if isinstance(text, str) and begins_call(text)), "")
    if not line:
        return []
    title = next((named[key] for key in _TITLES if isinstance(named.get(key), str)), "")
    script = {"posix": read_posix, "cmd": read_cmd, "powershell": read_powershell}[shell_of(line)]
    return [replace(each, title=each.title or str(title)) for each in all_of(script(line), "json")]


def _variables(node: Node | None) -> dict[str, str]:
    """Variables as a mapping, as pairs of names and values, or as texts with a sign between."""
    if isinstance(node, dict):
        return {name: value for name, value in node.items() if isinstance(value, str)}
    found: dict[str, str] = {}
    for item in node if isinstance(node, list) else []:
        if isinstance(item, str):
            add_variable(item, found, [])
        elif isinstance(item, dict):
            name, value = item.get("name"), item.get("value")
            found |= {name: value} if isinstance(name, str) and isinstance(value, str) else {}
    return found


def _container(named: Mapping[str, Node]) -> tuple[Invocation, ...]:
    container = Container()
    container.image = next(iter(texts_of(named.get("image"))), "")
    entrypoint = texts_of(named.get("entrypoint"))
    container.words = (*entrypoint, *texts_of(named.get("cmd")))
    container.has_own_program = bool(entrypoint)
    for item in texts_of(named.get("env")):
        add_variable(item, container.env, container.asked)
    for item in texts_of(named.get("ports")):
        container.ports += ports_of(item)
    return of_container(container, Call(()), "json")


def _fields(document: Node) -> dict[str, tuple[str, ...]]:
    """Settings that stand in lists of fields, each with its key and its value, and the rest."""
    found: dict[str, tuple[str, ...]] = {}
    for path, mapping in mappings_in(document):
        key, value = mapping.get("key"), mapping.get("value")
        if path[-1:] == ("fields",) and isinstance(key, str) and value is not None:
            found |= flat({key: value})
    if found:
        found |= {key: said for key, said in flat(document).items() if "fields." not in key}
    return found
