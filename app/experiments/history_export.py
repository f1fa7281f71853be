"""Experiments for other programs: CSV to compute with, JSON whole, Markdown to read. Pure.

CSV has a line for each run of each configuration; a configuration without runs has one too. Units
stand in the names of the columns. Shares are 0 to 1. JSON is the ``Experiment``, field by field; it
alone has the detail of runs, which is no single figure.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from app.experiments.experiment import Cell, Experiment, Figures
from app.experiments.extra_figures import extra_figures, extra_label
from app.experiments.markdown_text import block, code, line, table
from app.experiments.measures import BY_FIGURE, MEASURES, Measure
from app.experiments.run_figures import DEFINITIONS
from app.experiments.scales import cell_values, common_scale, label_of, scale_of, with_spread
from app.experiments.spread import summary
from app.experiments.subject_text import settings_text
from app.experiments.tables import DISTURBED, keys_of, spread_sentence
from app.storage.journal_records import storable
from engine_bridge.settings.domain import Value

Kind = Literal["csv", "json", "markdown"]
KINDS: tuple[Kind, ...] = ("csv", "json", "markdown")
ENDINGS: dict[str, Kind] = {".csv": "csv", ".json": "json", ".md": "markdown"}
"""Which export a file's ending asks for."""

# A spreadsheet takes what begins so for a formula and runs it; the wide ones stand for the others.
_FORMULA = re.compile(r"[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
# Shares whose field's name does not say that they are one.
_HEADERS = {"mbu": "mbu_share", "acceptance": "acceptance_share"}
_FIGURES = tuple(name for name in Figures.__struct_fields__ if name != "detail")
_ABOUT = (
    "key", "kind", "begun_at", "state", "title", "tags", "note", "machine", "engine", "model",
    "model_sha256", "model_bytes", "cell", "run", "skipped", "disturbed",
)  # fmt: skip
# What a table with a line for each configuration shows of what was measured.
_COLUMNS = (
    "ttft_s", "tpot_s", "itl_p99_s", "prefill_tok_s", "total_tok_s", "goodput_req_s", "mbu",
    "owned_bytes", "acceptance",
)  # fmt: skip


def exported(experiment: Experiment, kind: Kind) -> bytes:
    """The content of a file of that kind."""
    if kind == "json":
        return to_json(experiment)
    text = to_csv([experiment]) if kind == "csv" else to_markdown(experiment)
    return storable(text).encode()


def to_json(experiment: Experiment) -> bytes:
    """The experiment as one JSON object, indented, with a line end."""
    return msgspec.json.format(msgspec.json.encode(experiment), indent=2) + b"\n"


def to_csv(experiments: Sequence[Experiment]) -> str:
    """A line for each run, those of all ``experiments`` under one another.

    Texts that a spreadsheet would take for a formula begin with an apostrophe.
    """
    cells = [cell for experiment in experiments for cell in experiment.cells]
    extras = list(dict.fromkeys(name for cell in cells for name in cell.extra))
    settings = _setting_keys(cells, "config")
    made = _setting_keys(cells, "effective")
    content = io.StringIO()
    # RFC 4180; and both signs of it are quoted then where a text has them.
    writer = csv.writer(content, lineterminator="\r\n")
    writer.writerow(
        [
            *_ABOUT,
            *(_HEADERS.get(name, name) for name in _FIGURES),
            *map(_safe, extras),
            *(f"set_{key}" for key in settings),
            *(f"made_{key}" for key in made),
        ]
    )
    for experiment in experiments:
        for cell in experiment.cells:
            tail = [
                *(cell.extra.get(name) for name in extras),
                *(_plain(cell.config.get(key)) for key in settings),
                *(_plain(cell.effective.get(key)) for key in made),
            ]
            for head in _run_values(experiment, cell):
                writer.writerow([_safe(value) for value in (*head, *tail)])
    return content.getvalue()


def to_markdown(experiment: Experiment) -> str:
    """Figures with their spread, what was measured, with what work, and what the figures mean."""
    measured = [cell for cell in experiment.cells if cell.runs or cell.extra]
    parts = [
        f"# {line(experiment.title) or experiment.kind}",
        f"*{' · '.join(map(line, _about(experiment)))}*",
        *_sentences(experiment),
        *_figures(measured),
        *_lists(experiment),
        "## What was measured\n\n" + _subject(experiment),
    ]
    if experiment.workload:
        parts.append("## Workload\n\n" + block(_indented(experiment.workload), "json"))
    if definitions := _definitions(measured):
        parts.append("## What the figures mean\n\n" + definitions)
    return "\n\n".join(part for part in parts if part) + "\n"


# --- CSV --------------------------------------------------------------------------------


def _run_values(experiment: Experiment, cell: Cell) -> Iterator[list[object]]:
    """For each run its values up to the figures; once, without figures, where there is none."""
    subject = experiment.subject
    about = [
        experiment.key, experiment.kind, experiment.begun_at, experiment.state, experiment.title,
        ", ".join(experiment.tags), experiment.note, subject.machine, subject.engine,
        subject.model, subject.model_sha256, subject.model_bytes or None, cell.name,
    ]  # fmt: skip
    if not cell.runs:
        yield [*about, None, cell.skipped, "", *[None] * len(_FIGURES)]
    for number, run in enumerate(cell.runs):
        said = cell.disturbed[number] if number < len(cell.disturbed) else ""
        yield [*about, number + 1, cell.skipped, said, *(getattr(run, name) for name in _FIGURES)]


def _setting_keys(cells: Sequence[Cell], field: str) -> list[str]:
    """Keys of settings in use; the model's file is told by its name and hash."""
    keys = dict.fromkeys(key for cell in cells for key in getattr(cell, field))
    return [key for key in keys if key != "model_path"]


def _plain(value: Value | None) -> object:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(value) if isinstance(value, tuple) else value


def _safe(value: object) -> object:
    """Texts alone can be formulas; a number that is below zero stays one."""
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


# --- Markdown ---------------------------------------------------------------------------


def _about(experiment: Experiment) -> list[str]:
    when = experiment.begun_at.replace("T", " ").replace("+00:00", " UTC")
    tags = [", ".join(experiment.tags)] if experiment.tags else []
    return [str(experiment.kind), str(experiment.state), when, experiment.key, *tags]


def _sentences(experiment: Experiment) -> list[str]:
    said = [line(sentence) for sentence in experiment.conclusion]
    if experiment.failure:
        said.append(f"Failed: {line(experiment.failure)}")
    if experiment.note.strip():
        quoted = "\n".join(f"> {line(text)}".rstrip() for text in experiment.note.splitlines())
        said.append(quoted)
    return said


def _figures(measured: Sequence[Cell]) -> list[str]:
    if not measured:
        return ["Nothing was measured."]
    only = measured[0] if len(measured) == 1 else None
    parts = [_summary(only)] if only else [_cells(measured), _extras(measured)]
    if any(cell.runs for cell in measured):
        parts.append(line(spread_sentence([cell for cell in measured if cell.runs])))
    if any(any(cell.disturbed) for cell in measured):
        parts.append(f"{line(DISTURBED)} A run was disturbed; see below.")
    return parts


def _summary(cell: Cell) -> str:
    """A line for each figure of the only configuration; of a single run there is no spread."""
    rows = []
    for measure in MEASURES:
        values = cell_values(cell, measure.key)
        short = summary(values)
        if short is not None:
            scale = scale_of(measure, short.median)
            known = [value for value in values if value is not None]
            told = (short.median, short.spread, min(known), max(known))
            rows.append([label_of(measure), *map(scale.text, told), scale.unit])
    rows += [
        [figure.label, figure.value, figure.error, "", "", figure.unit]
        for figure in extra_figures(cell.extra)
    ]
    if len(cell.runs) > 1:
        head = (f"{len(cell.runs)} runs", "median", "±", "lowest", "highest", "")
        return table(head, rows, left=(0, 5))
    if any(row[2] for row in rows) and not cell.runs:
        narrow = [[*row[:3], row[-1]] for row in rows]
        return table(("", "value", "± standard error", ""), narrow, left=(0, 3))
    return table(("", "value", ""), [[*row[:2], row[-1]] for row in rows], left=(0, 2))


def _cells(cells: Sequence[Cell]) -> str:
    shown = [BY_FIGURE[key] for key in _COLUMNS if key in keys_of(cells)]
    if not shown:
        return ""
    scales = [common_scale(measure, cells) for measure in shown]
    head = [f"{label_of(m)} {s.unit}".rstrip() for m, s in zip(shown, scales, strict=True)]
    rows = [
        [
            cell.name + (f" {DISTURBED}" if any(cell.disturbed) else ""),
            *(with_spread(summary(cell_values(cell, measure.key)), scale)
              for measure, scale in zip(shown, scales, strict=True)),
            str(len(cell.runs)),
        ]
        for cell in cells
    ]  # fmt: skip
    return table(("configuration", *head, "runs"), rows)


def _extras(cells: Sequence[Cell]) -> str:
    """Figures of one kind of experiment only, a line for each configuration."""
    told = [(cell.name, {f.key: f for f in extra_figures(cell.extra)}) for cell in cells]
    names = list(dict.fromkeys(name for _, figures in told for name in figures))
    if not names:
        return ""
    rows = [
        [cell, *(figures[name].text if name in figures else "–" for name in names)]
        for cell, figures in told
        if figures
    ]
    return table(("configuration", *map(extra_label, names)), rows)


def _lists(experiment: Experiment) -> list[str]:
    """Notes, disturbed runs and what was left out, each with the name of its configuration."""
    is_named = len(experiment.cells) > 1
    notes = [_item(cell, note, is_named) for cell in experiment.cells for note in cell.notes]
    disturbed = [
        _item(cell, f"run {number}: {said}", is_named)
        for cell in experiment.cells
        for number, said in enumerate(cell.disturbed, start=1)
        if said
    ]
    skipped = [_item(cell, cell.skipped, True) for cell in experiment.cells if cell.skipped]
    named = (("Notes", notes), ("Disturbed", disturbed), ("Not measured", skipped))
    return [f"## {head}\n\n" + "\n".join(items) for head, items in named if items]


def _item(cell: Cell, said: str, is_named: bool) -> str:
    return f"* {line(cell.name)}: {line(said)}" if is_named else f"* {line(said)}"


def _subject(experiment: Experiment) -> str:
    subject = experiment.subject
    told = [
        ("Model", line(subject.model)),
        ("SHA-256", code(subject.model_sha256)),
        ("Size", f"{subject.model_bytes:,} bytes" if subject.model_bytes else ""),
        ("Engine", line(subject.engine)),
        ("Machine", line(subject.machine)),
    ]
    if len(experiment.cells) == 1:
        cell = experiment.cells[0]
        told.append(("Settings", code(settings_text(cell.config) or "defaults")))
        told.append(("Made of them", code(settings_text(cell.effective))))
    return "\n".join(f"* {name}: {text}" for name, text in told if text)


def _definitions(measured: Sequence[Cell]) -> str:
    shown: list[Measure] = [BY_FIGURE[key] for key in keys_of(measured)]
    if len(measured) > 1:
        shown = [measure for measure in shown if measure.key in _COLUMNS]
    return "\n".join(f"* **{label_of(m)}**: {line(DEFINITIONS[m.key])}" for m in shown)


def _indented(workload: str) -> str:
    try:
        return msgspec.json.format(workload, indent=2)
    except msgspec.DecodeError:
        return workload
