"""The line of figures under an answer, and why the answer ended, in words.

Pure text. Definitions of the figures stand in ``engine_bridge.metrics.definitions``.
"""

from __future__ import annotations

import re

from engine_bridge.protocol import RequestFinished, RequestTiming

# A narrow no-break space keeps a number and its unit together at a line's end.
_NB = "\u202f"


def seconds_text(seconds: float) -> str:
    """A duration with three significant digits: ``310 ms``, ``1.24 s``, ``2 min 5 s``."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f}{_NB}µs"
    if seconds < 0.0995:
        return f"{seconds * 1e3:.1f}{_NB}ms"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.0f}{_NB}ms"
    if seconds < 99.5:
        return f"{seconds:.2f}{_NB}s" if seconds < 9.95 else f"{seconds:.1f}{_NB}s"
    return f"{int(seconds) // 60}{_NB}min {int(seconds) % 60}{_NB}s"


def bytes_text(size_bytes: float) -> str:
    """A size in binary units with about three significant digits: ``512 KiB``, ``1.94 GiB``."""
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1000 or unit == "TiB":
            break
        size /= 1024
    digits = 0 if unit == "B" or abs(size) >= 100 else 1 if abs(size) >= 10 else 2
    return f"{size:.{digits}f}{_NB}{unit}"


def count_text(count: int) -> str:
    """A number of weights: ``494 M``, ``7.6 B``."""
    for scale, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if count >= scale * 0.9995:
            amount = count / scale
            return f"{amount:.1f}\u202f{unit}" if amount < 99.95 else f"{amount:.0f}\u202f{unit}"
    return str(count)


def speed_text(tok_per_s: float) -> str:
    """A speed: ``58 tok/s``, below ten with one decimal."""
    return f"{tok_per_s:.0f}{_NB}tok/s" if tok_per_s >= 9.95 else f"{tok_per_s:.1f}{_NB}tok/s"


def answer_figures(timing: RequestTiming) -> str:
    """TTFT, TPOT, speed, prompt, thought and drafts; what was not measured is left out."""
    parts = []
    if timing.ttft_s is not None:
        parts.append(f"TTFT {seconds_text(timing.ttft_s)}")
    if timing.tpot_s is not None and timing.tpot_s > 0:
        parts += [f"TPOT {seconds_text(timing.tpot_s)}", speed_text(1 / timing.tpot_s)]
    computed = timing.prompt_tok - timing.reused_tok
    parts.append(
        f"prompt {timing.prompt_tok:,} ({timing.reused_tok:,} reused, {computed:,} computed)"
    )
    thought = f" ({timing.think_tok:,} thought)" if timing.think_tok else ""
    parts.append(f"{timing.new_tok:,} new{thought}")
    if timing.dropped_tok:
        parts.append(f"{timing.dropped_tok:,} dropped")
    if timing.drafted_tok:
        share = timing.accepted_tok / timing.drafted_tok
        parts.append(
            f"drafted {timing.drafted_tok:,}, accepted {timing.accepted_tok:,} ({share:.0%})"
        )
    return " · ".join(parts)


def dropped_text(dropped_tok: int) -> str:
    """What a context shift means for the reader; empty where nothing was dropped."""
    if not dropped_tok:
        return ""
    noun = "token was" if dropped_tok == 1 else "tokens were"
    return (
        f"The context was full: {dropped_tok:,} earlier {noun} dropped to go on, and the model no "
        "longer sees them."
    )


_COUNTED = re.compile(r"prompt ([\d,]+) \(.*· ([\d,]+) new")


def counted_tok(figures: str) -> int | None:
    """Tokens of prompt and answer, read back from a line of ``answer_figures``; None without."""
    found = _COUNTED.search(figures)
    return sum(int(number.replace(",", "")) for number in found.groups()) if found else None


def end_text(event: RequestFinished) -> tuple[str | None, bool]:
    """Why an answer ended and why its prompt took longer, and whether the user has to know it.

    Returns:
        The words, None where there is nothing to say, and True where something was cut short
        unasked.
    """
    words, is_warning = _end_words(event)
    said = [text for text in (words, event.recompute_reason) if text]
    return " ".join(said) or None, is_warning


def _end_words(event: RequestFinished) -> tuple[str | None, bool]:
    if event.reason == "end":
        return None, False
    if event.reason == "stop_text":
        return f"Ended at the stop text {event.detail!r}.", False
    if event.reason == "cancelled":
        return event.detail or "Stopped.", False
    return event.detail or _CUT_SHORT[event.reason].format(event.timing.new_tok), True


_CUT_SHORT = {
    "token_limit": "The limit of {:,} new tokens is reached.",
    "context_full": "Context full: the slot has no room for another token.",
    "pool_full": "The shared pool is full.",
    "failed": "The engine could not go on.",
}
