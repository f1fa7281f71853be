"""What a board does, in words: figures for the strip, lines for the diagnostics. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.snapshot import MemorySnapshot
from widgets.charts.words import gb_per_s, gib, number

NO_VALUE = "–"
_PLAIN = {
    "memory": "memory",
    "busy": "busy time",
    "memory_busy": "busy time of the memory",
    "dram": "bandwidth",
    "core_clock_mhz": "clock",
    "memory_clock_mhz": "clock of the memory",
    "power_w": "power",
    "power_limit_w": "power limit",
    "temperature_c": "temperature",
    "held_back": "what holds the clocks back",
    "pcie_in_bytes_per_s": "PCIe in",
    "pcie_out_bytes_per_s": "PCIe out",
}
_NOT_YET = "Not measured yet."


@dataclass(frozen=True)
class Words:
    """A figure as it is shown.

    Attributes:
        name: What it is the figure of.
        text: The figure with its unit; a dash where there is none.
        tip: Its definition, what it is made of and why it is missing, a paragraph each.
        is_fault: Whether a person should look after it.
    """

    name: str
    text: str
    tip: str
    is_fault: bool = False


def short_name(name: str) -> str:
    """A board's name without its maker's: ``RTX 3090``."""
    return name.removeprefix("NVIDIA ").removeprefix("GeForce ") or name


def columns(board: BoardActivity) -> dict[str, Words]:
    """The figures that stand in columns, by column."""
    found = {
        "busy": _percent(board, "busy", "Busy", "gpu_busy"),
        "memory_busy": _percent(board, "memory_busy", "Memory busy", "memory_busy"),
        "dram": _dram(board),
        "power": _power(board),
        "temperature": _words(
            board, ("temperature_c",), "Temp.", "temperature", _text(board.temperature_c, "°C")
        ),
    }
    if "dram" in board.refused:
        del found["dram"]  # what no setting brings needs no column
    return found


def held_back(board: BoardActivity) -> Words:
    """Why the clocks are not at their highest."""
    reasons = board.held_back
    if reasons is None:
        return _words(board, ("held_back",), "Held back by", "held_back", "")
    if not reasons:
        return _words(board, (), "Held back by", "held_back", "full clocks")
    more = f" +{len(reasons) - 1}" if len(reasons) > 1 else ""
    meanings = [f"{reason.short.capitalize()}: {reason.meaning}" for reason in reasons]
    return Words(
        "Held back by",
        reasons[0].short + more,
        "\n\n".join((*meanings, DEFINITIONS["held_back"])),
        any(reason.is_fault for reason in reasons),
    )


def notes(board: BoardActivity) -> list[Words]:
    """The figures of the muted line; what the driver does not report is left out."""
    clocks = [_text(board.core_clock_mhz, "MHz"), _text(board.memory_clock_mhz, "MHz")]
    clock_text = " · ".join(
        text for text in (clocks[0], clocks[1] and f"memory {clocks[1]}") if text
    )
    arrows = (("in", board.pcie_in_bytes_per_s), ("out", board.pcie_out_bytes_per_s))
    moved = [f"{way} {number(rate / 1e9)}" for way, rate in arrows if rate is not None]
    memory = board.memory
    used = "" if memory is None else f"{gib(memory.used_bytes)} of {gib(memory.total_bytes)} GiB"
    return [
        _words(board, ("memory",), "Memory", "gpu_memory", used, detail=memory_text(memory)),
        _words(
            board,
            ("pcie_in_bytes_per_s", "pcie_out_bytes_per_s"),
            "PCIe",
            "pcie",
            f"PCIe {', '.join(moved)} GB/s" if moved else "",
        ),
        # Where room is short the clocks go first: what holds them back stands beside them.
        _words(board, ("core_clock_mhz", "memory_clock_mhz"), "Clocks", "clocks", clock_text),
    ]


def memory_text(memory: MemorySnapshot | None) -> str:
    """Total, engine, others and free of a board's memory, and its peak bandwidth; or nothing."""
    if memory is None:
        return ""
    owned = memory.engine_owned_bytes
    free = gib(memory.total_bytes - memory.used_bytes)
    if owned is None:
        parts = f"used {gib(memory.used_bytes)} (the driver does not tell the engine's part)"
    else:
        parts = f"engine {gib(owned)}, others {gib(max(0, memory.used_bytes - owned))}"
    text = f"{gib(memory.total_bytes)} GiB: {parts}, free {free}."
    if memory.peak_bytes_per_s is None:
        return f"{text} Its peak bandwidth is not reported by the driver."
    return f"{text} Peak bandwidth {gb_per_s(memory.peak_bytes_per_s)} = {memory.peak_how}."


def sentence(board: BoardActivity) -> str:
    """Everything about a board in one line, with what is not reported and why."""
    if board.problem:
        is_named = board.name in board.problem
        return board.problem if is_named else f"{board.name}: {board.problem}"
    shown = [*columns(board).values(), *notes(board)]
    told = [
        words.text if words.text.startswith(words.name) else f"{words.name} {words.text}"
        for words in shown
        if words.text != NO_VALUE
    ]
    reasons: dict[str, list[str]] = {}
    for name, reason in board.refused.items():
        reasons.setdefault(reason, []).append(_PLAIN[name])
    refused = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    parts = [f"{', '.join(told)}, {held_back(board).text}", memory_text(board.memory).rstrip(".")]
    if refused:
        parts.append(f"Not reported by the driver: {refused}")
    return f"{board.name}: {'. '.join(filter(None, parts))}."


def _percent(board: BoardActivity, field: str, name: str, key: str) -> Words:
    share: float | None = getattr(board, field)
    return _words(board, (field,), name, key, "" if share is None else f"{share * 100:.0f} %")


def _dram(board: BoardActivity) -> Words:
    words = _percent(board, "dram", "DRAM", "dram")
    peak = None if board.memory is None else board.memory.peak_bytes_per_s
    if board.dram is None or peak is None:
        return words
    moved = f"{gb_per_s(board.dram * peak)} of {gb_per_s(peak)}."
    return Words(words.name, words.text, f"{moved}\n\n{words.tip}")


def _power(board: BoardActivity) -> Words:
    text = _text(board.power_w, "W")
    if board.power_w is not None and board.power_limit_w is not None:
        text = f"{board.power_w:.0f} / {board.power_limit_w:.0f} W"
    return _words(board, ("power_w", "power_limit_w"), "Power", "power", text)


def _text(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:,.0f} {unit}"


def _words(
    board: BoardActivity,
    fields: tuple[str, ...],
    name: str,
    key: str,
    text: str,
    *,
    detail: str = "",
) -> Words:
    """A figure with its definition, and what of it is missing and why."""
    why = sorted({board.refused[field] for field in fields if field in board.refused})
    missing = [f"Not reported by the driver: {reason}." for reason in why]
    if not text and not missing:
        missing = [_NOT_YET]
    if text and missing:
        missing = [f"A part of it is n{part[1:]}" for part in missing]
    paragraphs = (detail, *missing, DEFINITIONS[key])
    return Words(name, text or NO_VALUE, "\n\n".join(filter(None, paragraphs)))
