"""Places on a fader: every stop on its own, every number between its neighbours."""

from __future__ import annotations

import itertools

import pytest

from engine_bridge.settings.domain import ChoiceDomain, FloatDomain, IntDomain
from engine_bridge.settings.table import SETTINGS
from widgets.fader_scale import FaderScale

CONTEXT = IntDomain(256, 1_000_000, (1024, 2048, 4096, 8192))


def scales() -> list[FaderScale]:
    found = []
    for setting in SETTINGS:
        if isinstance(setting.domain, IntDomain):
            found.append(FaderScale.of_int(setting.domain))
        elif isinstance(setting.domain, FloatDomain):
            found.append(FaderScale.of_float(setting.domain))
        elif isinstance(setting.domain, ChoiceDomain):
            found.append(FaderScale.of_choice(setting.domain))
    return found


@pytest.mark.parametrize("scale", scales())
def test_that_every_stop_stands_on_its_own_place(scale: FaderScale) -> None:
    assert [scale.place_of(stop) for stop in scale.stops] == list(range(len(scale.stops)))


def test_that_every_stop_is_a_value_of_its_setting() -> None:
    for setting in SETTINGS:
        domain = setting.domain
        if isinstance(domain, IntDomain):
            stops = FaderScale.of_int(domain).stops
        elif isinstance(domain, FloatDomain):
            stops = FaderScale.of_float(domain).stops
        else:
            continue
        assert [domain.check(stop) for stop in stops] == list(stops), setting.key


def test_that_words_stand_before_the_numbers_and_all_behind() -> None:
    scale = FaderScale.of_int(IntDomain(0, 99, (0, 10), ("auto", "all")))
    assert scale.stops == ("auto", 0, 10, "all")


def test_that_a_number_between_stops_has_a_place_between() -> None:
    scale = FaderScale.of_int(CONTEXT)
    assert scale.place_of(3072) == pytest.approx(1.5)
    places = [scale.place_of(n) for n in range(1024, 8193, 100)]
    assert all(a < b for a, b in itertools.pairwise(places))


def test_that_numbers_beyond_the_stops_stand_on_the_outermost() -> None:
    scale = FaderScale.of_int(CONTEXT)
    assert scale.place_of(300) == 0
    assert scale.place_of(900_000) == 3


def test_that_other_stops_are_sorted_and_kept_inside_the_domain() -> None:
    scale = FaderScale.of_int(CONTEXT, (32_768, 100, 2048, 2048, 2_000_000))
    assert scale.stops == (2048, 32_768)


def test_that_decimal_stops_are_free_of_rounding_dust() -> None:
    stops = FaderScale.of_float(FloatDomain(0.0, 1.0, 0.1)).stops
    assert stops == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
