"""What ``tunedeck inspect`` tells of a file: the inspector's sheet for a terminal, or as JSON."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from app.json_output import tell_error, write_json
from app.library.model_entry import ModelEntry
from app.library.model_walk import part_locations
from app.model_sheets import sheet_of
from app.plain_output import printable
from app.template_answer import template_on_a_sample
from engine_bridge.gguf_window import GgufError, shown_name
from engine_bridge.header_facts import HeaderFacts, read_header_facts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.home_path import whole_path
from engine_bridge.template_sheet import TemplateSheet
from widgets.model_rows import ModelSheet

_MARKS = {"good": "+", "note": "!", "bad": "x"}
_BASE = (
    "The file has no chat template: a base model. TuneDeck gives it your words as they are; "
    "llama-server writes them in ChatML."
)


def inspect(arguments: argparse.Namespace) -> int:
    """Tell of ``arguments.model``; gives the exit status."""
    try:
        entry = _entry(whole_path(arguments.model))
    except GgufError as error:
        tell_error(str(error), as_json=arguments.json)
        return 1
    assert entry.facts is not None
    template = template_on_a_sample(entry.path) if arguments.template else None
    if arguments.json:
        write_json(_values(entry, entry.facts, template), sys.stdout)
    else:
        lines = [*_lines(sheet_of(entry)), *(_template_lines(template) if template else ())]
        sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return 1 if template is not None and _failed(template) else 0


def _failed(template: TemplateSheet) -> bool:
    checked = template.checked
    return bool(template.problem or (checked is not None and checked.error))


def _entry(path: str) -> ModelEntry:
    """The file as the list of models has it.

    Raises:
        GgufError: If it is no model.
    """
    facts = read_header_facts(path)
    parts = part_locations(os.fsencode(path))
    try:
        sizes = [os.stat(part).st_size for part in parts]  # noqa: PTH116 - bytes
    except OSError as error:
        reason = error.strerror or str(error)
        raise GgufError(
            f"{shown_name(path)} cannot be looked at: {reason}. Check the drive it is on."
        ) from None
    return ModelEntry(
        parts[0], b"", facts.name, sum(sizes), 0, parts=len(parts), facts=facts, is_read=True
    )


def _values(
    entry: ModelEntry, facts: HeaderFacts, template: TemplateSheet | None
) -> dict[str, object]:
    return {
        "path": entry.path,
        "size_bytes": entry.size_bytes,
        "parts": entry.parts,
        "facts": facts,
        "kv_bytes_per_token": {name: facts.kv_bytes_per_token(name) for name in CACHE_TYPES}
        if facts.cache
        else None,
        "template": template,
    }


def _lines(sheet: ModelSheet) -> Iterator[str]:
    yield sheet.title
    yield sheet.path
    yield ""
    yield from _columns([(label, value) for label, value in sheet.facts])
    if sheet.kv_rows:
        has_windows = any(row.windowed for row in sheet.kv_rows)
        titles = ["KV cache", "per token", *(["windowed"] if has_windows else []), "of f16"]
        rows = [
            (row.cache_type, row.per_token, *([row.windowed] if has_windows else []), row.share)
            for row in sheet.kv_rows
        ]
        yield ""
        yield from _columns([tuple(titles), *rows])
    if sheet.kv_notes:
        yield sheet.kv_notes


def _columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _template_lines(sheet: TemplateSheet) -> Iterator[str]:
    yield ""
    yield "Chat template on a sample"
    others = f"Also in the file: {', '.join(sheet.others)}." if sheet.others else ""
    checked = sheet.checked
    if sheet.problem or checked is None:
        yield from filter(None, (sheet.problem or _BASE, others))
        return
    if sheet.name:
        yield f"It is the template {sheet.name}, the only one in the file."
    yield from filter(None, (others, checked.error, checked.note))
    if checked.pieces:
        yield ""
        yield "".join(piece.text for piece in checked.pieces)
        yield "… and more." if checked.is_cut else ""
    for finding in checked.findings:
        yield f"{_MARKS[finding.verdict]} {finding.sentence}"
