"""How a program is called, before anybody asks what its words mean.

Knows texts; must not know any engine's flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Invocation:
    """One call of one program, or one description of how to call it.

    Attributes:
        kind: What the text was: ``posix``, ``cmd``, ``powershell``, ``docker-run``, ``compose``,
            ``kubernetes``, ``systemd``, ``llama-swap``, ``preset``, ``env``, ``modelfile``,
            ``kcpps`` or ``json``.
        program: The program as it was called, without its folder; empty where only its
            environment or its file is known.
        words: What the program gets behind its name, unquoted, variables put in where their values
            stand in the text.
        env: Environment that the text sets.
        values: What a file says by keys instead of words, repeated keys with all their values.
        title: What a person chooses it by.
        problems: ``code: sentence``, in the order of the text.
        notes: Sentences about what was done with the text.
    """

    kind: str
    program: str
    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
