"""What to do with drafts, decided from ``DraftFigures``. Pure; the words are the window's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate

from engine_bridge.metrics.speculation import DraftFigures
from engine_bridge.settings.spec_kinds import MODEL_KINDS

# Two runs of the same settings differ by up to this much on an idle machine; less is no gain.
LEAST_GAIN = 0.05
# So many wrong guesses in a row are no accident at any acceptance worth having.
_HOPELESS_TOK = 64
# From here on the guesses of a model are good, and only their price can be wrong.
_GOOD_ALPHA = 0.5


class Verdict(Enum):
    """What to do."""

    KEEP = auto()
    SHORTEN = auto()
    SWITCH_OFF = auto()
    TRY_COPIES = auto()
    NOTHING_DRAFTED = auto()
    NO_DIFFERENCE = auto()
    MEASURE_BASELINE = auto()


@dataclass(frozen=True)
class Advice:
    """A verdict and what it rests on.

    Attributes:
        verdict: What to do.
        draft_tok: Of ``SHORTEN`` the length to try.
        estimated_gain: Of ``SHORTEN`` what that would bring over the present speed, by the measured
            cost of a guess and the measured acceptance: 0.2 for a fifth.
        behind_share: Of ``SHORTEN`` the share of drafted tokens behind that length that held.
    """

    verdict: Verdict
    draft_tok: int = 0
    estimated_gain: float = 0.0
    behind_share: float = 0.0


def advice_for(figures: DraftFigures, spec_types: tuple[str, ...]) -> Advice:
    """The advice for a conversation.

    Args:
        figures: What was measured in it.
        spec_types: What drafts.
    """
    verdict = _at_once(figures)
    if verdict is not None:
        return Advice(verdict)
    return _shorter(figures) or Advice(_by_gain(figures, spec_types))


def _at_once(figures: DraftFigures) -> Verdict | None:
    """The verdict that needs no comparison; None where there is one to be made."""
    if figures.drafted_tok == 0:
        return Verdict.NOTHING_DRAFTED
    if figures.accepted_tok == 0 and figures.drafted_tok >= _HOPELESS_TOK:
        return Verdict.SWITCH_OFF
    return Verdict.MEASURE_BASELINE if figures.gain is None else None


def _by_gain(figures: DraftFigures, spec_types: tuple[str, ...]) -> Verdict:
    gain = figures.gain or 0.0
    if abs(gain) < LEAST_GAIN or not figures.is_gain_clear:
        return Verdict.NO_DIFFERENCE
    if gain > 0:
        return Verdict.KEEP
    asks_model = not MODEL_KINDS.keys().isdisjoint(spec_types)
    is_good = (figures.reached_alpha or 0.0) >= _GOOD_ALPHA
    return Verdict.TRY_COPIES if asks_model and is_good else Verdict.SWITCH_OFF


def _shorter(figures: DraftFigures) -> Advice | None:
    """A shorter draft that would be faster than now and than no drafts; None without one.

    A guess costs what a pass takes longer than one without drafts, shared among all guesses.
    """
    base_s = figures.baseline_tpot_s
    if base_s is None or figures.pass_s <= base_s:
        return None
    passes = figures.passes
    guess_s = (figures.pass_s - base_s) * passes / figures.drafted_tok
    drafted = list(accumulate(figures.drafted_at))
    accepted = list(accumulate(figures.accepted_at))
    speeds = [
        (passes + good) / (base_s * passes + guess_s * made)
        for made, good in zip(drafted, accepted, strict=True)
    ]
    best = max(range(len(speeds)), key=speeds.__getitem__)
    gain = speeds[best] / speeds[-1] - 1.0
    if best == len(speeds) - 1 or gain < LEAST_GAIN or speeds[best] * base_s - 1.0 < LEAST_GAIN:
        return None
    behind_tok = figures.drafted_tok - drafted[best]
    behind = (figures.accepted_tok - accepted[best]) / behind_tok
    return Advice(Verdict.SHORTEN, best + 1, gain, behind)
