"""What a board does, in words: figures for the strip, lines for the diagnostics. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine_bridge.metrics.board_activity import BoardActivity
from engine_bridge.metrics.definitions import DEFINITIONS
from engine_bridge.metrics.snapshot import MemorySnapshot
from widgets.charts.words import gb_per_s, gib, number

NO_VALUE = "–"
FIELD_OF_COLUMN = {
    "busy": "busy",
    "memory_busy": "memory_busy",
    "dram": "dram",
    "power": "power_w",
    "temperature": "temperature_c",
}
"""The field of ``BoardActivity`` that a column shows."""

_PLAIN = {
    "memory": "memory",
    "shared": "shared memory",
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
_SHARED = (
    "Shared memory: what all programs use of the machine's memory through the GPU, as its driver "
    "counts it. A part of it is ordinary; where it grows while the GPU's own memory is full, what "
    "should lie there lies here and is read through PCIe."
)


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
    for maker in ("NVIDIA ", "GeForce ", "AMD ", "Radeon "):
        name = name.removeprefix(maker) or name
    return name


def columns(board: BoardActivity) -> dict[str, Words]:
    """The figures that stand in columns, by column."""
    found = {
        "busy": _percent(board, "busy", "Busy", "gpu_busy"),
        "memory_busy": _percent(board, "memory_busy", "Memory busy", "memory_busy"),
        "dram": _dram(board),
        "power": _power(board),
        "temperature": _temperature(board),
    }
    return {key: words for key, words in found.items() if not _is_left_out(board, key)}


def held_back(board: BoardActivity) -> Words:
    """Why the clocks are not at their highest."""
    reasons = board.held_back
    if reasons is None:
        words = _words(board, ("held_back",), "Held back by", "held_back", "")
        # A dash that will never be anything else says nothing beside the remark.
        return replace(words, text="") if board.remark and "held_back" in board.refused else words
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
    return [
        _memory(board),
        *_shared(board),
        _pcie(board),
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
        why = memory.peak_how or "the driver does not tell its clock or its width"
        return f"{text} Its peak bandwidth is not known: {why}."
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
    told.append(held_back(board).text)
    remark = board.remark[:1].upper() + board.remark[1:]
    parts = [", ".join(filter(None, told)), memory_text(board.memory).rstrip("."), remark]
    if refused:
        parts.append(f"Not reported by the driver: {refused}")
    told_all = f"{board.name}: {'. '.join(part for part in parts if part)}."
    return f"{told_all} {board.warning}" if board.warning else told_all


def _is_left_out(board: BoardActivity, key: str) -> bool:
    """What no setting brings needs no column, nor what no reader of this kind ever tells."""
    is_refused = FIELD_OF_COLUMN[key] in board.refused
    return is_refused and (key == "dram" or bool(board.remark))


def _memory(board: BoardActivity) -> Words:
    memory = board.memory
    used = "" if memory is None else f"{gib(memory.used_bytes)} of {gib(memory.total_bytes)} GiB"
    if memory is None and board.engine_bytes is not None:
        used = f"engine {gib(board.engine_bytes)} GiB"
    return _words(board, ("memory",), "Memory", "gpu_memory", used, detail=memory_text(memory))


def _shared(board: BoardActivity) -> list[Words]:
    """What it uses of the machine's memory; of one that lives there it is its memory."""
    shared = board.shared
    if shared is None or board.is_unified:
        return []
    of = f"{gib(shared.used_bytes)} of at most {gib(shared.total_bytes)} GiB.\n\n{_SHARED}"
    return [Words("Shared", f"shared {gib(shared.used_bytes)} GiB", of, bool(board.warning))]


def _pcie(board: BoardActivity) -> Words:
    arrows = (("in", board.pcie_in_bytes_per_s), ("out", board.pcie_out_bytes_per_s))
    moved = [f"{way} {number(rate / 1e9)}" for way, rate in arrows if rate is not None]
    text = f"PCIe {', '.join(moved)} GB/s" if moved else ""
    link = f"The link runs at {board.pcie_link} lanes now." if board.pcie_link else ""
    if link and not moved:
        text = f"PCIe {board.pcie_link}"
    fields = ("pcie_in_bytes_per_s", "pcie_out_bytes_per_s")
    return _words(board, fields, "PCIe", "pcie", text, detail=link)


def _temperature(board: BoardActivity) -> Words:
    sensors = [f"{label} {degrees:.0f} °C" for label, degrees in board.temperatures_c.items()]
    text = _text(board.temperature_c, "°C")
    detail = f"By sensor: {', '.join(sensors)}." if len(sensors) > 1 else ""
    return _words(board, ("temperature_c",), "Temp.", "temperature", text, detail=detail)


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
