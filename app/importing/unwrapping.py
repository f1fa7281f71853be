"""A call as the program that is meant: wrappers, interpreters, shells and containers taken off.

Knows how programs are started; must not know any engine's flags.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.importing.call import Call, Script, is_relative_file, once
from app.importing.cmd_reader import read_script as read_cmd
from app.importing.docker_run_reader import Container, is_docker, read_container, read_exec
from app.importing.invocation import Invocation
from app.importing.posix_reader import read_script as read_posix
from app.importing.powershell_reader import read_script as read_powershell
from app.importing.programs import Started, base_name, family, is_call, started_by
from app.importing.runners import Run, run_by
from app.importing.wrappers import inner

# A shell in a shell in a container: texts that go deeper are made to, not written.
_DEEPEST = 6
_MOST_WRAPPERS = 12
_POSIX_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh"})
_POWERSHELLS = frozenset({"powershell", "pwsh"})
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*$|py$")
# These start another command that is one word of theirs, or all words behind some place.
_STARTING_TEXTS = frozenset({"ssh", "su", "tmux", "screen", "stuff", "eval", "adb"})
_PYTHON_VALUED = frozenset({"-W", "-X"})
_MORE_VARIABLES = "KCPP_ARGS"


@dataclass(frozen=True)
class _Context:
    kind: str
    depth: int


def unwrapped(call: Call, kind: str, depth: int = 0) -> tuple[Invocation, ...]:
    """What ``call`` starts in the end: mostly one program, several where it starts a shell."""
    words, env, notes = list(call.words), dict(call.env), list(call.notes)
    context = _Context(kind, depth)
    for _ in range(_MOST_WRAPPERS):
        found = inner(words)
        if found is None:
            break
        env = found.environment(env)
        notes += [found.note] if found.note else []
        words = list(found.words)
    bare = replace(call, words=tuple(words), env=env, notes=tuple(notes))
    if not words:
        return ()
    run = run_by(words)
    if run is not None:
        return (_plain(_started(bare, run), kind),)
    if depth < _DEEPEST:
        nested = _nested(bare, context)
        if nested is not None:
            return nested
    return (_plain(bare, kind),)


def _started(call: Call, run: Run) -> Call:
    return replace(
        call,
        words=run.words,
        problems=(*call.problems, *run.problems),
        notes=(*call.notes, *run.notes),
    )


def _plain(call: Call, kind: str) -> Invocation:
    words = _without_interpreter(call.words)
    is_fragment = words[0].startswith("-")
    problems = list(call.problems)
    if is_fragment:
        problems.append(
            "fragment: the text names no program; its flags are read on top of the settings that "
            "are there"
        )
    return Invocation(
        kind,
        "" if is_fragment else base_name(words[0]),
        words if is_fragment else words[1:],
        env=call.env,
        title=call.title,
        problems=once(problems),
        notes=once(call.notes),
    )


def _without_interpreter(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without python, or a shell, that only runs the next as a program."""
    name = _name_of(words[0])
    if _PYTHON.match(name):
        at = 1
        while at < len(words) and words[at].startswith("-") and words[at] != "-m":
            at += 2 if words[at] in _PYTHON_VALUED else 1
        at += at < len(words) and words[at] == "-m"
        return words[at:] or words
    if name in _POSIX_SHELLS and len(words) > 1:
        at = next((at for at in range(1, len(words)) if not words[at].startswith("-")), 0)
        return words[at:] if at else words
    if name == "torchrun" and "-m" in words:
        return words[words.index("-m") + 1 :] or words
    return words


def _name_of(program: str) -> str:
    return base_name(program).lower().removesuffix(".exe")


# --- a command in a command -------------------------------------------------------------------


def _nested(call: Call, context: _Context) -> tuple[Invocation, ...] | None:
    """What stands in a text of its own inside the words; None where nothing does."""
    name = _name_of(call.words[0])
    if is_docker(call.words):
        return _docker(call, context)
    text = None
    read: Callable[[str], Script] = read_posix
    if name in _POSIX_SHELLS:
        text = _behind(call.words, re.compile(r"-[a-z]*c"))
        read = partial(read_posix, known=dict(call.env))
    elif name == "cmd":
        text, read = _joined_behind(call.words, re.compile(r"/[ck]", re.IGNORECASE)), read_cmd
    elif name in _POWERSHELLS:
        flag = re.compile(r"-c(?:ommand)?", re.IGNORECASE)
        text, read = _joined_behind(call.words, flag), read_powershell
    elif name in _STARTING_TEXTS or _is_command_in_one_word(call.words):
        text = _last_text(call.words)
    return None if text is None else _of_script(read(text), call, context)


def _is_command_in_one_word(words: Sequence[str]) -> bool:
    parts = words[0].split()
    return len(words) == 1 and len(parts) > 1 and bool(family(parts[0]))


def _behind(words: Sequence[str], flag: re.Pattern[str]) -> str | None:
    at = next((at for at in range(1, len(words)) if flag.fullmatch(words[at])), 0)
    return words[at + 1] if at and at + 1 < len(words) else None


def _joined_behind(words: Sequence[str], flag: re.Pattern[str]) -> str | None:
    at = next((at for at in range(1, len(words)) if flag.fullmatch(words[at])), 0)
    return " ".join(words[at + 1 :]) if at else None


def _last_text(words: Sequence[str]) -> str | None:
    """The last word that is a whole command, or the last words where they are one."""
    for word in reversed(words):
        parts = word.split()
        if len(parts) > 1 and any(map(family, parts)):
            # As keys that are sent to a terminal, it ends in that of the line's end.
            return word.removesuffix("\\n").removesuffix("^M")
    at = next((at for at in range(1, len(words)) if is_call(words[at:])), 0)
    return shlex.join(words[at:]) if at else None


def _of_script(script: Script, call: Call, context: _Context) -> tuple[Invocation, ...]:
    found: list[Invocation] = []
    for inside in script.calls:
        joined = replace(
            inside,
            env=dict(call.env) | dict(inside.env),
            title=inside.title or call.title,
            problems=once([*call.problems, *script.problems, *inside.problems]),
            notes=once([*call.notes, *inside.notes]),
        )
        found += unwrapped(joined, context.kind, context.depth + 1)
    return tuple(found)


# --- containers -------------------------------------------------------------------------------


def _docker(call: Call, context: _Context) -> tuple[Invocation, ...] | None:
    inside = read_exec(call.words)
    if inside:
        return unwrapped(replace(call, words=inside), context.kind, context.depth + 1)
    container = read_container(call.words)
    if container is None:
        return None
    kept = replace(call, words=(), env={}, title=call.title or container.name)
    return of_container(container, kept, "docker-run", context.depth)


def of_container(
    container: Container, call: Call, kind: str, depth: int = 0
) -> tuple[Invocation, ...]:
    """What a container starts.

    Args:
        container: As it is described.
        call: What is known besides: title, problems and notes; its words are not asked for.
        kind: Of the text.
        depth: How many commands this one stands in.
    """
    problems, notes = list(call.problems), list(call.notes)
    if container.folder and any(map(is_relative_file, container.words)):
        problems.append(f"relative_path: paths are relative to {container.folder} in the container")
    problems += [
        f"unresolved_variable: {name} is taken over from the host; its value is not in this text"
        for name in container.asked
    ]
    notes += [
        f"The variables in {name} are not in this text and were not read."
        for name in container.env_files
    ]
    env = dict(container.env)
    words = container.words
    if env.get(_MORE_VARIABLES) and not words:
        # KoboldCpp's image takes its flags from a variable.
        words = read_posix_words(env.pop(_MORE_VARIABLES))
    if container.entrypoint:
        words = (*_entry_words(container.entrypoint), *words)
    if container.entrypoint or container.has_own_program:
        started, rest = Started(""), words
    else:
        started, rest = started_by(container.image, words)
    whole = (started.program, *started.words, *rest) if started.program else rest
    base = Invocation(
        kind,
        started.program,
        env=env,
        title=call.title,
        image=container.image,
        mounts=tuple(container.mounts),
        ports=tuple(container.ports),
    )
    if not whole:
        found: tuple[Invocation, ...] = (base,)
    else:
        bare = replace(call, words=tuple(whole), env=env, problems=(), notes=())
        found = tuple(
            replace(each, image=base.image, mounts=base.mounts, ports=base.ports)
            for each in unwrapped(bare, kind, depth + 1)
        )
    return tuple(
        replace(
            each,
            problems=once([*problems, *_container_problems(each), *each.problems]),
            notes=once([*notes, *each.notes]),
        )
        for each in found
    )


def read_posix_words(text: str) -> tuple[str, ...]:
    """A text of flags as words."""
    calls = read_posix(text).calls
    return calls[0].words if calls else ()


def _entry_words(entrypoint: str) -> tuple[str, ...]:
    return tuple(entrypoint.split()) if " " in entrypoint else (entrypoint,)


def _container_problems(invocation: Invocation) -> list[str]:
    """Where paths of the words are those of the container."""
    texts = [*invocation.words, *invocation.env.values()]
    return [
        f"container_path: {inside} is {host} on the host"
        for host, inside in invocation.mounts
        if any(_is_under(text, inside) for text in texts)
    ]


def _is_under(text: str, folder: str) -> bool:
    path = text.partition("=")[2] if text.startswith("-") and "=" in text else text
    base = folder.rstrip("/")
    return bool(base) and (path == base or path.startswith(f"{base}/"))


def env_alone(script: Script, kind: str) -> tuple[Invocation, ...]:
    """The environment that a text sets where it starts nothing."""
    if not script.env:
        return ()
    return (Invocation(kind, "", env=script.env, problems=script.problems),)


def all_of(script: Script, kind: str, env: Mapping[str, str] | None = None) -> list[Invocation]:
    """What the calls of a script start, in order.

    Args:
        script: It.
        kind: Of its text.
        env: What is known besides.
    """
    found: list[Invocation] = []
    for call in script.calls:
        joined = replace(call, env=dict(env or {}) | dict(call.env))
        found += unwrapped(joined, kind)
    return found
