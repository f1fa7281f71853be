"""Case S51: a window that would open outside every screen comes back."""

from __future__ import annotations

import pytest

from app.window_place import Place, centred_place, reachable_place, read_place

MINIMUM = (1024, 700)
MAIN = Place(0, 0, 1920, 1080)
LEFT = Place(-2560, -300, 2560, 1440)
# The same glass at 200 %: half as many device-independent pixels.
SCALED = Place(0, 0, 960, 540)
FRAME_PX = 30


@pytest.mark.parametrize(
    ("wish", "screens"),
    [
        (Place(100, 80, 1440, 900), [MAIN]),
        (Place(-2000, -100, 1440, 900), [MAIN, LEFT]),  # negative coordinates are a place
        (Place(-700, 100, 1440, 900), [MAIN, LEFT]),  # across two screens
        (Place(1700, 900, 1440, 900), [MAIN]),  # half outside, its title bar in reach
    ],
)
def test_that_a_window_in_reach_stays_where_it_was(wish: Place, screens: list[Place]) -> None:
    assert reachable_place(wish, screens, MINIMUM, FRAME_PX) == wish


@pytest.mark.parametrize(
    "wish",
    [
        Place(5000, 3000, 1440, 900),
        Place(-32000, -32000, 1440, 900),  # where Windows keeps minimised windows
        Place(-2000, -100, 1440, 900),  # its screen is gone
    ],
)
def test_that_a_window_outside_every_screen_comes_to_the_middle_of_the_main_one(
    wish: Place,
) -> None:
    assert reachable_place(wish, [MAIN], MINIMUM, FRAME_PX) == Place(240, 105, 1440, 900)


@pytest.mark.parametrize(
    ("wish", "screens"),
    [
        (Place(100, -20, 1440, 900), [MAIN]),  # title bar above the upper edge
        (Place(1900, 500, 1440, 900), [MAIN]),  # 20 px of it left
        (Place(100, 1070, 1440, 900), [MAIN]),
        (Place(100, 100, 4000, 3000), [MAIN]),  # larger than the screen
        (Place(100, 100, 1440, 900), [SCALED]),  # smaller screen than the least size
        (Place(-2700, -400, 1200, 800), [MAIN, LEFT]),
    ],
)
def test_that_the_title_bar_can_always_be_taken(wish: Place, screens: list[Place]) -> None:
    found = reachable_place(wish, screens, MINIMUM, FRAME_PX)
    title = Place(found.x, found.y - FRAME_PX, found.width, FRAME_PX)
    # All of its height and enough of its width lie on a screen.
    assert max(title.overlap_px(screen) for screen in screens) >= 160 * FRAME_PX
    assert found.width >= MINIMUM[0]
    assert found.height >= MINIMUM[1]


def test_that_a_window_larger_than_the_screen_is_made_to_fit() -> None:
    found = reachable_place(Place(100, 100, 4000, 3000), [MAIN], MINIMUM, FRAME_PX)
    assert found == Place(0, FRAME_PX, 1920, 1050)


def test_that_a_window_may_be_as_wide_as_two_screens_together() -> None:
    wish = Place(-2500, 100, 4300, 900)
    assert reachable_place(wish, [MAIN, LEFT], MINIMUM, FRAME_PX) == wish


def test_that_a_first_start_is_in_the_middle_and_fits() -> None:
    assert centred_place((1440, 900), [MAIN], MINIMUM, 0) == Place(240, 90, 1440, 900)
    assert centred_place((1440, 900), [SCALED], MINIMUM, 0) == Place(0, 0, *MINIMUM)


def test_that_a_place_is_read_as_it_was_written() -> None:
    place = Place(-2000, -100, 1440, 900)
    assert read_place(place.text()) == place


@pytest.mark.parametrize(
    "text", ["", "1,2,3", "a,b,c,d", "1,2,0,900", "1,2,-5,900", "1,2,1e9,5", "0,0,99999999,5"]
)
def test_that_what_is_no_place_is_none(text: str) -> None:
    assert read_place(text) is None
