"""Which experiments a list shows, in what order, as SQL. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.experiments.experiment import Kind, State
from app.experiments.history_rows import ROW_COLUMNS
from app.storage.conversation_search import folded, search_words

# SQLite takes any number below zero as no limit.
_NO_LIMIT = -1


class Order(StrEnum):
    """What a list is ordered by; the values are columns."""

    TIME = "key"
    KIND = "kind"
    STATE = "state"
    TITLE = "title"
    MODEL = "model"
    TTFT = "ttft_s"
    TPOT = "tpot_s"
    PREFILL = "prefill_tok_s"
    THROUGHPUT = "total_tok_s"
    GOODPUT = "goodput_req_s"
    MEMORY = "owned_bytes"


_TEXTS = {Order.TITLE, Order.MODEL}


@dataclass(frozen=True)
class Filter:
    """What a list is to show; the default is all, newest first.

    Attributes:
        text: Words that must all stand in title, subject, settings, tags or note, or be parts of
            what stands there, whatever their case and accents.
        kinds: One of these; empty for all.
        states: One of these; empty for all.
        models: One of these shown names; empty for all.
        tag: With this tag, whatever its case; empty for all.
        since: Begun then or later; with a time zone.
        until: Begun before; with a time zone.
        order: What they are ordered by. Those without that figure come last.
        is_descending: Whether the newest or largest comes first.
        limit: At most so many; None for all.
        is_of_bin: What was deleted instead of what was not.
    """

    text: str = ""
    kinds: tuple[Kind, ...] = ()
    states: tuple[State, ...] = ()
    models: tuple[str, ...] = ()
    tag: str = ""
    since: datetime | None = None
    until: datetime | None = None
    order: Order = Order.TIME
    is_descending: bool = True
    limit: int | None = None
    is_of_bin: bool = False


def query_of(wanted: Filter) -> tuple[str, tuple[object, ...]]:
    """The statement that reads ``ROW_COLUMNS``, and its parameters."""
    conditions = [f"deleted_s IS {'NOT NULL' if wanted.is_of_bin else 'NULL'}"]
    parameters: list[object] = []
    for column, values in (
        ("kind", wanted.kinds),
        ("state", wanted.states),
        ("model", wanted.models),
    ):
        if values:
            conditions.append(f"{column} IN ({', '.join('?' * len(values))})")
            parameters += map(str, values)
    for comparison, moment in (("begun_s >= ?", wanted.since), ("begun_s < ?", wanted.until)):
        if moment is not None:
            conditions.append(comparison)
            parameters.append(moment.timestamp())
    if tag := folded(" ".join(wanted.tag.split())):
        conditions.append("key IN (SELECT key FROM tags WHERE tag = ?)")
        parameters.append(tag)
    if words := search_words(wanted.text):
        found = " AND ".join(["(instr(text, ?) OR instr(own, ?))"] * len(words))
        conditions.append(f"key IN (SELECT key FROM words WHERE {found})")
        parameters += [word for word in words for _ in range(2)]
    parameters.append(_NO_LIMIT if wanted.limit is None else wanted.limit)
    return (
        f"SELECT {', '.join(ROW_COLUMNS)} FROM experiments WHERE {' AND '.join(conditions)} "
        f"ORDER BY {_order_of(wanted)} LIMIT ?",
        tuple(parameters),
    )


def _order_of(wanted: Filter) -> str:
    direction = "DESC" if wanted.is_descending else "ASC"
    if wanted.order is Order.TIME:
        return f"key {direction}"
    by = f"{wanted.order} COLLATE NOCASE" if wanted.order in _TEXTS else str(wanted.order)
    # Of equal ones the newest comes first, whatever the direction.
    return f"{wanted.order} IS NULL, {by} {direction}, key DESC"
