"""Student's t distribution, for whole degrees of freedom. Pure arithmetic.

Source: M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4: finite
sums, exact but for rounding.
"""

from __future__ import annotations

import math

# Halvings of an interval of doubles: beyond this many its ends are the same number.
_HALVINGS = 200


def upper_tail(t: float, freedom: int) -> float:
    """Probability that Student's t is above ``t``.

    Args:
        t: Any number.
        freedom: Degrees of freedom, at least 1.
    """
    inside = _two_sided(abs(t), freedom)
    return (1 - inside) / 2 if t >= 0 else (1 + inside) / 2


def upper_quantile(share: float, freedom: int) -> float:
    """The t above which Student's t lies with probability ``share``.

    Args:
        share: Above 1e-12 (below it the sum of the tail is rounding alone) and below 0.5.
        freedom: Degrees of freedom, at least 1.

    Raises:
        ValueError: If one is outside its range.
    """
    if not 1e-12 < share < 0.5 or freedom < 1:
        raise ValueError(f"No quantile of {share} at {freedom} degrees of freedom.")
    low, high = 0.0, 1.0
    while upper_tail(high, freedom) > share:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if upper_tail(middle, freedom) > share:
            low = middle
        else:
            high = middle
    return high


def _two_sided(t: float, freedom: int) -> float:
    """Probability of lying between −t and t."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2 == 0:
        return sine * _series(cosine, freedom, first=1.0)
    rest = sine * _series(cosine, freedom, first=cosine) if freedom > 1 else 0.0
    return (angle + rest) * 2 / math.pi


def _series(cosine: float, freedom: int, first: float) -> float:
    """Sum of the powers of ``cosine`` by twos, up to ``freedom`` − 2, with their coefficients."""
    total = term = first
    power = 1 if freedom % 2 == 0 else 2
    while power < freedom - 2 + freedom % 2:
        term *= power / (power + 1) * cosine**2
        total += term
        power += 2
    return total
