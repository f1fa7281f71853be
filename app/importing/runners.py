"""Programs that start llama.cpp's server by words of their own: docker's models, RamaLama.

Knows their words and those of the server that they stand for.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.importing.programs import OF_FULL_IMAGE, base_name

_SERVER = "llama-server"
# Flags of RamaLama with their own value, and what the server calls them; empty where it has none.
_OF_RAMALAMA = {
    "-c": "--ctx-size", "--ctx-size": "--ctx-size", "--ngl": "--n-gpu-layers",
    "--temp": "--temp", "-t": "--threads", "--threads": "--threads", "--seed": "--seed",
    "--host": "--host", "-p": "--port", "--port": "--port", "--cache-reuse": "--cache-reuse",
    "--max-tokens": "--n-predict", "--model-draft": "--model-draft", "-n": "", "--name": "",
    "--env": "", "--device": "", "--image": "", "--network": "", "--net": "", "--pull": "",
    "--oci-runtime": "", "--backend": "", "--generate": "", "--authfile": "", "--thinking": "",
    "--webui": "", "--api": "", "--keyword": "", "--rag": "", "--runtime": "", "--engine": "",
    "--store": "", "--add-to-unit": "", "--port-override": "", "--logfile": "", "--selinux": "",
}  # fmt: skip
_EARLY = frozenset({"--runtime", "--engine", "--store"})
_HUB = re.compile(r"(?:hf|huggingface)://(?:hf\.co/|huggingface\.co/)?([^/\s]+/[^/\s]+)(?:/(\S+))?")


@dataclass(frozen=True)
class Run:
    """What is started in the end.

    Attributes:
        words: The server and its words.
        problems: ``code: sentence``.
        notes: Sentences.
    """

    words: tuple[str, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def run_by(words: Sequence[str]) -> Run | None:
    """What ``words`` have llama.cpp's server started with; None where they do something else."""
    name = base_name(words[0]).lower() if words else ""
    read: Callable[[Sequence[str]], Run | None] | None = {
        "ramalama": _ramalama,
        "docker": _docker_model,
        "tools.sh": _tools,
        "start-stop-daemon": _daemon,
    }.get(name)
    return read(words) if read is not None else None


def _tools(words: Sequence[str]) -> Run | None:
    """The script of llama.cpp's full image chooses among its programs by its first word."""
    program = OF_FULL_IMAGE.get(words[1]) if len(words) > 1 else None
    return Run((program, *words[2:])) if program else None


def _daemon(words: Sequence[str]) -> Run | None:
    """``start-stop-daemon --exec PROGRAM -- WORDS``."""
    at = list(words).index("--") if "--" in words else len(words)
    own = list(words[1:at])
    flags = ("--exec", "-x", "--startas", "-a")
    named = [own[n + 1] for n, word in enumerate(own[:-1]) if word in flags]
    return Run((named[-1], *words[at + 1 :])) if named else None


# --- docker model -----------------------------------------------------------------------------


def _docker_model(words: Sequence[str]) -> Run | None:
    """``docker model configure --context-size 8192 MODEL -- FLAGS`` and ``docker model run``."""
    if list(words[1:2]) != ["model"] or list(words[2:3]) not in (["configure"], ["run"]):
        return None
    at = list(words).index("--") if "--" in words else len(words)
    own, flags = list(words[3:at]), list(words[at + 1 :])
    made: list[str] = []
    left: list[str] = []
    while own:
        word, equals, value = own.pop(0).partition("=")
        if word.startswith("--"):
            given = value if equals else own.pop(0) if own and not own[0].startswith("-") else ""
            is_size = word in {"--context-size", "--ctx-size"}
            made += ["--ctx-size", given] if is_size else []
            left += [] if is_size else [f"{word} {given}".strip()]
        elif not word.startswith("-") and "--docker-repo" not in made:
            made += ["--docker-repo", word]
        else:
            left.append(word)
    notes = (f"Docker keeps for itself: {', '.join(left)}.",) if left else ()
    return Run((_SERVER, *made, *flags), (), notes)


# --- RamaLama ---------------------------------------------------------------------------------


def _ramalama(words: Sequence[str]) -> Run | None:
    rest = _behind_early(list(words[1:]))
    if not rest or rest[0] not in {"serve", "run"}:
        return None
    rest = rest[1:]
    made: list[str] = []
    left: list[str] = []
    model = ""
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if not word.startswith("-"):
            # "run" has what is asked behind the model.
            left += [word] if model else []
            model = model or word + equals + value
        elif word in _OF_RAMALAMA or word == "--runtime-args":
            given = value if equals else rest.pop(0) if rest else ""
            made += _said(word, given, left)
        else:
            left.append(word)
    problems: list[str] = []
    made = [*_model(model, problems), *made]
    notes = (f"RamaLama keeps for itself: {', '.join(left)}.",) if left else ()
    return Run((_SERVER, *made), tuple(problems), notes)


def _behind_early(rest: list[str]) -> list[str]:
    """Without the flags that stand before the command."""
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _EARLY else rest[1:]
    return rest


def _said(word: str, given: str, left: list[str]) -> list[str]:
    if word == "--runtime-args":
        try:
            return shlex.split(given)
        except ValueError:
            return given.split()
    if not _OF_RAMALAMA[word]:
        left.append(f"{word} {given}")
        return []
    return [_OF_RAMALAMA[word], given]


def _model(model: str, problems: list[str]) -> list[str]:
    if not model:
        return []
    hub = _HUB.fullmatch(model)
    if hub:
        file = ["--hf-file", hub.group(2)] if hub.group(2) else []
        return ["--hf-repo", hub.group(1), *file]
    path = model.removeprefix("file://")
    if path.startswith(("/", "~", ".")):
        return ["--model", path]
    problems.append(
        f"no_model: {model[:80]} is a name in one of RamaLama's registries, which llama.cpp does "
        "not know; name its file or its repository"
    )
    return []
