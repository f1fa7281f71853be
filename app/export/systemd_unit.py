r"""llama.cpp's server as a unit of systemd, run by the user's own service manager.

systemd takes ``ExecStart`` apart by rules of its own (``systemd.service``, ``systemd.syntax``):
quotes keep blanks, ``\`` begins an escape as in C, ``%`` a specifier and ``$`` a variable, each
doubled to stand for itself; a line that ends with a backslash goes on in the next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.export.dialect import Export, ExportedFile, exported, refused
from app.export.told import PROGRAM, model_name, told, why_not_in_file
from app.quoting import Shell, has_stray_bytes
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "systemd"
FILE = "llama-server.service"
FOLDER = "~/.config/systemd/user"
_BARE = re.compile(r"[A-Za-z0-9_\-./:,=+@]+")
_FLAG = re.compile(r"--?[A-Za-z]")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CONTROL = re.compile(r"[\x01-\x1f\x7f]")


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a unit, and the line that starts it now and at every login."""
    server = told(config, effective, facts)
    if reason := why_not_in_file(config, "a unit") or _why_not(server.words):
        return refused(TARGET, reason, server.answers)
    text = _unit(server.words, model_name(config, facts), locks="mlock" in config.load_mode)
    file = ExportedFile(
        FILE, text, f"Put it in {FOLDER}, or for the whole machine in /etc/systemd/system."
    )
    return exported(
        TARGET, ("systemctl", "--user", "enable", "--now", FILE), (*_NOTES, *server.notes),
        server.answers, shell, files=(file,),
    )  # fmt: skip


_NOTES = (
    f"systemd looks for {PROGRAM} in /usr/local/bin, /usr/bin and their like alone: write its "
    "whole path in ExecStart if it lies elsewhere.",
    "It runs while its user is logged in; loginctl enable-linger lets it run without.",
)


def _why_not(words: Sequence[str]) -> str:
    for word in words:
        if "\0" in word or has_stray_bytes(word):
            return (
                f"A unit cannot hold {word[:40]!r}, which has bytes that are no text: write it "
                "without them."
            )
    return ""


def _unit(words: Sequence[str], name: str, *, locks: bool) -> str:
    limits = ["LimitMEMLOCK=infinity"] if locks else []
    return "\n".join(
        (
            "[Unit]",
            f"Description=llama.cpp server for {name.replace('%', '%%')}",
            "",
            "[Service]",
            f"ExecStart={_command((PROGRAM, *words))}",
            "Restart=on-failure",
            *limits,
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        )
    )


def _command(words: Sequence[str]) -> str:
    """``words`` as systemd takes them apart again, with a line for each flag."""
    text = ""
    for number, word in enumerate(words):
        if number:
            text += " \\\n  " if _FLAG.match(word) else " "
        text += quoted(word)
    return text


def quoted(word: str) -> str:
    """``word`` as ``ExecStart`` holds it."""
    if _BARE.fullmatch(word):
        return word
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return '"' + _CONTROL.sub(_escaped, text) + '"'


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0], f"\\x{ord(found[0]):02x}")
