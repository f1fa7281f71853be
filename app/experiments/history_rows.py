"""What a list of experiments shows of each, and the experiment as the blob that is kept. Pure."""

from __future__ import annotations

import math
import statistics
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State
from app.experiments.measures import BY_FIGURE
from app.experiments.subject_text import settings_text
from app.plain_output import without_controls
from app.storage.conversation_search import folded
from app.storage.journal_records import storable

HEADLINES = ("ttft_s", "tpot_s", "prefill_tok_s", "total_tok_s", "goodput_req_s", "owned_bytes")
"""Figures that a list shows and can be ordered by."""

ALIKE = "alike"
"""In ``Row.extra`` 1 of a sweep of which no configuration can be told from the others by speed."""

DISTURBED_RUNS = "disturbed_runs"
"""In ``Row.extra`` how many runs something disturbed."""

# A note may be a page; more of a text is not looked through.
_MOST_CHARACTERS = 100_000
_MOST_TAG_CHARACTERS = 60
_MOST_TAGS = 50
# An experiment of a thousand cells takes 2 MB; what inflates to more is none of ours.
_LARGEST_BYTES = 1 << 28


class Row(msgspec.Struct, frozen=True):
    """An experiment in a list.

    Attributes:
        key: Of the experiment.
        kind: What was done.
        begun_at: When, UTC, ISO 8601 with seconds.
        state: How far it came.
        title: One line.
        model: The model's shown name.
        model_sha256: Hash of its file; empty if unknown.
        machine: In one line.
        engine: With its version and build.
        cells: Configurations that were measured.
        runs: Runs of all of them.
        best: Name of the cell that the figures are of: the one with the most output tokens per
            second in total; empty where there is only one.
        ttft_s: Median TTFT over the runs of that cell, as all figures; None if unknown.
        tpot_s: Median TPOT.
        prefill_tok_s: Prefill speed.
        total_tok_s: Output tokens of all streams per second.
        goodput_req_s: Requests within the limits per second.
        owned_bytes: Most private memory of the engine process.
        extra: Figures of one kind of experiment only, by name with unit; and ``ALIKE`` and
            ``DISTURBED_RUNS`` where there is something to be said of them.
        tags: The user's words.
        note: The user's note.
    """

    key: str
    kind: Kind
    begun_at: str
    state: State
    title: str
    model: str
    model_sha256: str
    machine: str
    engine: str
    cells: int
    runs: int
    best: str
    ttft_s: float | None
    tpot_s: float | None
    prefill_tok_s: float | None
    total_tok_s: float | None
    goodput_req_s: float | None
    owned_bytes: float | None
    extra: dict[str, float]
    tags: tuple[str, ...]
    note: str


ROW_COLUMNS = Row.__struct_fields__
"""Columns of the table ``experiments`` that make a ``Row``, in its order."""

_extra_decoder = msgspec.json.Decoder(dict[str, float])
_tags_decoder = msgspec.json.Decoder(tuple[str, ...])
_experiment_decoder = msgspec.json.Decoder(Experiment)
_KINDS = {str(kind): kind for kind in Kind}
_STATES = {str(state): state for state in State}
_NO_EXTRA = "{}"
_NO_TAGS = "[]"


def row_of(values: tuple[Any, ...]) -> Row:
    """A row out of ``ROW_COLUMNS`` as the file gives them.

    Raises:
        KeyError: If its kind or state is a newer program's.
    """
    named = dict(zip(ROW_COLUMNS, values, strict=True))
    extra = named["extra"]
    named["kind"] = _KINDS[named["kind"]]
    named["state"] = _STATES[named["state"]]
    named["extra"] = {} if extra == _NO_EXTRA else _extra_decoder.decode(extra)
    named["tags"] = tags_of(named["tags"])
    return Row(**named)


def values_of(experiment: Experiment) -> dict[str, object]:
    """The columns of a row for the file; the user's tags and note are those it began with."""
    best = best_cell(experiment)
    extra = {**(best.extra if best is not None else {}), **_marks(experiment)}
    measured = [cell for cell in experiment.cells if cell.runs or cell.extra]
    subject = experiment.subject
    return {
        "key": experiment.key,
        "kind": str(experiment.kind),
        "begun_at": experiment.begun_at,
        "begun_s": seconds_of(experiment.begun_at),
        "state": str(experiment.state),
        "title": experiment.title,
        "model": subject.model,
        "model_sha256": subject.model_sha256,
        "machine": subject.machine,
        "engine": subject.engine,
        "cells": len(measured),
        "runs": sum(len(cell.runs) for cell in measured),
        "best": best.name if best is not None and len(measured) > 1 else "",
        **{key: _median(best, key) for key in HEADLINES},
        "extra": msgspec.json.encode(extra).decode() if extra else _NO_EXTRA,
        "tags": tags_text(experiment.tags),
        "note": experiment.note,
    }


def best_cell(experiment: Experiment) -> Cell | None:
    """The cell whose figures stand for all: the one with the most output tokens per second.

    Where none has that, the one with most figures of its kind; None where nothing was measured.
    """
    measured = [cell for cell in experiment.cells if cell.runs or cell.extra]
    rated = [(speed, cell) for cell in measured if (speed := _median(cell, "total_tok_s"))]
    if rated:
        return max(rated, key=lambda pair: pair[0])[1]
    return max(measured, key=lambda cell: len(cell.extra), default=None)


def words_of(experiment: Experiment) -> str:
    """What a search looks through but for tags and note: folded, each setting once."""
    subject = experiment.subject
    settings = {
        settings_text({key: value}): None
        for cell in experiment.cells
        for key, value in (*cell.config.items(), *cell.effective.items())
    }
    parts = (experiment.title, experiment.kind, subject.model, subject.engine, subject.machine)
    return folded("\n".join((*parts, *settings)))[:_MOST_CHARACTERS]


def own_words_of(tags: Iterable[str], note: str) -> str:
    """What a search looks through of tags and note: folded."""
    return folded("\n".join((*tags, note)))[:_MOST_CHARACTERS]


def cleaned_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are kept: on one line, not empty, each once whatever its case."""
    found: dict[str, str] = {}
    for tag in tags:
        line = " ".join(without_controls(tag).split())
        text = storable(line[:_MOST_TAG_CHARACTERS]).strip()
        if text:
            found.setdefault(folded(text), text)
    return tuple(found.values())[:_MOST_TAGS]


def tags_text(tags: Iterable[str]) -> str:
    """Tags for their column."""
    return msgspec.json.encode(tuple(tags)).decode()


def tags_of(text: str) -> tuple[str, ...]:
    """Tags out of their column."""
    return () if text == _NO_TAGS else _tags_decoder.decode(text)


def content_of(experiment: Experiment) -> bytes:
    """The experiment for its blob."""
    return zlib.compress(msgspec.json.encode(experiment))


def experiment_of(content: bytes) -> Experiment:
    """The experiment in a blob.

    Raises:
        ValueError: If it is damaged, or a newer program's; the message says where.
    """
    inflating = zlib.decompressobj()
    try:
        text = inflating.decompress(content, _LARGEST_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not inflating.eof:
        raise ValueError("it is cut off, or too large")
    try:
        return _experiment_decoder.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def can_be_kept(experiment: Experiment) -> Experiment:
    """``experiment`` without what JSON and SQLite cannot hold.

    Halves of characters (of file names in another encoding) become U+FFFD, figures that are no
    numbers are left out.
    """
    cells = tuple(
        msgspec.structs.replace(cell, extra=_finite(cell.extra)) for cell in experiment.cells
    )
    tidy = msgspec.structs.replace(experiment, cells=cells, tags=cleaned_tags(experiment.tags))
    try:
        msgspec.json.encode(tidy)
    except UnicodeEncodeError:
        plain = _walked(msgspec.to_builtins(tidy), storable)
        return msgspec.convert(plain, Experiment)
    return tidy


def seconds_of(begun_at: str) -> float:
    """An ISO 8601 time as seconds since 1970; one without a zone is UTC, no time is 0."""
    try:
        moment = datetime.fromisoformat(begun_at)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def marks_of(row: Row) -> tuple[bool, int]:
    """Whether its configurations are alike, and how many of its runs were disturbed."""
    return bool(row.extra.get(ALIKE)), int(row.extra.get(DISTURBED_RUNS, 0))


def figures_in(row: Row) -> dict[str, float]:
    """``Row.extra`` without what is no figure."""
    return {key: value for key, value in row.extra.items() if key not in (ALIKE, DISTURBED_RUNS)}


# --- Inside -----------------------------------------------------------------------------


def _median(cell: Cell | None, key: str) -> float | None:
    values = [] if cell is None else [getattr(run, key) for run in cell.runs]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return float(statistics.median(known)) if known else None


def _marks(experiment: Experiment) -> dict[str, float]:
    """What is said of the whole beside its figures."""
    disturbed = sum(bool(told) for cell in experiment.cells for told in cell.disturbed)
    marks = {DISTURBED_RUNS: float(disturbed)} if disturbed else {}
    if experiment.kind is Kind.SWEEP and len(experiment.cells) > 1:
        # With numpy, which takes a command that only lists long to read.
        from app.experiments.ranking import are_alike  # noqa: PLC0415

        if are_alike(experiment.cells, BY_FIGURE["total_tok_s"]):
            marks[ALIKE] = 1.0
    return marks


def _finite(extra: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in extra.items() if math.isfinite(value)}


def _walked(value: object, change: Callable[[str], str]) -> object:
    """``value`` of plain types with every text changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_walked(key, change): _walked(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(item, change) for item in value]
    return value
