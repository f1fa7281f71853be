"""An export as a terminal shows it: the command, its files, and what there is to know of both."""

from __future__ import annotations

from app.export.dialect import Export
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY


def command_and_files(export: Export, *, in_lines: bool, with_files: bool) -> str:
    """The command, and behind it each file under a line with its name.

    Args:
        export: What to show.
        in_lines: Whether the command has a line for each flag.
        with_files: Whether the files are shown; not where they are written into a folder.
    """
    parts = [export.lines if in_lines else export.text]
    if with_files:
        parts += [f"\n--- {file.name} ---\n{file.text.rstrip()}" for file in export.files]
    return "\n".join(parts)


def remarks(export: Export, config: EngineConfig) -> list[str]:
    """What to know of an export, a line each.

    Of settings that are not carried those that were changed: nobody misses what nobody has set.
    """
    changed, others = [], 0
    for key, reason in export.not_carried.items():
        if getattr(config, key) != BY_KEY[key].default:
            changed.append(f"not carried: {key}: {reason}")
        else:
            others += 1
    lines = [f"file: {file.name}: {file.about}" for file in export.files]
    lines += [f"note: {note}" for note in export.notes]
    lines += changed
    if others:
        which = "1 setting that was" if others == 1 else f"{others} settings that were"
        lines.append(f"not carried either: {which} not changed; --json names each with its reason.")
    return lines
