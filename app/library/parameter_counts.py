"""Numbers of weights as people write them: ``7B``, ``500M``. Needs the standard library alone."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"(?P<number>\d{1,6}(?:\.\d{1,6})?)\s*(?P<unit>[KMBT])", re.IGNORECASE)
_SCALES = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def parse_parameters(text: str) -> int:
    """A number of weights, from 1.

    Args:
        text: With its unit: ``7B``, ``1.5B``, ``500M``.

    Raises:
        ValueError: A sentence, if it is none.
    """
    written = _WRITTEN.fullmatch(text.strip())
    count = 0
    if written is not None:
        count = round(float(written["number"]) * _SCALES[written["unit"].upper()])
    if count <= 0:
        raise ValueError(f"“{text}” is no number of parameters. Write it as 7B, 1.5B or 500M.")
    return count


def parameters_text(count: int) -> str:
    """How people write ``count``, at least 1: ``7B``, ``1.5B``, ``500M``."""
    unit = next((unit for unit in "TBM" if count >= _SCALES[unit]), "K")
    return f"{count / _SCALES[unit]:.4g}{unit}"
