"""Figures of one kind of experiment only, as words: their names say what they are. Pure.

A name ends in its unit (``kv_bytes``, ``tpot_s``, ``same_top_share``); ``…_error`` is the standard
error of the figure before it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

ERROR = "_error"
"""Ends the name of a standard error."""

# Words that are no words; others begin a label in capitals and go on small.
_SPELT = {
    word.lower(): word
    for word in ("KLD", "PPL", "KV", "TTFT", "TPOT", "ITL", "GQA", "MBU", "SLO", "RAM", "GPU")
}
# Unit and factor by the end of a name, longer ends first.
_UNITS = (
    ("_bytes_per_s", "GB/s", 1e-9),
    ("_tok_s", "tok/s", 1.0),
    ("_req_s", "req/s", 1.0),
    ("_bytes", "MiB", 1 / 2**20),
    ("_share", "%", 100.0),
    ("_percent", "%", 1.0),
    ("_tok", "tok", 1.0),
    ("_s", "s", 1.0),
)
_SIGNIFICANT = 4
_LEAST_WRITTEN = 1e-5


@dataclass(frozen=True)
class ExtraFigure:
    """One figure.

    Attributes:
        key: Its name.
        label: What it is.
        value: Its number.
        error: Its standard error; empty if there is none.
        unit: Behind the number; may be empty.
    """

    key: str
    label: str
    value: str
    error: str
    unit: str

    @property
    def text(self) -> str:
        """``0.0006 ± 0.0001``, with its unit."""
        spread = f" ± {self.error}" if self.error else ""
        return f"{self.value}{spread} {self.unit}".rstrip()


def extra_figures(extra: Mapping[str, float]) -> tuple[ExtraFigure, ...]:
    """Every figure of ``extra`` in its order, each with its error."""
    return tuple(
        _figure(name, value, extra.get(name + ERROR))
        for name, value in extra.items()
        if not (name.endswith(ERROR) and name.removesuffix(ERROR) in extra)
    )


def extra_label(name: str) -> str:
    """What a figure is: ``Mean KLD`` for ``mean_kld``."""
    stem = next((name.removesuffix(end) for end, _, _ in _UNITS if name.endswith(end)), name)
    words = [_SPELT.get(word.lower(), word) for word in stem.split("_")]
    text = " ".join(filter(None, words)) or name
    return text[:1].upper() + text[1:]


# --- Inside -----------------------------------------------------------------------------


def _figure(name: str, value: float, error: float | None) -> ExtraFigure:
    unit, factor = next(
        ((unit, factor) for end, unit, factor in _UNITS if name.endswith(end)), ("", 1.0)
    )
    if unit == "s" and abs(value) < 1:
        unit, factor = "ms", 1e3
    shown = "" if error is None else _number(error * factor, 2)
    return ExtraFigure(name, extra_label(name), _number(value * factor), shown, unit)


def _number(value: float, significant: int = _SIGNIFICANT) -> str:
    """So many digits that mean something; whole numbers whole."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 10**9:
        return f"{value:,.0f}"
    if abs(value) < _LEAST_WRITTEN:
        return f"{value:.{significant - 1}g}"
    digits = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(digits, 8)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
