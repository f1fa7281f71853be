"""``docker run`` and what is written like it: what is docker's, the image, what is the program's.

Knows docker's flags; must not know any engine's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.importing.name_sets import names
from app.importing.programs import base_name

_RUNNERS = frozenset({"docker", "podman", "nerdctl", "nvidia-docker", "docker.exe", "podman.exe"})
# Every other flag of docker run has a value.
_SWITCHES = names(
    "--detach --interactive --tty --rm --privileged --init --read-only --publish-all --replace "
    "--no-healthcheck --oom-kill-disable --sig-proxy --disable-content-trust --help --quiet "
    "--tls-verify --no-hosts --rmi --http-proxy --use-api-socket"
)
_SHORT_SWITCHES = frozenset("ditPq")
_LONG = {
    "-e": "--env",
    "-v": "--volume",
    "-p": "--publish",
    "-w": "--workdir",
}


@dataclass
class Container:
    """A container as a command line starts it.

    Attributes:
        image: What it is made of.
        words: What stands behind the image.
        entrypoint: What is started instead of the image's own program; None for that.
        has_own_program: Whether the words begin with a program, whatever the image starts.
        env: Variables set.
        asked: Variables that are taken over from the host, whose values are not in the text.
        env_files: Files of variables that are named.
        mounts: Folders of the host and where the container has them.
        ports: Those of the host and of the container.
        name: The container's.
        folder: In which it starts.
    """

    image: str = ""
    words: tuple[str, ...] = ()
    entrypoint: str | None = None
    has_own_program: bool = False
    env: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    env_files: list[str] = field(default_factory=list)
    mounts: list[tuple[str, str]] = field(default_factory=list)
    ports: list[tuple[str, str]] = field(default_factory=list)
    name: str = ""
    folder: str = ""


def is_docker(words: Sequence[str]) -> bool:
    """Whether the words call docker or a program that is called like it."""
    return bool(words) and base_name(words[0]).lower() in _RUNNERS


def read_container(words: Sequence[str]) -> Container | None:
    """The container that ``words`` run; None where they do something else."""
    rest = [word for word in words[1:4] if not word.startswith("-")]
    if rest[:2] == ["compose", "run"]:
        return _service(words, list(words).index("run", 1) + 1)
    if rest[:1] == ["container"]:
        rest = rest[1:]
    if rest[:1] not in (["run"], ["create"]):
        return None
    at = list(words).index(rest[0], 1) + 1
    container = Container()
    while at < len(words):
        word = words[at]
        if not word.startswith("-") or word == "-":
            container.image = word
            container.words = tuple(words[at + 1 :])
            break
        at = _take_flag(words, at, container)
    return container


def _service(words: Sequence[str], at: int) -> Container:
    """``docker compose run SERVICE WORDS``; what the service says besides is not in the text."""
    container = Container(has_own_program=True)
    while at < len(words) and words[at].startswith("-"):
        at = _take_flag(words, at, container)
    container.name = words[at] if at < len(words) else ""
    container.words = tuple(words[at + 1 :])
    return container


def read_exec(words: Sequence[str]) -> tuple[str, ...]:
    """What ``docker exec`` starts in a container that runs; empty where the words do not."""
    at, container = 1, Container()
    at += tuple(words[1:2]) == ("compose",)
    if len(words) < at + 3 or words[at] != "exec":
        return ()
    at += 1
    while at < len(words) and words[at].startswith("-"):
        at = _take_flag(words, at, container)
    return tuple(words[at + 1 :])


def take_flags(words: Sequence[str], container: Container) -> None:
    """Flags of docker alone, as units of podman have them."""
    at = 0
    while at < len(words):
        at = _take_flag(words, at, container) if words[at].startswith("-") else at + 1


def _take_flag(words: Sequence[str], at: int, container: Container) -> int:
    """One flag of docker; the place behind it and its value."""
    word = words[at]
    following = words[at + 1] if at + 1 < len(words) else ""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if equals:
            _say(name, value, container)
            return at + 1
        if name in _SWITCHES:
            return at + 1
        _say(name, following, container)
        return at + 2
    for number, letter in enumerate(word[1:], start=1):
        if letter in _SHORT_SWITCHES:
            continue
        attached = word[number + 1 :].removeprefix("=")
        _say(_LONG.get(f"-{letter}", ""), attached or following, container)
        return at + (1 if attached else 2)
    return at + 1


def _say(name: str, value: str, container: Container) -> None:
    if name == "--env":
        add_variable(value, container.env, container.asked)
    elif name == "--env-file":
        container.env_files.append(value)
    elif name == "--volume":
        container.mounts += mounts_of(value)
    elif name == "--mount":
        container.mounts += _mount(value)
    elif name == "--publish":
        container.ports += ports_of(value)
    elif name == "--entrypoint":
        container.entrypoint = value
    elif name == "--name":
        container.name = value
    elif name == "--workdir":
        container.folder = value


def add_variable(text: str, env: dict[str, str], asked: list[str]) -> None:
    """``NAME=value`` into ``env``; ``NAME`` alone, which the host has to say, into ``asked``."""
    name, equals, value = text.partition("=")
    if equals:
        env[name] = value
    elif name:
        asked.append(name)


def mounts_of(text: str) -> list[tuple[str, str]]:
    r"""``/host:/container:ro`` as folders; a drive (``C:\models:/models``) is no separator."""
    match = re.match(r"([A-Za-z]:[\\/][^:]*|[^:]+):([^:]+)", text)
    return [(match.group(1), match.group(2))] if match else []


def _mount(text: str) -> list[tuple[str, str]]:
    said = dict(part.partition("=")[::2] for part in text.split(","))
    source = said.get("source") or said.get("src")
    target = said.get("target") or said.get("dst") or said.get("destination")
    return [(source, target)] if source and target else []


def ports_of(text: str) -> list[tuple[str, str]]:
    """``127.0.0.1:8000:8080/tcp`` as the port of the host and that of the container."""
    parts = text.partition("/")[0].rsplit(":", 2)
    return [(parts[-2], parts[-1])] if len(parts) > 1 else []
