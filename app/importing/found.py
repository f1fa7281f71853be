"""What was recovered from a text: settings, and everything that is no setting."""

from __future__ import annotations

import msgspec

from engine_bridge.settings.domain import Value


class Healed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"was": "from"}):
    """A word that the engine does not take any more, and its heir.

    Attributes:
        was: As it stood in the text.
        to: What says the same today; empty where nothing does.
    """

    was: str
    to: str


class Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One command of the text, understood.

    Attributes:
        target: The engine it is for: ``llama-server``, ``ollama``, ``vllm`` and so on.
        settings: By their keys; values as typed, None where a person has to say one.
        healed: Words that were replaced.
        passthrough: Words that no setting stands for, to be handed on as they were.
        problems: ``code: sentence``.
        notes: Sentences.
        env: Environment that must survive.
        other: What is no setting of the desk and yet understood: ``host``, ``port``, ``alias``.
        derived: Keys of ``settings`` that the text does not say and the engine's rules do.
        title: What a person chooses it by among several.
        extra_flags: Items for the setting of that name: flags of llama.cpp that the desk has no
            setting for, each with its values, in the order of the text.
        mounts: Folders and files of the host and where a container has them, for its paths.
    """

    target: str
    settings: dict[str, Value | None]
    healed: tuple[Healed, ...] = ()
    passthrough: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    env: dict[str, str] = {}
    other: dict[str, object] = {}
    derived: tuple[str, ...] = ()
    title: str = ""
    extra_flags: tuple[str, ...] = ()
    mounts: tuple[tuple[str, str], ...] = ()
