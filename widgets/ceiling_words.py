"""How far decoding is from its ceiling, in words. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from engine_bridge.metrics.ceiling import CeilingView, Estimate, estimate_of
from engine_bridge.step_work import StepWork
from widgets.charts.words import gb_per_s, milliseconds, number, tok_per_s

NO_VALUE = "–"
_MOST_ROWS = 6
# What is missing to the peak is compute where computing would take most of it.
_MOSTLY = 0.6
# A rest of a step that is worth words, as a share of it.
_REST = 0.1
# Micro-batches a step: rounding and the odd step cut in two are not worth a sentence.
_CUT = 1.05
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[^\s\d])|(?<=[÷=]) (?=\d)")
_UNITS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


@dataclass(frozen=True)
class Row:
    """A row of the table, as it is shown.

    Attributes:
        streams: How many.
        cells: GB/s, MBU, tok/s per user, tok/s in all, times one stream.
        is_present: Whether decoding has so many streams now.
    """

    streams: int
    cells: tuple[str, str, str, str, str]
    is_present: bool


def size_text(size_bytes: float) -> str:
    """``1.11 GB``, ``34.0 MB``, ``8.00 kB``; decimal, as bandwidths are counted."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size_bytes >= 0.0995 * unit:
            return f"{number(size_bytes / unit)} {name}"
    return f"{number(size_bytes / 1e3)} kB"


def rate_text(per_s: float, unit: str = "op/s") -> str:
    """``118 Gop/s``: about three digits with the prefix that keeps them short."""
    for size, prefix in _UNITS:
        if per_s >= 0.9995 * size:
            return f"{number(per_s / size)} {prefix}{unit}"
    return f"{number(per_s)} {unit}"


def unbroken(text: str) -> str:
    """``text`` for a label of several lines, where no unit is parted from its number."""
    return _BEFORE_UNIT.sub("\u00a0", text).replace("/s", "/\u2060s")


def mbu_text(view: CeilingView) -> str:
    """``MBU 69 %``."""
    share = view.mbu
    return f"MBU {NO_VALUE}" if share is None else f"MBU {100 * share:.0f} %"


def headline(view: CeilingView) -> str:
    """The ceiling, and where decoding stands below it."""
    present = view.present
    if not view.has_model:
        return "No model runs. What bounds its speed stands here once one is loaded."
    if present is None:
        return _before_decoding(view)
    ceiling = view.ceiling_steps_per_s
    are = "You are at" if view.is_live else "The last steps ran at"
    step = f"{size_text(present.step_bytes)} a step"
    if ceiling is None or view.peak.bytes_per_s is None:
        return (
            f"{step} at {number(present.steps_per_s)} steps/s: {gb_per_s(present.bytes_per_s)}. "
            f"{_why_no_peak(view)}"
        )
    least = "at least " if view.peak.is_lower_bound else ""
    share = view.mbu or 0.0
    sums = (
        f"{least}{gb_per_s(view.peak.bytes_per_s)} ÷ {step} = {least}{number(ceiling)} steps/s. "
        f"{are} {number(present.steps_per_s)} steps/s, {100 * share:.0f} % of it"
    )
    sums = sums[0].upper() + sums[1:]
    if share > 1:
        return f"{sums}: more than the memory is known to deliver. {_why_above(view)}"
    if view.fits_in_cache:
        return f"{sums}."
    return f"{sums}: {_rest(view)}."


def _before_decoding(view: CeilingView) -> str:
    peak = view.peak.bytes_per_s
    wait = "Nothing was decoded yet with these settings; send a message."
    if peak is None:
        return f"{wait} {_why_no_peak(view)}"
    least = "At least " if view.peak.is_lower_bound else ""
    if not view.weights_bytes or view.experts:
        return f"{wait} The memory delivers {least.lower()}{gb_per_s(peak)}."
    steps = number(peak / view.weights_bytes)
    return (
        f"{wait} {least}{gb_per_s(peak)} ÷ {size_text(view.weights_bytes)} of weights = "
        f"{least.lower()}{steps} steps/s, before any text lies in the cache."
    )


def _why_no_peak(view: CeilingView) -> str:
    how = view.peak.how
    if not how:
        return "What the memory can deliver is measured in the next quiet moment."
    return f"There is no ceiling to hold it against ({how})."


def _rest(view: CeilingView) -> str:
    """What goes on in the time that reading does not explain."""
    present, ceiling, compute_s = view.present, view.ceiling_steps_per_s, view.compute_step_s
    assert present is not None
    assert ceiling is not None
    rest_s = present.step_s - 1 / ceiling
    if compute_s is None or compute_s < _MOSTLY * rest_s:
        return "the rest is compute, waiting and other programs"
    return "the rest is compute"


def _why_above(view: CeilingView) -> str:
    """What makes a share of the peak above 1; nothing is cut off to hide it."""
    if view.fits_in_cache:
        return "The weights stay in the processor's caches, which are faster."
    if view.peak.is_lower_bound:
        return "Other programs took the cores while the peak was measured: it is higher."
    if view.experts:
        return "Fewer experts were read than even routing would touch: the bytes are too high."
    if len(view.peak.parts) > 1:
        return "The devices read at the same time; the peak counts them one after the other."
    if view.cache_bytes and view.peak.is_on_processor:
        return (
            f"A part of the weights came from the processor's caches "
            f"({size_text(view.cache_bytes)}), or the peak was measured too low."
        )
    return "The peak was taken too low, or fewer bytes are read than were counted."


def parts_text(view: CeilingView) -> str:
    """What a step reads, by name."""
    work = view.present
    if work is None or not work.steps:
        return ""
    passes = work.passes / work.steps
    again = f" ({number(passes)} times)" if passes >= _CUT else ""
    parts = [f"{size_text(work.weight_bytes / work.steps)} weights{again}"]
    parts.append(f"{size_text(work.kv_bytes / work.steps)} KV of {_streams(work.streams)}")
    if work.draft_bytes:
        parts.append(f"{size_text(work.draft_bytes / work.steps)} of what drafts")
    return " + ".join(parts)


def speed_text(view: CeilingView) -> str:
    """Tokens per second, for each user and in all."""
    work = view.present
    if work is None or not work.steps:
        return ""
    each = work.delivered_tok / work.steps / work.streams
    many = f"{_streams(work.streams).capitalize()}, "
    tokens = f"{number(each)} tokens a step each: " if view.has_drafts else "a token a step each: "
    if work.streams == 1:
        tokens = tokens.replace(" each", "")
        return f"{many}{tokens}{tok_per_s(work.total_tok_s)}"
    users = f"{tok_per_s(work.stream_tok_s)} per user, {tok_per_s(work.total_tok_s)} in all"
    return f"{many}{tokens}{users}"


def notes(view: CeilingView) -> list[str]:
    """What else a person should know of these figures, a sentence or two each."""
    found = [
        _cache_note(view),
        _time_note(view),
        _peak_note(view),
        _passes_note(view),
        _split_note(view),
    ]
    return [note for note in found if note]


def _time_note(view: CeilingView) -> str:
    work, ceiling, compute_s = view.present, view.ceiling_steps_per_s, view.compute_step_s
    if work is None or ceiling is None:
        return ""
    text = (
        f"A step takes {milliseconds(work.step_s)}: reading at the peak {milliseconds(1 / ceiling)}"
    )
    if compute_s is None:
        return f"{text}."
    text += f", computing at the best prefill rate seen {milliseconds(compute_s)}"
    # Below 0 where reading and computing overlap.
    rest_s = work.step_s - 1 / ceiling - compute_s
    if rest_s <= _REST * work.step_s:
        return f"{text}."
    rest = f"the rest, {milliseconds(rest_s)}, is waiting, other programs and what neither counts"
    return f"{text}; {rest}."


def _cache_note(view: CeilingView) -> str:
    if view.present is None or not view.fits_in_cache:
        return ""
    return (
        f"{size_text(view.present.step_bytes)} fit into the processor's caches "
        f"({size_text(view.cache_bytes)}): this ceiling does not bind a model so small."
    )


def _peak_note(view: CeilingView) -> str:
    if not view.peak.is_of_cache or view.peak.bytes_per_s is None:
        return ""
    caches = f" ({size_text(view.cache_bytes)})" if view.cache_bytes else ""
    return (
        f"The peak was read over less than twice the processor's caches{caches}, in part from "
        "them: main memory may deliver less."
    )


def _passes_note(view: CeilingView) -> str:
    work = view.present
    if work is None or not work.steps or work.passes < _CUT * work.steps:
        return ""
    if not view.has_pools:
        return "Steps are cut into micro-batches, each of which reads the weights."
    return (
        "Weights are read again where drafts differ in length or an idle slot lies between busy "
        "ones; with a unified KV cache they are read once."
    )


def _split_note(view: CeilingView) -> str:
    parts = view.peak.parts
    if len(parts) < 2 or view.peak.bytes_per_s is None:
        return ""
    named = " + ".join(
        f"{size_text(part.read_bytes)} in {_place(part.name)} at {gb_per_s(part.bytes_per_s or 0)}"
        for part in parts
    )
    text = f"Read one after the other, {named} act like {gb_per_s(view.peak.bytes_per_s)}."
    if view.experts:
        text += " Which experts lie where is not known, so this is rough."
    return text


def _place(name: str) -> str:
    return "main memory" if name == "CPU" else name


def _streams(count: int) -> str:
    return "one stream" if count == 1 else f"{count} streams"


def rows(view: CeilingView) -> list[Row]:
    """The table: decoding with each number of streams."""
    works = _chosen(view)
    one = next((work for work in view.decoding if work.streams == 1), None)
    return [_row(view, work, one) for work in works]


def _chosen(view: CeilingView) -> list[StepWork]:
    """As many as there is room for: the fewest streams, the most, and the present number."""
    works = list(view.decoding)
    present = 0 if view.present is None else view.present.streams
    while len(works) > _MOST_ROWS:
        # The one whose neighbours are nearest says least.
        inner = [n for n in range(1, len(works) - 1) if works[n].streams != present]
        gap = {n: works[n + 1].streams / works[n - 1].streams for n in inner}
        del works[min(gap, key=lambda n: gap[n])]
    return works


def _row(view: CeilingView, work: StepWork, one: StepWork | None) -> Row:
    share = view.mbu_of(work)
    times = NO_VALUE
    if one is not None and one.total_tok_s > 0:
        times = f"{number(work.total_tok_s / one.total_tok_s)} ×"
    cells = (
        number(work.bytes_per_s / 1e9),
        NO_VALUE if share is None else f"{100 * share:.0f} %",
        number(work.stream_tok_s),
        number(work.total_tok_s),
        times,
    )
    is_present = view.present is not None and view.present.streams == work.streams
    return Row(work.streams, cells, is_present)


def left_text(view: CeilingView) -> str:
    """What more streams would bring, as far as anything was measured that tells it."""
    if view.present is None:
        return ""
    found = estimate_of(view)
    if found is None:
        return (
            "What more streams would bring is estimated once a longer prompt was read or two "
            "chats have written at the same time."
            if not view.experts
            else "What more streams would bring is estimated once several chats have written at "
            "the same time: a mixture of experts reads more with each."
        )
    if view.fits_in_cache:
        return f"{_gain_text(found)}."
    return f"{_gain_text(found)}{_bound_text(found, view.present.streams)}."


def _gain_text(found: Estimate) -> str:
    source = "the measured steps"
    if found.uses_prefill:
        source = f"the steps of {_streams(found.measured[0])} and the best prefill"
    gain = "no more than now" if found.gain < 1.02 else f"{number(found.gain)} × the present"
    limit = ""
    if found.limit_tok_s is not None:
        limit = f"; no number of streams goes beyond {tok_per_s(found.limit_tok_s)}"
    return (
        f"Estimate from {source}: {_streams(found.streams)} about "
        f"{tok_per_s(found.total_tok_s)} in all, {gain}{limit}"
    )


def _bound_text(found: Estimate, present: int) -> str:
    if found.binds_from is None:
        return ""
    if found.binds_from <= present:
        return ". Compute takes longer than reading already"
    # The first whole number with which it does; above the present one, so never a single stream.
    streams = math.ceil(found.binds_from)
    return f". From about {streams:,} streams on compute takes longer than reading"


def points_text(view: CeilingView) -> list[str]:
    """Every point of the roofline in a sentence."""
    told = [point_text(view, work) for work in view.decoding]
    if view.prefill is not None:
        told.append(point_text(view, view.prefill))
    return told


def point_text(view: CeilingView, work: StepWork) -> str:
    """One point of the roofline."""
    where = f"{rate_text(work.operations_per_s)} at {number(work.operations_per_byte)} op/byte"
    if work.is_prefill:
        return f"Prefill: {where}, {tok_per_s(work.computed_tok_s)}"
    share = view.mbu_of(work)
    used = "" if share is None else f", MBU {100 * share:.0f} %"
    total = tok_per_s(work.total_tok_s)
    in_all = "" if work.streams == 1 else " in all"
    return f"Decode, {_streams(work.streams)}: {where}{used}, {total}{in_all}"
