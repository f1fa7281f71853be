"""What a loss of quality amounts to in one word, held against losses that are known. Pure.

Nobody has a feeling for a KL divergence. What many run, and know, are quantised weights; their
losses against F16 were measured for LLaMA 3 8B by llama.cpp, with the tool and the definitions that
are used here (``tools/perplexity/README.md``, revision f364eb6f, Wikitext-2):

========  =========  ===========
weights   mean KLD   same top, %
========  =========  ===========
Q8_0      0.001355   97.674
Q6_K      0.005452   96.031
Q5_K_M    0.010762
Q4_K_M    0.031273   91.901
Q3_K_M    0.101913
Q2_K      0.445132   71.138
========  =========  ===========

A divergence depends on the model and the text, small models show larger ones; so the words are
about the size of a loss, and no promise for a task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# 95 % of a normal distribution lie within so many standard errors.
_ERRORS = 1.96


@dataclass(frozen=True)
class _Step:
    """A loss up to which a word holds.

    Attributes:
        word: What it is called.
        kld: Largest mean KLD, nats.
        same_top: Least share of tokens with the same most likely one; None where none was measured.
        weights: Weights that lose as much.
    """

    word: str
    kld: float
    same_top: float | None
    weights: str


_STEPS = (
    _Step("negligible", 0.005452, 0.96031, "Q6_K"),
    _Step("small", 0.031273, 0.91901, "Q4_K_M"),
    _Step("visible", 0.101913, None, "Q3_K_M"),
)
_BEYOND = "large"
_WORDS = (*(step.word for step in _STEPS), _BEYOND)


def loss_sentence(name: str, figures: Mapping[str, float]) -> str:
    """What the loss of a cache amounts to; empty where nothing was scored.

    Args:
        name: What the cache is called.
        figures: ``mean_kld`` and ``same_top_share`` with their standard errors.
    """
    if not {"mean_kld", "same_top_share"} <= figures.keys():
        return ""
    low, high = _places(figures)
    measure = _measure_of(low, high) + _alone(figures)
    if low != high:
        joined = "or" if high == low + 1 else "to"
        return (
            f"In a word, the loss of {name} is {_WORDS[low]} {joined} {_WORDS[high]}: "
            f"{figures['scored_tok']:,.0f} tokens do not tell which, more chunks do. "
            f"{measure}"
        )
    return f"In a word, the loss of {name} is {_WORDS[low]}. {measure}"


# --- Inside -----------------------------------------------------------------------------


def _places(figures: Mapping[str, float]) -> tuple[int, int]:
    """The first and the last word that the error bars allow; the worse of both figures counts."""
    kld, top = figures["mean_kld"], figures["same_top_share"]
    kld_error = _ERRORS * figures.get("mean_kld_error", 0.0)
    top_error = _ERRORS * figures.get("same_top_share_error", 0.0)
    low = max(_of_kld(kld - kld_error), _of_top(top + top_error))
    high = max(_of_kld(kld + kld_error), _of_top(top - top_error))
    return low, high


def _alone(figures: Mapping[str, float]) -> str:
    """Which of both figures it would be less by, where they differ: the worse one counted."""
    kld, top = _of_kld(figures["mean_kld"]), _of_top(figures["same_top_share"])
    if kld == top or (kld == len(_STEPS) and top == kld - 1):  # same top knows no word beyond
        return ""
    name, place = ("KLD", kld) if kld < top else ("same top", top)
    return f" By {name} alone it would be {_WORDS[place]}."


def _of_kld(kld: float) -> int:
    return next((place for place, step in enumerate(_STEPS) if kld <= step.kld), len(_STEPS))


def _of_top(share: float) -> int:
    """The word by the tokens that stay the same; no worse than the last that was measured."""
    known = [step for step in _STEPS if step.same_top is not None]
    return next(
        (place for place, step in enumerate(known) if share >= (step.same_top or 0.0)), len(known)
    )


def _measure_of(low: int, high: int) -> str:
    """What the words between these places are held against."""
    told = []
    if low > 0:
        told.append(f"more than weights in {_with_loss(_STEPS[low - 1])}")
    if high < len(_STEPS):
        told.append(f"no more than weights in {_with_loss(_STEPS[high])}")
    return f"That is {' and '.join(told)} lose on LLaMA 3 8B."


def _with_loss(step: _Step) -> str:
    same_top = "" if step.same_top is None else f", same top {100 * step.same_top:.0f} %"
    return f"{step.weights} (KLD {step.kld:.4f}{same_top})"
