"""Where a window opens: where it stood last, moved until a person can reach it.

Pure: rectangles in device-independent pixels in, a rectangle out. Screens come and go between two
starts (a laptop leaves its desk, a scale factor changes), so what was remembered is only a wish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# So much of the title bar has to lie on a screen for a hand to take it.
_REACHABLE_WIDTH_PX, _TITLE_HEIGHT_PX = 160, 32
# No screen is larger; a wider wish is a damaged one.
_LARGEST_PX = 32_768


@dataclass(frozen=True)
class Place:
    """A rectangle on the desktop, in device-independent pixels; the top left may be negative.

    Attributes:
        x: Left edge.
        y: Top edge.
        width: Above 0.
        height: Above 0.
    """

    x: int
    y: int
    width: int
    height: int

    def overlap_px(self, other: Place) -> int:
        """Area that both cover, in square pixels."""
        width = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        height = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0, width) * max(0, height)

    def text(self) -> str:
        """The four numbers as ``read_place`` takes them."""
        return f"{self.x},{self.y},{self.width},{self.height}"


def read_place(text: str) -> Place | None:
    """What ``Place.text`` wrote; None for anything that is no place for a window."""
    parts = text.split(",")
    try:
        x, y, width, height = (int(part) for part in parts)
    except ValueError:
        return None
    is_sane = 0 < width <= _LARGEST_PX and 0 < height <= _LARGEST_PX
    return Place(x, y, width, height) if is_sane else None


def reachable_place(
    wish: Place, screens: Sequence[Place], minimum_px: tuple[int, int], frame_top_px: int = 0
) -> Place:
    """The place nearest to ``wish`` at which all of the window can be worked with.

    Args:
        wish: Where it stood last, without its frame.
        screens: Usable area of every screen, the main one first; not empty.
        minimum_px: Width and height below which the window cannot go.
        frame_top_px: Height of the title bar above the window's own area.

    Returns:
        ``wish`` itself where its title bar can be taken and it is no larger than the screens.
    """
    screen = _screen_for(wish, screens)
    width = max(minimum_px[0], min(wish.width, _span(screens, screen, is_wide=True)))
    height = max(
        minimum_px[1], min(wish.height, _span(screens, screen, is_wide=False) - frame_top_px)
    )
    title = Place(wish.x, wish.y - frame_top_px, width, max(frame_top_px, _TITLE_HEIGHT_PX))
    if (width, height) == (wish.width, wish.height) and _can_be_taken(title, screens):
        return wish
    if not any(map(wish.overlap_px, screens)):
        return _centred(screen, width, height, frame_top_px)
    # The right and the lower edge give way before the title bar does.
    x = max(screen.x, min(wish.x, screen.x + screen.width - width))
    top = screen.y + frame_top_px
    y = max(top, min(wish.y, screen.y + screen.height - height))
    return Place(x, y, width, height)


def centred_place(
    size_px: tuple[int, int], screens: Sequence[Place], minimum_px: tuple[int, int],
    frame_top_px: int = 0,
) -> Place:  # fmt: skip
    """A window of that size, or as much of it as fits, in the middle of the main screen."""
    screen = screens[0]
    width = max(minimum_px[0], min(size_px[0], screen.width))
    height = max(minimum_px[1], min(size_px[1], screen.height - frame_top_px))
    return _centred(screen, width, height, frame_top_px)


def _centred(screen: Place, width: int, height: int, frame_top_px: int) -> Place:
    x = screen.x + max(0, (screen.width - width) // 2)
    room = screen.height - frame_top_px - height
    return Place(x, screen.y + frame_top_px + max(0, room // 2), width, height)


def _screen_for(wish: Place, screens: Sequence[Place]) -> Place:
    """The screen that holds most of ``wish``; the main one where none holds any."""
    return max(screens, key=wish.overlap_px)  # the first of equals


def _span(screens: Sequence[Place], screen: Place, *, is_wide: bool) -> int:
    """How large a window may be: it may lie across several screens, but not beyond them all."""
    starts = [s.x if is_wide else s.y for s in screens]
    ends = [s.x + s.width if is_wide else s.y + s.height for s in screens]
    own = screen.width if is_wide else screen.height
    return max(own, max(ends) - min(starts)) if len(screens) > 1 else own


def _can_be_taken(title: Place, screens: Sequence[Place]) -> bool:
    """Whether enough of the title bar lies on one screen, its upper edge included."""
    for screen in screens:
        left, right = max(title.x, screen.x), min(title.x + title.width, screen.x + screen.width)
        is_inside = screen.y <= title.y <= screen.y + screen.height - title.height
        if is_inside and right - left >= min(_REACHABLE_WIDTH_PX, title.width):
            return True
    return False
