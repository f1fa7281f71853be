"""Programs that start another one: what stands before it is theirs.

Knows names and how many words belong to them; must not know any engine's flags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.importing.programs import base_name, family

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")

# What has env begin with no variable at all.
_BARE = ("-", "--ignore-environment")
_BARE_AMONG = re.compile(r"-[a-tv-z0]*i[a-tv-z0]*")


@dataclass(frozen=True)
class Wrapper:
    """How a program that starts another is written.

    Attributes:
        valued: Its flags that have the next word as their value.
        operands: Words of its own before the program.
        subcommand: Words that it starts programs by; where they are missing it starts none.
        clustered: Letters that have a value where several stand behind one hyphen: ``-dmS NAME``.
        is_told: Whether its words change how the program runs, so that they are told.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    subcommand: tuple[str, ...] = ()
    is_told: bool = False
    clustered: str = ""


def _of(
    valued: str = "",
    operands: int = 0,
    subcommand: str = "",
    *,
    is_told: bool = False,
    clustered: str = "",
) -> Wrapper:
    words = tuple(subcommand.split())
    return Wrapper(frozenset(valued.split()), operands, words, is_told, clustered)


_WRAPPERS = {
    "nohup": _of(),
    "trtllm-llmapi-launch": _of(),
    "time": _of("-o -f"),
    "exec": _of("-a"),
    "command": _of(),
    "builtin": _of(),
    "eval": _of(),
    "setsid": _of(),
    "unbuffer": _of(),
    "winpty": _of(),
    "wsl": _of("-d --distribution -u --user"),
    "wsl.exe": _of("-d --distribution -u --user"),
    "call": _of(),
    "stdbuf": _of("-o -e -i"),
    "nice": _of("-n --adjustment", is_told=True),
    "ionice": _of("-c -n", is_told=True),
    "chrt": _of(operands=1, is_told=True),
    "sudo": _of("-u -g -h -p -C -T -U --user --group", clustered="u"),
    "doas": _of("-u -C"),
    "runuser": _of("-u -g --user --group"),
    "gosu": _of(operands=1),
    "su-exec": _of(operands=1),
    "tini": _of(),
    "chpst": _of("-u -e -n -l -L -o -m -d -/"),
    "setuidgid": _of(operands=1),
    "s6-setuidgid": _of(operands=1),
    "envdir": _of(operands=1),
    "s6-envdir": _of(operands=1),
    "dumb-init": _of(),
    "catchsegv": _of(),
    "firejail": _of(),
    "prime-run": _of(),
    "gamemoderun": _of(),
    "mangohud": _of(),
    "nixGL": _of(),
    "steam-run": _of(),
    "xvfb-run": _of("-n -s"),
    "dbus-run-session": _of(),
    "cgexec": _of("-g", is_told=True),
    "choom": _of("-n", is_told=True),
    "likwid-pin": _of("-c", is_told=True),
    "hwloc-bind": _of(operands=1, is_told=True),
    "toolbox": _of("-c --container", subcommand="run"),
    "distrobox": _of("-n --name", 1, "enter"),
    "distrobox-enter": _of("-n --name", 1),
    "lxc": _of("--cwd --env --user", 1, "exec"),
    "incus": _of("--cwd --env --user", 1, "exec"),
    "pct": _of(operands=1, subcommand="exec"),
    "nsenter": _of("-t --target"),
    "flatpak-spawn": _of(),
    "apptainer": _of("-B --bind --env", 1, "exec run"),
    "singularity": _of("-B --bind --env", 1, "exec run"),
    "mise": _of(subcommand="exec x"),
    "direnv": _of(operands=1, subcommand="exec"),
    "doppler": _of("-p -c", subcommand="run"),
    "op": _of(subcommand="run"),
    "dotenv": _of("-e -f", subcommand="run"),
    "pm2": _of("--name -n", subcommand="start"),
    "rocprof": _of("-o -i"),
    "ncu": _of("-o -k -c"),
    "heaptrack": _of("-o"),
    "env": _of("-u -C -S --unset --chdir"),
    "numactl": _of("-i -N -m -C -p -P -l", is_told=True),
    "taskset": _of(operands=1, is_told=True),
    "prlimit": _of(is_told=True),
    "timeout": _of("-s -k --signal --kill-after", operands=1, is_told=True),
    "systemd-run": _of("-E --setenv -p --property -u --unit -M --uid --gid --slice", is_told=True),
    "systemd-inhibit": _of("--what --who --why --mode"),
    "caffeinate": _of("-t -w"),
    "screen": _of("-S -L -c -t", clustered="S"),
    "gdb": _of("-ex -x -iex"),
    "lldb": _of("-o"),
    "strace": _of("-o -e -p"),
    "ltrace": _of("-o -e -p"),
    "valgrind": _of(),
    "perf": _of("-e -o -F", subcommand="record stat"),
    "nsys": _of("-o -t", subcommand="profile"),
    "srun": _of("-n -N -p -c -w -J -t -G -A --partition --ntasks --nodes --time", is_told=True),
    "mpirun": _of("-n -np -c -H -host --hostfile -x", is_told=True),
    "mpiexec": _of("-n -np -c -H -host --hostfile -x", is_told=True),
    "uv": _of("--with --python -p --extra --directory --project", subcommand="run tool"),
    "uvx": _of("--with --from --python -p"),
    "pipx": _of("--spec", subcommand="run"),
    "pixi": _of("-e --environment", subcommand="run"),
    "poetry": _of(subcommand="run"),
    "conda": _of("-n --name -p --prefix", subcommand="run"),
    "mamba": _of("-n --name -p --prefix", subcommand="run"),
    "micromamba": _of("-n --name -p --prefix", subcommand="run"),
    "kubectl": _of("-n --namespace -c --container", 1, "exec"),
    "proot-distro": _of(subcommand="login"),
    "flatpak": _of("--command", 1, "run"),
    "watch": _of("-n"),
}


@dataclass(frozen=True)
class Inner:
    """What a wrapper starts.

    Attributes:
        words: The program and its words.
        env: What the wrapper sets, as ``NAME=value``.
        note: What the wrapper did, where it changes how the program runs; else empty.
        dropped: Variables that the program does not get.
        is_bare: Whether it gets none but those that the wrapper sets.
    """

    words: tuple[str, ...]
    env: tuple[str, ...] = ()
    note: str = ""
    dropped: tuple[str, ...] = ()
    is_bare: bool = False

    def environment(self, outside: Mapping[str, str]) -> dict[str, str]:
        """What the program finds in its environment.

        Args:
            outside: What the wrapper finds in its own.
        """
        kept = {} if self.is_bare else dict(outside)
        for name in self.dropped:
            kept.pop(name, None)
        return kept | dict(word.partition("=")[::2] for word in self.env)


def inner(words: Sequence[str]) -> Inner | None:
    """What the first word starts, where it is a program that starts another; else None."""
    name = base_name(words[0]).lower() if words else ""
    wrapper = _WRAPPERS.get(name)
    # Whether there is such a program is only asked by it.
    is_question = name == "command" and words[1:2] and words[1] in ("-v", "-V")
    if wrapper is None or is_question:
        return None
    at = _behind_own_words(words, wrapper)
    if at is None or at >= len(words):
        return None
    told = [word.removeprefix("--setenv=") for word in words[1:at]]
    env = tuple(word for word in told if _ASSIGNMENT.match(word))
    note = ""
    if wrapper.is_told:
        note = (
            f"The command is started by {name}: “{' '.join(words[:at])}” is no setting of the "
            "engine and is not carried."
        )
    if name != "env":
        return Inner(tuple(words[at:]), env, note)
    own = words[1:at]
    is_bare = any(word in _BARE or _BARE_AMONG.fullmatch(word) for word in own)
    return Inner(tuple(words[at:]), env, note, _dropped(own), is_bare)


def _dropped(own: Sequence[str]) -> tuple[str, ...]:
    """Variables that words of ``env`` take away."""
    found: list[str] = []
    for number, word in enumerate(own):
        if word in ("-u", "--unset"):
            found += own[number + 1 : number + 2]
        elif word.startswith("--unset="):
            found.append(word.partition("=")[2])
        elif word.startswith("-u"):
            found.append(word[2:])
    return tuple(found)


def _behind_own_words(words: Sequence[str], wrapper: Wrapper) -> int | None:
    """The place of the program that is started; None where none is."""
    at, operands = 1, wrapper.operands
    if wrapper.subcommand:
        if len(words) < 2 or words[1] not in wrapper.subcommand:
            return None
        at = 2
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if word.startswith("-"):
            at += 2 if word in wrapper.valued or _ends_valued(word, wrapper) else 1
        elif _ASSIGNMENT.match(word):
            at += 1
        elif operands and not (family(word) and _is_last(words, at)):
            operands -= 1
            at += 1
        else:
            return at
    return None


def _is_last(words: Sequence[str], at: int) -> bool:
    """Whether no program stands behind a word; a container may be called like an engine."""
    following = words[at + 1 : at + 3]
    return not any(word == "--" or family(word) for word in following)


def _ends_valued(word: str, wrapper: Wrapper) -> bool:
    """Whether the last of several letters behind one hyphen has the next word as its value."""
    return len(word) > 2 and word[1] != "-" and word[-1] in wrapper.clustered
