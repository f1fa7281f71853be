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
            ``kubernetes``, ``systemd``, ``supervisor``, ``launchd``, ``openrc``, ``nix``,
            ``llama-swap``, ``preset``, ``env``, ``modelfile``, ``dockerfile``, ``python``,
            ``kcpps``, ``json`` or ``yaml``.
        program: The program as it was called, without its folder; empty where only its
            environment or its file is known, or where the text begins with flags. An interpreter
            is left out: ``python -m vllm.entrypoints.openai.api_server`` is the program
            ``vllm.entrypoints.openai.api_server``, ``python koboldcpp.py`` is ``koboldcpp.py``. A
            container without a program of its own gets the one that its image starts, with the
            words that the image puts first (``vllm``, ``serve``).
        words: What the program gets behind its name, unquoted, variables put in where their values
            stand in the text. What nobody knows stays as it was written: ``$MODEL``, ``${PORT}``.
        env: Environment that the text sets.
        values: What a file says by keys instead of words, repeated keys with all their values.
            A preset has keys as written; a Modelfile has its instructions in capitals (``FROM``,
            ``TEMPLATE``, ``SYSTEM``, ``ADAPTER``, ``MESSAGE``) and its parameters by their names
            in lower case (``num_ctx``, ``stop``); JSON, .kcpps and YAML have nested keys joined by
            dots (``options.num_ctx``), lists as several values, ``true`` and ``false``, and
            nothing for null. What LM Studio lists as fields has the key of the field.
        title: What a person chooses it by: the name of the service, of the container, of the model
            in a preset or in llama-swap (where it is the model's alias), of an array of flags.
        image: The container's image, where there is one.
        mounts: Folders of the host and where the container has them.
        ports: Ports of the host and of the container, as they were written.
        problems: ``code: sentence``, in the order of the text. Codes of the readers are about the
            text, not about flags: ``prompt_prefix``, ``unresolved_variable``, ``macro``,
            ``shell_quoting``, ``doubled_quotes``, ``broken_continuation``, ``typographic``,
            ``home_path``, ``relative_path``, ``misspelt_variable``, ``log_paste``, ``fragment``,
            ``container_path``, ``broken_file``, ``late_variable``, ``conditional_words``.
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
    image: str = ""
    mounts: tuple[tuple[str, str], ...] = ()
    ports: tuple[tuple[str, str], ...] = ()
