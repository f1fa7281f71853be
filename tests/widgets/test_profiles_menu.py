"""The button that says which profile is in use, and its menu."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from resources.tokens import DARK, LIGHT, TUNE_WIDTH_PX
from widgets.profile_rows import ProfileRow
from widgets.profiles_menu import ProfilesMenu
from widgets.theme import apply_theme

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
ROWS = (
    ProfileRow("d", "Defaults", "Built in", "reload 2.9 s", "Where one starts.", is_built_in=True),
    ProfileRow("a", "Long & <b>slow</b>", "For Toy", "new context 0.3 s", "For Toy."),
    ProfileRow("b", "Eight", "For Toy", is_chosen=True),
    ProfileRow("c", "x" * 80, "For all models", why_not="Not now."),
)


@pytest.fixture
def menu(shown: Callable[[QWidget], None]) -> ProfilesMenu:
    made = ProfilesMenu()
    made.set_palette(DARK)
    made.resize(TUNE_WIDTH_PX, made.sizeHint().height())
    shown(made)
    return made


def entries(menu: ProfilesMenu) -> dict[str, QAction]:
    return {action.text().split("\t")[0]: action for action in menu.menu.actions()}


def test_that_the_menu_lists_profiles_under_headings_with_their_cost(menu: ProfilesMenu) -> None:
    menu.set_rows(ROWS)
    texts = [action.text() for action in menu.menu.actions() if not action.isSeparator()]
    assert texts[:7] == [
        "Built in", "Defaults\treload 2.9 s",
        "For Toy", "Long && <b>slow</b>\tnew context 0.3 s", "Eight",
        "For all models", texts[6],
    ]  # fmt: skip
    assert len(texts[6]) < 80
    assert texts[7:] == ["Save as…", "Compare, rename, export…", "Import…"]
    found = entries(menu)
    assert [found[name].isEnabled() for name in ("Built in", "Defaults", texts[6])] == [
        False, True, False,
    ]  # fmt: skip
    assert found["Eight"].isChecked()
    assert "Not now." in found[texts[6]].toolTip()
    assert "x" * 80 in found[texts[6]].toolTip()


def test_that_one_click_chooses_and_the_mark_stays_until_told_otherwise(
    menu: ProfilesMenu,
) -> None:
    menu.set_rows(ROWS)
    chosen: list[str] = []
    menu.chosen.connect(chosen.append)
    found = entries(menu)
    found["Defaults"].trigger()
    found["Eight"].trigger()
    assert chosen == ["d", "b"]
    assert not found["Defaults"].isChecked()
    assert found["Eight"].isChecked()


def test_that_rows_are_asked_for_when_the_menu_opens(menu: ProfilesMenu) -> None:
    asked: list[bool] = []
    menu.rows_wanted.connect(lambda: asked.append(True))
    menu.menu.aboutToShow.emit()
    assert asked == [True]


def test_that_without_own_profiles_the_menu_says_how_to_make_one(menu: ProfilesMenu) -> None:
    menu.set_rows(ROWS[:1])
    assert any("Save as… makes one" in action.text() for action in menu.menu.actions())
    menu.set_rows(ROWS)
    assert not any("Save as… makes one" in action.text() for action in menu.menu.actions())


def test_that_the_button_names_the_profile_and_marks_changes(menu: ProfilesMenu) -> None:
    button = menu.button
    assert (button.text(), button.accessibleName()) == ("Profiles", "Profiles")
    menu.set_state("Long & slow", is_changed=False, is_own=True)
    assert button.text() == "Long && slow"
    assert button.accessibleName() == "Profile: Long & slow"
    menu.set_state("Long & slow", is_changed=True, is_own=True)
    assert button.text() == "Long && slow · changed"
    assert button.accessibleName() == "Profile: Long & slow, changed"


def test_that_of_a_long_name_the_mark_stays_in_sight(menu: ProfilesMenu) -> None:
    before = menu.width(), menu.button.width(), menu.save_button.geometry()
    menu.set_state("very " * 15 + "long", is_changed=True, is_own=True)
    QApplication.processEvents()
    assert menu.button.text().endswith("… · changed") or "…" in menu.button.text()
    assert menu.button.text().endswith(" · changed")
    room = menu.button.width() - menu.button.fontMetrics().horizontalAdvance(menu.button.text())
    assert room > 0
    assert (menu.width(), menu.button.width(), menu.save_button.geometry()) == before
    assert "long" in menu.button.toolTip()


def test_that_the_save_button_saves_or_asks_for_a_name(menu: ProfilesMenu) -> None:
    told: list[str] = []
    menu.save_wanted.connect(lambda: told.append("save"))
    menu.save_as_wanted.connect(lambda: told.append("save as"))
    QTest.mouseClick(menu.save_button, LEFT)
    menu.set_state("Defaults", is_changed=True, is_own=False)
    assert menu.save_button.text() == "Save as…"
    QTest.mouseClick(menu.save_button, LEFT)
    menu.set_state("Eight", is_changed=False, is_own=True)
    assert menu.save_button.text() == "Save"
    assert not menu.save_button.isEnabled()
    menu.set_state("Eight", is_changed=True, is_own=True)
    QTest.mouseClick(menu.save_button, LEFT)
    assert told == ["save as", "save as", "save"]
    saves = [a for a in menu.menu.actions() if a.text() == "Save the changes to “Eight”"]
    assert [action.isEnabled() for action in saves] == [True]
    saves[0].trigger()
    assert told[-1] == "save"


def test_that_every_entry_of_the_menu_does_what_it_says(menu: ProfilesMenu) -> None:
    told: list[str] = []
    menu.save_as_wanted.connect(lambda: told.append("save as"))
    menu.view_wanted.connect(lambda: told.append("view"))
    menu.import_wanted.connect(lambda: told.append("import"))
    for text in ("Save as…", "Compare, rename, export…", "Import…"):
        entries(menu)[text].trigger()
    assert told == ["save as", "view", "import"]


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_that_nothing_is_cut_off_in_larger_type(
    menu: ProfilesMenu, themed: QApplication, scale: float
) -> None:
    apply_theme(themed, LIGHT, scale)
    menu.resize(menu.minimumSizeHint())
    QApplication.processEvents()
    for button in (menu.button, menu.save_button):
        assert button.width() > button.fontMetrics().horizontalAdvance(button.text())
        assert button.height() >= button.fontMetrics().height()
