"""The table of memory by use as text. Pure: no Qt but the cells' dataclass.

All in MiB: in GiB what is unexplained would be two digits behind the point.
"""

from __future__ import annotations

from engine_bridge.metrics.memory_table import MemoryTable, Use, UseBytes
from widgets.byte_text import byte_text
from widgets.cell_grid import Cell

_MIB = 1 << 20
_NONE = "–"
_USES: dict[Use, str] = {
    "mapped": "Weights, mapped",
    "weights": "Weights, owned",
    "kv": "KV and state",
    "compute": "Compute, output",
    "draft": "Draft",
    "caches": "Prompt caches",
    "rest": "Unexplained rest",
}
_SPOKEN: dict[Use, str] = {use: words.replace(",", "").lower() for use, words in _USES.items()}
# The driver tells one number; the plan says what it is for, use by use in the order of the rows.
_MEANINGS: dict[Use, str] = {
    "mapped": (
        "Pages of the model's file that are in memory for the engine. The system takes them back "
        "where it needs the room, and reads them again."
    ),
    "weights": (
        "Weights that the engine owns: on a board, or repacked for the processor so that no file "
        "holds them."
    ),
    "kv": (
        "The KV cache of all slots and the state of recurrent layers, allocated with the context; "
        "the system counts it as it is written to."
    ),
    "compute": "Buffers for one micro-batch, and the logits that leave the model.",
    "draft": "The model that drafts, with its own cache and buffers.",
    "caches": (
        "Prompts kept in host memory, and checkpoints. ≤ is the budget: it fills with use and is "
        "given back where memory is needed."
    ),
}
_HEADS = (
    ("MiB", "1 MiB is 1,048,576 bytes; 1,024 of them are one GiB."),
    ("predicted", "By a dry run of the engine, before anything was allocated."),
    (
        "measured",
        "The engine's memory as the system or the driver counts it, about once a second; shared "
        "out to the uses in the order of the rows, and what is left over is the unexplained rest.",
    ),
    ("difference", "Measured − predicted."),
)
_SWAP = "What all programs together have on the disk. A model that lies there crawls."
_ALL = "All uses above together; a budget (≤) is not in it."
_ROOM_OF_HOST = "What a program can still have without swapping, of all main memory."
_ROOM_OF_BOARD = "What is free on this device, of all it has."
_REST_OF_HOST = (
    "Unexplained: owned by the engine and in no plan. Python with its libraries, the vocabulary, "
    "the tokens of the slots and what the allocator keeps are in it."
)
_REST_OF_BOARD = (
    "Unexplained: held by the engine there and in no plan. The driver's context, its kernels and "
    "their scratch memory are in it."
)
_UNTOUCHED = "Less than predicted: reserved, and not touched yet."
_NOT_TOLD = "Only predicted: the driver does not tell what the engine holds there."
_NOT_TOLD_HOST = "Only predicted: the system does not tell what the engine holds."
# Pages more or less are no difference: a buffer begins and ends inside of one.
_NOTABLE_BYTES = _MIB


def mib_text(size: int) -> str:
    """MiB without the unit: ``1,234``, below ten with one decimal."""
    amount = size / _MIB
    return f"{amount:.1f}" if 0 < abs(amount) < 9.95 else f"{amount:,.0f}"


def signed_mib(size: int) -> str:
    """MiB with its sign: ``+12``, ``−3.1``, ``0``."""
    if abs(size) < _MIB / 20:
        return "0"
    return f"{'+' if size > 0 else '−'}{mib_text(abs(size))}"


def room_text(table: MemoryTable) -> str:
    """``9.1 of 15.6 GiB free``; empty where the size is unknown."""
    if table.total_bytes <= 0:
        return ""
    free, total = byte_text(table.free_bytes), byte_text(table.total_bytes)
    if free.split()[1] == total.split()[1]:
        free = free.split()[0]
    return f"{free} of {total} {'available' if table.is_host else 'free'}"


def room_tip(table: MemoryTable) -> str:
    """What ``room_text`` means."""
    return _ROOM_OF_HOST if table.is_host else _ROOM_OF_BOARD


def room_lines(table: MemoryTable) -> list[list[Cell]]:
    """Whose main memory is: this window's, the engine's, the mapped model's; and swap."""
    if not table.is_host:
        return []
    rows = [
        ("This window", _amount(table.window_bytes), "What this window's process owns alone."),
        ("Engine", _amount(table.engine_bytes), "What the engine's process owns alone."),
    ]
    if table.mapped_bytes:
        text = _amount(table.mapped_bytes)
        rows.append(("Engine, mapped files", text, _MEANINGS["mapped"]))
    if table.swap_used_bytes is not None and table.swap_total_bytes is not None:
        used, total = mib_text(table.swap_used_bytes), mib_text(table.swap_total_bytes)
        text = f"{used} of {total} MiB" if table.swap_total_bytes else "none"
        rows.append(("Swap in use", text, _SWAP))
    return [
        [Cell(name, "hint", tip=tip), Cell(text, "hint", f"{name}: {text}", tip)]
        for name, text, tip in rows
    ]


def lines_of(table: MemoryTable) -> list[list[Cell]]:
    """A head, a line for each use and one for all of them; empty without a model."""
    if not table.uses:
        return []
    lines = [[Cell(head, "hint", tip=tip) for head, tip in _HEADS]]
    rest = _REST_OF_HOST if table.is_host else _REST_OF_BOARD
    lines += [_line(use, _MEANINGS.get(use.use, rest)) for use in table.uses]
    predicted, measured = table.predicted_bytes, table.measured_bytes
    difference = None if predicted is None or measured is None else measured - predicted
    lines.append(
        [
            Cell("Engine, all", "heading", tip=_ALL),
            Cell(_number(predicted), "value", f"All, predicted: {_amount(predicted)}", _ALL),
            Cell(_number(measured), "value", f"All, measured: {_amount(measured)}", _ALL),
            Cell(_signed(difference), "value", f"All, difference: {_signed(difference)} MiB", _ALL),
        ]
    )
    return lines


def notes_of(table: MemoryTable) -> str:
    """What the figures need to be read rightly, a few sentences; empty without a model."""
    if not table.uses:
        return ""
    rest = next((use.measured for use in table.uses if use.use == "rest"), None)
    if rest is None:
        return _NOT_TOLD_HOST if table.is_host else _NOT_TOLD
    is_short = any(
        use.difference is not None and use.difference < -_NOTABLE_BYTES for use in table.uses
    )
    notes = [_UNTOUCHED] if is_short else []
    notes.append(_REST_OF_HOST if table.is_host else _REST_OF_BOARD)
    return " ".join(notes)


def sentence_of(table: MemoryTable) -> str:
    """The block in words, for whoever cannot see it."""
    parts = [f"{table.name}: {room_text(table) or 'size unknown'}"]
    parts += [
        f"{_SPOKEN[use.use]} {_spoken_prediction(use)}, measured {_amount(use.measured)}"
        for use in table.uses
    ]
    return f"{'; '.join(parts)}."


def _line(use: UseBytes, tip: str) -> list[Cell]:
    name = _USES[use.use]
    predicted = _number(use.predicted)
    if use.is_limit and use.predicted is not None:
        predicted = f"≤ {predicted}"
    difference = _signed(use.difference)
    is_large = use.is_limit and bool(use.difference)
    return [
        Cell(name, tip=tip),
        Cell(predicted, "muted", f"{name}, {_spoken_prediction(use)}", tip),
        Cell(_number(use.measured), "", f"{name}, measured: {_amount(use.measured)}", tip),
        Cell(
            difference,
            "warning" if is_large else "muted",
            f"{name}, difference: {difference} MiB",
            tip,
        ),
    ]


def _spoken_prediction(use: UseBytes) -> str:
    if use.predicted is None:
        return "not predicted"
    return f"predicted {'at most ' if use.is_limit else ''}{_amount(use.predicted)}"


def _number(size: int | None) -> str:
    return _NONE if size is None else mib_text(size)


def _signed(size: int | None) -> str:
    return _NONE if size is None else signed_mib(size)


def _amount(size: int | None) -> str:
    return "unknown" if size is None else f"{mib_text(size)} MiB"
