"""Whole numbers between two bounds: the grammar lets pass them and no others."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine_bridge.settings.number_grammar import LARGEST, whole_numbers

_BOUND = st.integers(-1500, 1500) | st.integers(-LARGEST, LARGEST)


def _as_regex(form: str) -> re.Pattern[str]:
    """Digits, classes, brackets and alternatives mean the same there without quotes and spaces."""
    return re.compile(re.sub(r'[" ]', "", form))


@given(_BOUND, _BOUND, st.data())
@example(0, 0, None)
def test_that_exactly_the_numbers_between_the_bounds_pass(
    one: int, other: int, data: st.DataObject | None
) -> None:
    least, most = min(one, other), max(one, other)
    form = _as_regex(whole_numbers(least, most))
    near = [least - 1, least, least + 1, most - 1, most, most + 1, 0, 9, 10, -1, 99, 100]
    if data is not None:
        near.append(data.draw(st.integers(least, most)))
    for number in near:
        assert (form.fullmatch(str(number)) is not None) == (least <= number <= most), number


@pytest.mark.parametrize("text", ["007", "00", "-0", "1.0", "", "+5"])
def test_that_a_number_is_written_as_json_writes_it(text: str) -> None:
    assert _as_regex(whole_numbers(-9, 1000)).fullmatch(text) is None
