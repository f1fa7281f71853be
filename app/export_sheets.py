"""An export as the sheet that the view shows. Pure; knows no widget but its plain values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from app.export.about import about, in_groups
from app.export.carried import Manner
from app.export.dialect import Export
from app.export.targets import TARGETS
from app.file_names import safe_file_name
from app.quoting import Shell
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import PathDomain
from engine_bridge.settings.row import Setting
from engine_bridge.settings.table import SETTINGS
from widgets.export_sheet import ExportPart, ExportSheet, ExportTarget, Fate, SettingFate
from widgets.value_text import value_with_unit

TRIED = ("llama serve", "llama-server")
"""Targets whose line can be tried with the program itself."""

_NO_MODEL = "Choose a model first: then everything that leaves with it stands here."
_REFUSED = "There is no such command for this shell; the reason stands above."
_COMMAND = "Command"
# Longer names of files do not fit into their tabs: then the ending stands for the name.
_LONGEST_TITLE = 20
# Engines that are told by their file, which the command only hands over.
_TOLD_BY_FILE = frozenset(
    {"llama-preset", "llama-swap", "docker-compose", "systemd", "ollama", "llama-cpp-python"}
)
_ENDINGS = {Shell.POSIX: "sh", Shell.POWERSHELL: "ps1", Shell.CMD: "txt"}
_FATES: dict[Manner, Fate] = {
    Manner.SAID: "said",
    Manner.TRANSLATED: "translated",
    Manner.NOT_CARRIED: "left out",
}
_DEFAULTS = EngineConfig()
_NONE = "–"


def export_targets() -> tuple[ExportTarget, ...]:
    """The engines there are, in groups."""
    made = []
    for key in in_groups(list(TARGETS)):
        known = about(key)
        made.append(
            ExportTarget(
                key, known.name, known.group, known.told, known.needs, can_be_tried=key in TRIED
            )
        )
    return tuple(made)


def export_sheet(
    export: Export,
    config: EngineConfig,
    shell: Shell,
    refusals: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> ExportSheet:
    """All that is shown of ``export``.

    Args:
        export: What a dialect wrote.
        config: What it wrote.
        shell: Whom the command is quoted for.
        refusals: Why the engine would not take it.
        notes: What else one should know, before the dialect's own.
    """
    parts = _parts(export, shell)
    nothing = ""
    if not parts:
        nothing = _REFUSED if config.model_path else _NO_MODEL
    return ExportSheet(
        target=export.target,
        parts=parts,
        refusals=tuple(refusals),
        notes=(*notes, *export.notes),
        settings=tuple(_fate(setting, export, config) for setting in SETTINGS),
        front=1 if export.target in _TOLD_BY_FILE and len(parts) > 1 else 0,
        nothing=nothing,
    )


def value_words(setting: Setting, value: object) -> str:
    """A value in one line with its unit; of a path the file's name."""
    if value in ("", ()):
        return _NONE
    if isinstance(setting.domain, PathDomain):
        return PurePath(str(value)).name
    if isinstance(value, int | float):
        return value_with_unit(setting, value)
    return " ".join(setting.domain.format(value).split())


# --- Inside -------------------------------------------------------------------------------------


def _parts(export: Export, shell: Shell) -> tuple[ExportPart, ...]:
    if not export.text:
        return ()
    text = export.lines or export.text
    name = f"{safe_file_name(export.target, 'command')}.{_ENDINGS[shell]}"
    command = ExportPart(_COMMAND, text, "", name, is_command=True)
    titles = _titles([file.name for file in export.files])
    files = [
        ExportPart(title, file.text, file.about, file.name)
        for title, file in zip(titles, export.files, strict=True)
    ]
    return (command, *files)


def _titles(names: Sequence[str]) -> list[str]:
    """What the tabs of files are called: their names, of a long one the ending."""
    short = [
        PurePath(name).suffix or name if len(name) > _LONGEST_TITLE else name for name in names
    ]
    # Two of one kind are told apart by their whole names.
    return [
        title if short.count(title) == 1 else name for title, name in zip(short, names, strict=True)
    ]


def _fate(setting: Setting, export: Export, config: EngineConfig) -> SettingFate:
    value = getattr(config, setting.key)
    answer = export.carried.get(setting.key)
    reason = export.not_carried.get(setting.key, "")
    fate: Fate = "left out" if reason else "said"
    if answer is not None:
        fate = _FATES[answer.manner]
    return SettingFate(
        key=setting.key,
        label=setting.label,
        value=value_words(setting, value),
        fate=fate,
        words=answer.how if answer is not None else reason,
        is_changed=value != getattr(_DEFAULTS, setting.key),
    )
