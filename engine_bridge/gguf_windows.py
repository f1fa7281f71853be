"""Which layers of a model look back over a sliding window only.

Knows llama.cpp's patterns (``load_swa_pattern`` in the files of src/models): most headers do not
write them. Must not know bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine_bridge.gguf_header import Header


@dataclass(frozen=True)
class _Rule:
    """One architecture's windows.

    Attributes:
        period: Every so many layers one looks back over everything; 0 where the header has to say.
        full_first: Whether that one begins the period instead of ending it.
        window_tok: Window where llama.cpp does not take the header's, 0 where it does.
        needs_key: Whether there are windows only where the header writes a length.
        layers: Only models of so many layers have windows; 0 for any.
    """

    period: int = 0
    full_first: bool = False
    window_tok: int = 0
    needs_key: bool = True
    layers: int = 0


_RULES = {
    "afmoe": _Rule(4),
    "cohere2": _Rule(4),
    "cohere2moe": _Rule(4, full_first=True),
    "exaone-moe": _Rule(4, window_tok=128, needs_key=False),
    "exaone4": _Rule(4, window_tok=4096, needs_key=False, layers=64),
    "gemma2": _Rule(2, window_tok=4096, needs_key=False),
    "gemma3": _Rule(6),
    "gemma3n": _Rule(5),
    "gemma4": _Rule(),
    "gpt-oss": _Rule(2),
    "granite_swa": _Rule(),
    "laguna": _Rule(4, full_first=True),
    "llama4": _Rule(4, window_tok=8192, needs_key=False),
    "mellum": _Rule(4),
    "mimo2": _Rule(),
    "olmo2": _Rule(4),
    "plamo3": _Rule(8),
    "smallthinker": _Rule(4, full_first=True, window_tok=4096),
    "step35": _Rule(),
}


def windowed_layers(header: Header, arch: str, layers: int) -> tuple[int, tuple[bool, ...]]:
    """The window in tokens (0 without one) and, of each layer, whether it is windowed.

    Architectures that are not listed follow the header's own list of layers, if it has one.
    """
    key = f"{arch}.attention.sliding_window"
    written_tok = header.number(key)
    rule = _RULES.get(arch, _Rule())
    if (rule.layers and layers != rule.layers) or (written_tok <= 0 and _needs(rule, header, key)):
        return 0, (False,) * layers
    # Gemma 2 alone takes the header's length before its own.
    window_tok = rule.window_tok or written_tok
    if arch == "gemma2" and written_tok > 0:
        window_tok = written_tok
    flags = _flags(header, f"{key}_pattern", layers, rule)
    return (window_tok if any(flags) else 0), flags


def _needs(rule: _Rule, header: Header, key: str) -> bool:
    """Whether no written length means no window; a length of 0 always does."""
    return rule.needs_key or bool(header.numbers(key))


def _flags(header: Header, key: str, layers: int, rule: _Rule) -> tuple[bool, ...]:
    numbers = header.numbers(key)
    if len(numbers) > 1:
        return tuple(([bool(number) for number in numbers] + [False] * layers)[:layers])
    period = numbers[0] if numbers and rule.period else rule.period
    if period <= 0:
        return (False,) * layers
    full = 0 if rule.full_first else period - 1
    return tuple(layer % period != full for layer in range(layers))
