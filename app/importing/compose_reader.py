"""Containers of docker compose and of Kubernetes: what each starts, with which variables.

Knows both formats, whole files and parts of them; must not know any engine's flags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.importing.call import Call, home_problems, once
from app.importing.cluster_maps import Maps, taken_over, value_from
from app.importing.compose_services import extended, models_of
from app.importing.docker_run_reader import Container, add_variable, mounts_of, ports_of
from app.importing.invocation import Invocation
from app.importing.posix_words import read_words
from app.importing.unwrapping import of_container, unwrapped
from app.importing.yaml_text import Folded, Node, doubled_in, mappings_in, texts_of

_MARKS = frozenset(
    {"image", "command", "args", "entrypoint", "environment", "env", "envFrom", "extends"}
)
_OF_KUBERNETES = frozenset({"args", "env", "envFrom", "volumeMounts", "imagePullPolicy"})
# Blocks whose values are services by names, and lists that containers stand in.
_SERVICES = "services"
# Parts of a service that look like one, and templates (``x-…``) that only others take over.
_PARTS = frozenset({"build", "deploy", "environment", "env", "metadata", "labels"})
_ALONE = frozenset({"command", "environment", "entrypoint"})
_CONTAINERS = frozenset({"containers", "initContainers"})
# ``${NAME}``, ``${NAME:-default}``, ``$NAME``; two signs are one.
_PUT_IN = re.compile(r"\$(?:(\$)|\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}\n]*))?\}|([A-Za-z_]\w*))")
_OF_CLUSTER = re.compile(r"\$(\$?)\(([A-Za-z_][\w.-]*)\)")
_SHOWN_CHARACTERS = 60
_MARK = re.compile(r"\\[ \t]*\n|\\[ \t]+(?=\S)")
_FLAG_ITEM = re.compile(r"--?[A-Za-z][\w-]*\s+\S")
_NO_MARK = (
    "broken_continuation: a backslash continues no line in a command of compose: it makes a blank "
    "or a line feed a part of the program's next word; it is left out here"
)


def containers_in(document: Node, maps: Maps | None = None) -> tuple[Invocation, ...]:
    """What the containers that ``document`` describes start, in its order.

    Args:
        document: A file, or a part of one.
        maps: The ConfigMaps of the text.
    """
    found: list[Invocation] = []
    seen: set[int] = set()
    volumes = _host_paths(document)
    services = document.get(_SERVICES) if isinstance(document, dict) else None
    siblings = services if isinstance(services, dict) else document
    for name, words in models_of(document):
        found += unwrapped(Call(words, title=name), "compose")
    for path, mapping in mappings_in(document):
        if id(mapping) in seen or not _is_container(path, mapping):
            continue
        seen.add(id(mapping))
        container = _Described(mapping, siblings if isinstance(siblings, dict) else {}, maps or {})
        found += _read(container, _title(path, mapping), volumes)
    return tuple(found)


class _Described:
    """A container as the text describes it, with what it takes over from elsewhere.

    Attributes:
        mapping: What is said of it.
        maps: The ConfigMaps of the text.
        problems: ``code: sentence``.
        notes: Sentences.
    """

    def __init__(
        self, mapping: Mapping[str, Node], siblings: Mapping[str, Node], maps: Maps
    ) -> None:
        self.problems = [
            f"broken_file: {key} stands more than once in one place; compose and kubectl refuse "
            "such a file, and the last one was read"
            for key in doubled_in(mapping)
        ]
        self.notes: list[str] = []
        self.mapping = extended(mapping, siblings, self.notes)
        self.maps = maps


def _is_container(path: tuple[str, ...], mapping: Mapping[str, Node]) -> bool:
    if path[-1:] and path[-1] in _CONTAINERS:
        return True
    if len(path) >= 2 and path[-2] == _SERVICES:
        return not _MARKS.isdisjoint(mapping)
    last = path[-1] if path else ""
    is_inside = last in _PARTS or last.startswith("x-")
    has_start = "image" in mapping and not {"command", "args", "environment", "env"}.isdisjoint(
        mapping
    )
    is_named = bool({"args", "env"} & set(mapping)) and "name" in mapping
    is_alone = len(path) < 2 and not _ALONE.isdisjoint(mapping)
    is_alone = is_alone or (not path and isinstance(mapping.get("env"), list))
    return not is_inside and (has_start or is_named or is_alone)


def _title(path: tuple[str, ...], mapping: Mapping[str, Node]) -> str:
    name = mapping.get("name")
    if isinstance(name, str) and name:
        return name
    if path and path[-1] not in {*_CONTAINERS, _SERVICES, "spec", "template"}:
        return path[-1]
    name = mapping.get("container_name")
    return name if isinstance(name, str) else ""


def _read(described: _Described, title: str, volumes: Mapping[str, str]) -> list[Invocation]:
    mapping, problems, notes = described.mapping, described.problems, described.notes
    is_cluster = not _OF_KUBERNETES.isdisjoint(mapping)
    container = Container()
    _take_variables(described, container)
    known = _Known(container.env, problems, is_cluster=is_cluster)
    container.env = {name: known.put_in(value) for name, value in container.env.items()}
    image = mapping.get("image")
    container.image = known.put_in(image) if isinstance(image, str) else ""
    command = known.words(mapping.get("command"))
    if is_cluster:
        # Kubernetes calls the program "command" and what it gets "args".
        container.words = (*command, *known.words(mapping.get("args")))
        container.has_own_program = bool(command)
    else:
        entrypoint = known.words(mapping.get("entrypoint"))
        container.words = (*entrypoint, *command)
        container.has_own_program = bool(entrypoint)
    problems += home_problems(container.words)
    _take_places(mapping, container, known, volumes)
    kind = "kubernetes" if is_cluster else "compose"
    folder = mapping.get("working_dir") or mapping.get("workingDir")
    if isinstance(folder, str) and folder:
        container.folder = folder
        notes.append("A folder to work in is set: relative paths are inside of it.")
    call = Call((), title=title, problems=once(problems), notes=once(notes))
    return list(of_container(container, call, kind))


def _take_variables(described: _Described, container: Container) -> None:
    """``environment`` as a mapping or a list, ``env`` as a list of names and values."""
    mapping = described.mapping
    if mapping.get("envFrom"):
        env, missing = taken_over(mapping["envFrom"], described.maps)
        container.env |= env
        container.env_files += missing
    for key in ("environment", "env"):
        node = mapping.get(key)
        if isinstance(node, dict):
            container.env |= {name: text for name, text in node.items() if isinstance(text, str)}
        for item in node if isinstance(node, list) else []:
            if isinstance(item, str):
                add_variable(_unquoted(item, described), container.env, container.asked)
            elif isinstance(item, dict):
                _take_pair(item, container, described)
    files = mapping.get("env_file")
    container.env_files += texts_of(files)
    for item in files if isinstance(files, list) else []:
        if isinstance(item, dict):
            container.env_files += texts_of(item.get("path"))


def _unquoted(item: str, described: _Described) -> str:
    """``NAME="value"`` in a list, where the quotes are a part of the value."""
    quoted = re.fullmatch(r"(\w+=)([\"'])(.*)\2", item)
    if quoted is None:
        return item
    described.problems.append(
        f"shell_quoting: the quotes around the value of {quoted.group(1)[:-1]} are a part of it "
        "for compose; it is read without them"
    )
    return quoted.group(1) + quoted.group(3)


def _take_pair(item: Mapping[str, Node], container: Container, described: _Described) -> None:
    name, value = item.get("name"), item.get("value")
    if isinstance(name, str) and isinstance(value, str):
        container.env[name] = value
    elif isinstance(name, str) and "valueFrom" in item:
        known, place = value_from(item["valueFrom"], described.maps)
        if known is not None:
            container.env[name] = known
        else:
            described.problems.append(
                f"unresolved_variable: {name} comes from {place}; its value is not in this text"
            )


def _take_places(
    mapping: Mapping[str, Node], container: Container, known: _Known, volumes: Mapping[str, str]
) -> None:
    ports, places = mapping.get("ports"), mapping.get("volumes")
    for port in ports if isinstance(ports, list) else []:
        if isinstance(port, str):
            container.ports += ports_of(known.put_in(port))
        elif isinstance(port, dict):
            container.ports += _pair(port, "published", "target")
    for place in places if isinstance(places, list) else []:
        if isinstance(place, str):
            container.mounts += mounts_of(known.put_in(place))
        elif isinstance(place, dict):
            container.mounts += _pair(place, "source", "target")
    mounts = mapping.get("volumeMounts")
    for mount in mounts if isinstance(mounts, list) else []:
        if isinstance(mount, dict):
            name, path = mount.get("name"), mount.get("mountPath")
            if isinstance(name, str) and isinstance(path, str) and name in volumes:
                container.mounts.append((volumes[name], path))


def _pair(mapping: Mapping[str, Node], first: str, second: str) -> list[tuple[str, str]]:
    host, inside = mapping.get(first), mapping.get(second)
    return [(host, inside)] if isinstance(host, str) and isinstance(inside, str) else []


def _host_paths(document: Node) -> dict[str, str]:
    """Folders of the host that Kubernetes' volumes stand for, by the names of the volumes."""
    found: dict[str, str] = {}
    for _, mapping in mappings_in(document):
        name, place = mapping.get("name"), mapping.get("hostPath")
        path = place.get("path") if isinstance(place, dict) else None
        if isinstance(name, str) and isinstance(path, str):
            found[name] = path
    return found


class _Known:
    """Puts variables in as compose does (``${NAME:-default}``) or the cluster (``$(NAME)``)."""

    def __init__(self, env: Mapping[str, str], problems: list[str], *, is_cluster: bool) -> None:
        self._env = dict(env)
        self._problems = problems
        self._is_cluster = is_cluster

    def put_in(self, text: str) -> str:
        """``text`` with what is known."""
        if self._is_cluster:
            return _OF_CLUSTER.sub(self._of_cluster, text)
        return _PUT_IN.sub(self._of_compose, text)

    def words(self, node: Node | None) -> tuple[str, ...]:
        """Words of a list as they are, of a text as a shell would part them."""
        if node is None or isinstance(node, dict):
            return ()
        if isinstance(node, list):
            return self._of_list([self.put_in(text) for text in texts_of(node)])
        text = "\n".join(node.lines) if isinstance(node, Folded) else node
        dropped = ("unresolved_variable", "broken_continuation")
        if _MARK.search(text):
            self._problems.append(_NO_MARK)
        # What could not be put in must not be taken for a variable of the shell again.
        call = read_words(self.put_in(text), no_comments="compose")
        self._problems += [each for each in call.problems if not each.startswith(dropped)]
        return call.words

    def _of_list(self, words: list[str]) -> tuple[str, ...]:
        """A list; an item with a flag and its value in one is two words that were meant."""
        found: list[str] = []
        for word in words:
            parted = read_words(word).words if _FLAG_ITEM.match(word) else ()
            if len(parted) > 1:
                shown = " ".join(word.split())[:_SHOWN_CHARACTERS]
                self._problems.append(
                    f"shell_quoting: “{shown}” is one item, so one word to the program; it is "
                    f"read as the {len(parted)} that were meant"
                )
                found += parted
            else:
                found.append(word)
        return tuple(found)

    def _of_cluster(self, match: re.Match[str]) -> str:
        if match.group(1):
            return match.group()[1:]
        name = match.group(2)
        return self._env[name] if name in self._env else self._unresolved(match.group())

    def _of_compose(self, match: re.Match[str]) -> str:
        escaped, braced, operator, default, bare = match.groups()
        if escaped:
            return "$"
        if operator in {":-", "-"}:
            return str(default)
        if operator in {":+", "+"}:
            return ""
        # What is said where it is missing is no part of the word.
        written = match.group() if not operator else f"${{{braced}}}"
        return self._unresolved(written, braced or bare)

    def _unresolved(self, written: str, name: str = "") -> str:
        self._problems.append(
            f"unresolved_variable: {written[:_SHOWN_CHARACTERS]} has no value in this text"
            + (f"; compose takes {name} from its .env file or from the shell" if name else "")
        )
        return written
