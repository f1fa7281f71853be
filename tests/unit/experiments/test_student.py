"""Student's t against the tables that every book of statistics has."""

from __future__ import annotations

import pytest

from app.experiments.student import upper_quantile, upper_tail


@pytest.mark.parametrize(
    ("share", "freedom", "quantile"),
    [
        (0.025, 1, 12.706), (0.025, 2, 4.303), (0.025, 3, 3.182), (0.025, 4, 2.776),
        (0.025, 5, 2.571), (0.025, 6, 2.447), (0.025, 11, 2.201), (0.025, 30, 2.042),
        (0.005, 4, 4.604), (0.0005, 7, 5.408), (0.05, 120, 1.658),
    ],
)  # fmt: skip
def test_that_quantiles_are_those_of_the_tables(
    share: float, freedom: int, quantile: float
) -> None:
    assert upper_quantile(share, freedom) == pytest.approx(quantile, abs=6e-4)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10])
def test_that_a_quantile_has_its_share_above_it(freedom: int) -> None:
    for share in (0.3, 0.05, 1e-4):
        tail = upper_tail(upper_quantile(share, freedom), freedom)
        assert tail == pytest.approx(share, rel=1e-6)


def test_that_half_lies_above_0_and_the_rest_mirrors() -> None:
    assert upper_tail(0.0, 5) == pytest.approx(0.5)
    assert upper_tail(-2.0, 5) == pytest.approx(1 - upper_tail(2.0, 5))


@pytest.mark.parametrize(("share", "freedom"), [(0.5, 3), (0.0, 3), (0.05, 0)])
def test_that_what_has_no_quantile_is_refused(share: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="No quantile"):
        upper_quantile(share, freedom)
