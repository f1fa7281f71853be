"""Nothing is cut off and nothing lies over another thing, at any size and in any size of type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QScrollArea,
    QTabBar,
    QWidget,
)

from app.window import Window
from resources.tokens import DARK
from tests.unit.nvml_replay import h200, rtx_3090
from tests.widgets.test_board_strip import activity_of
from widgets.elided_label import ElidedLabel
from widgets.theme import apply_theme

pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]
# 3840 × 2160 at 200 % has the pixels of 1920 × 1080.
SIZES = ((900, 600), (1024, 600), (1366, 700), (1440, 900), (1920, 1080), (3840, 2160))


def visible(window: Window) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        if widget.isVisible() and widget.window() is window and not widget.size().isEmpty():
            yield widget


def settle() -> None:
    """A layout that was given room gives it on in the next turn."""
    for _ in range(3):
        QApplication.processEvents()


def told(widget: QWidget) -> str:
    text = getattr(widget, "text", str)()
    return f"{type(widget).__name__} {text or widget.accessibleName()!r}"


def cut_off(widget: QWidget) -> str:
    """What of the text of a label or button has no room; empty where all of it has."""
    if isinstance(widget, ElidedLabel) or not isinstance(widget, (QLabel, QAbstractButton)):
        return ""
    # A mnemonic's mark takes no room.
    text = widget.text().replace("&&", "\0").replace("&", "").replace("\0", "&")
    if not text or (isinstance(widget, QLabel) and widget.textFormat() == Qt.TextFormat.RichText):
        return ""
    metrics = widget.fontMetrics()
    if isinstance(widget, QLabel) and widget.wordWrap():
        needs = widget.heightForWidth(widget.width())
        return f"{needs} of {widget.height()} px high" if needs > widget.height() else ""
    needs = max(metrics.horizontalAdvance(line) for line in text.split("\n"))
    has = widget.contentsRect().width()
    if needs > has:
        return f"{needs} of {has} px wide"
    return f"{widget.height()} px high" if metrics.height() > widget.height() + 1 else ""


def lies_outside(widget: QWidget) -> bool:
    """Whether a part of ``widget`` is beyond its parent, where that is not scrolled."""
    parent = widget.parentWidget()
    if parent is None or isinstance(parent, QTabBar):  # a bar with many tabs scrolls
        return False
    if isinstance(parent.parentWidget(), QScrollArea):
        return False
    return not parent.rect().adjusted(-1, -1, 1, 1).contains(widget.geometry())


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_that_no_text_is_cut_off_and_nothing_lies_outside(
    make_window: Callable[..., Window], size: tuple[int, int], scale: float
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, DARK, scale)
    window = make_window()
    window.resize(*size)
    if size[0] > 3000:
        for name in window.docks.names():
            window.docks.show(name)
    settle()
    assert (window.width(), window.height()) == size
    faults = [f"{told(each)}: {cut_off(each)}" for each in visible(window) if cut_off(each)]
    faults += [f"{told(each)} lies outside" for each in visible(window) if lies_outside(each)]
    assert faults == []


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_that_the_columns_do_not_lie_over_each_other(
    make_window: Callable[..., Window], scale: float
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, DARK, scale)
    window = make_window()
    window.resize(1024, 700)
    settle()
    middle = window.chat.rect().translated(window.chat.mapTo(window, QPoint()))
    for name in window.docks.names():
        dock = window.docks.dock(name)
        assert dock.isHidden() or not dock.geometry().intersects(middle), name


def test_that_a_change_of_the_type_while_it_runs_leaves_nothing_cut_off(
    make_window: Callable[..., Window],
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    window = make_window()
    for scale in (2.0, 0.8, 1.5):
        apply_theme(app, DARK, scale)
        settle()
        faults = [f"{told(each)}: {cut_off(each)}" for each in visible(window) if cut_off(each)]
        assert faults == [], scale


def test_that_the_badges_leave_before_the_columns_get_too_wide(
    make_window: Callable[..., Window],
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, DARK, 2.0)
    window = make_window()
    widths = []
    for width in (1920, 1024, 1920):
        window.resize(width, 900)
        widths.append(window.tune.minimumSizeHint().width())
    assert widths[1] < widths[0] == widths[2]


@pytest.mark.parametrize("goes_back_at_px", [1440, 1920])
def test_that_the_charts_come_back_beside_the_chat_with_smaller_type(
    make_window: Callable[..., Window], goes_back_at_px: int
) -> None:
    """Rows in folded sections were measured in the larger type, too."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, DARK, 1.5)
    window = make_window()
    window.docks.show("conversations")
    window.resize(1440, 900)
    settle()
    was_folded = window.is_folded
    assert was_folded
    window.resize(goes_back_at_px, 900)
    apply_theme(app, DARK, 1.0)
    settle()
    window.resize(1440, 900)
    settle()
    assert (was_folded, window.is_folded) == (True, False)
    fresh = make_window()
    fresh.resize(1440, 900)
    settle()
    for name in ("tune", "live"):
        assert window.docks.dock(name).width() == fresh.docks.dock(name).width(), name


@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("page", [0, 1, 2])
def test_that_no_page_beside_the_chat_is_cut_off_in_a_low_window(
    make_window: Callable[..., Window], page: int, scale: float
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, DARK, scale)
    window = make_window()
    window.resize(1024, 600)
    window.live.boards.set_boards(activity_of(rtx_3090(), h200()))
    window.show_live()
    window.gauges.pages.show_page(page)
    settle()
    assert (window.width(), window.height()) == (1024, 600)
    faults = [f"{told(each)}: {cut_off(each)}" for each in visible(window) if cut_off(each)]
    faults += [f"{told(each)} lies outside" for each in visible(window) if lies_outside(each)]
    assert faults == []
    for chart in window.live.charts:
        assert chart.height() >= chart.minimumSizeHint().height()
