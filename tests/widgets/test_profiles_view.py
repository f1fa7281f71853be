"""The view of all profiles, and the dialog that asks for a name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from resources.tokens import DARK
from widgets.profile_name_dialog import ProfileNameDialog
from widgets.profile_rows import NOW, ComparedSetting, ProfileRow, ProfileSheet
from widgets.profiles_view import ProfilesView

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
ROWS = (
    ProfileRow("d", "Defaults", "Built in", "reload", is_built_in=True),
    ProfileRow("a", "Long", "For Toy", "new context"),
    ProfileRow("b", "Eight", "For Toy", is_chosen=True),
    ProfileRow("o", "Elsewhere", "For other models", why_not="It is for Other: load it first."),
)
SHEET = ProfileSheet(
    "a", "Long", "For Toy.", "", NOW, "As set now",
    (
        ComparedSetting("slots", "Parallel slots", "4", "8", "new context"),
        ComparedSetting("top_k", "Top-k", "40", "7", "live"),
    ),
    "Switching to it costs: new context.",
)  # fmt: skip


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ProfilesView:
    made = ProfilesView()
    made.set_palette(DARK)
    shown(made)
    return made


def test_that_the_one_in_use_is_looked_at_first_beside_now(view: ProfilesView) -> None:
    asked: list[tuple[str, str]] = []
    view.compare_wanted.connect(lambda one, other: asked.append((one, other)))
    view.set_rows(ROWS)
    assert asked == [("b", NOW)]
    assert view.list.shown_texts() == (
        ("Built in", "Defaults", "reload"), ("For Toy", "Long", "new context"),
        ("For Toy", "Eight", ""), ("For other models", "Elsewhere", ""),
    )  # fmt: skip
    view.compare_with("a", "d")
    assert asked[-1] == ("a", "d")
    # What is looked at stays so.
    view.set_rows(ROWS)
    assert asked[-1] == ("a", "d")
    view.set_rows(ROWS[2:])
    assert asked[-1] == ("b", NOW)


def test_that_a_sheet_is_a_table_of_both_with_the_cost(view: ProfilesView) -> None:
    view.set_rows(ROWS)
    view.show_sheet(SHEET)
    assert view.shown_texts() == (
        ("Setting", "As set now", "Long", "Cost"),
        ("Parallel slots", "4", "8", "new context"),
        ("Top-k", "40", "7", "live"),
    )
    assert view.total.text() == "Switching to it costs: new context."
    assert not view.caution.isVisible()
    item = view.table.item(0, 0)
    assert item is not None
    assert "slots" in item.toolTip()


def test_that_nothing_that_differs_is_said(view: ProfilesView) -> None:
    view.set_rows(ROWS)
    same = ProfileSheet("a", "Long", "For Toy.", "x is left out.", NOW, "As set now", (), "Same.")
    view.show_sheet(same)
    assert not view.table.isVisible()
    assert view._empty.isVisible()
    assert view.caution.text() == "x is left out."


def test_that_every_button_tells_what_is_looked_at(view: ProfilesView) -> None:
    told: list[tuple[str, str]] = []
    view.switch_wanted.connect(lambda one: told.append(("switch", one)))
    view.rename_wanted.connect(lambda one: told.append(("rename", one)))
    view.delete_wanted.connect(lambda one: told.append(("delete", one)))
    view.export_wanted.connect(lambda one: told.append(("export", one)))
    view.save_as_wanted.connect(lambda: told.append(("save as", "")))
    view.import_wanted.connect(lambda: told.append(("import", "")))
    view.set_rows(ROWS)
    view.compare_with("a", NOW)
    view.show_sheet(SHEET)
    for button in (
        view.switch_button, view.rename_button, view.delete_button, view.export_button,
        view.save_as_button, view.import_button,
    ):  # fmt: skip
        QTest.mouseClick(button, LEFT)
    assert told == [
        ("switch", "a"), ("rename", "a"), ("delete", "a"), ("export", "a"), ("save as", ""),
        ("import", ""),
    ]  # fmt: skip


def test_that_what_is_built_in_can_be_exported_but_not_changed(view: ProfilesView) -> None:
    view.set_rows(ROWS)
    view.compare_with("d", NOW)
    view.show_sheet(SHEET)
    enabled = [
        button.isEnabled()
        for button in (
            view.switch_button, view.export_button, view.rename_button, view.delete_button,
        )
    ]  # fmt: skip
    assert enabled == [True, True, False, False]
    assert "built in" in view.delete_button.toolTip()


def test_that_one_of_another_model_says_why_it_cannot_be_switched_to(view: ProfilesView) -> None:
    told: list[str] = []
    view.switch_wanted.connect(told.append)
    view.set_rows(ROWS)
    view.compare_with("o", NOW)
    view.show_sheet(SHEET)
    assert not view.switch_button.isEnabled()
    QTest.keyClick(view.list, Qt.Key.Key_Return)
    assert told == []
    assert view.problem_bar.sentence() == "It is for Other: load it first."


def test_that_the_list_has_keys_for_all_of_it(view: ProfilesView) -> None:
    told: list[tuple[str, str]] = []
    view.switch_wanted.connect(lambda one: told.append(("switch", one)))
    view.rename_wanted.connect(lambda one: told.append(("rename", one)))
    view.delete_wanted.connect(lambda one: told.append(("delete", one)))
    view.restore_wanted.connect(lambda token: told.append(("restore", token)))
    view.set_rows(ROWS)
    view.compare_with("a", NOW)
    view.show_sheet(SHEET)
    view.list.setFocus()
    for key in (Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_Delete):
        QTest.keyClick(view.list, key)
    view.offer_undo("token", "Long")
    assert view.undo_bar.words() == "Deleted “Long”"
    QTest.keyClick(view.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert told == [("switch", "a"), ("rename", "a"), ("delete", "a"), ("restore", "token")]
    QTest.keyClick(view.list, Qt.Key.Key_Down)
    assert view.list.current_id() == "b"
    view.undo_bar.dismiss()


def test_that_the_buttons_fit_a_narrow_view(view: ProfilesView) -> None:
    view.set_rows(ROWS)
    view.show_sheet(SHEET)
    view.resize(view.minimumSizeHint())
    QApplication.processEvents()
    for button in (view.switch_button, view.rename_button, view.export_button, view.close_button):
        assert button.width() > button.fontMetrics().horizontalAdvance(button.text())
        right = button.mapTo(view, button.rect().topRight()).x()
        assert right < view.width()


# --- The name -------------------------------------------------------------------------------


def refuse_taken(text: str, is_for_model: bool) -> str:
    if not text.strip():
        return "A profile needs a name."
    return "Taken." if text == "Eight" and is_for_model else ""


@pytest.fixture
def dialog(shown: Callable[[QWidget], None]) -> ProfileNameDialog:
    made = ProfileNameDialog(
        "Save as a profile", refuse_taken, scopes=("For Toy alone.", "For all of them.")
    )
    shown(made)
    return made


def test_that_a_name_is_asked_for_with_whom_it_is_for(dialog: ProfileNameDialog) -> None:
    named: list[tuple[str, bool]] = []
    dialog.named.connect(lambda name, is_one: named.append((name, is_one)))
    assert dialog.about.text() == "For Toy alone."
    assert not dialog.ok_button.isEnabled()
    assert dialog.problem.text() == ""
    QTest.keyClicks(dialog.field, "Eight")
    assert dialog.problem.text() == "Taken."
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog.scope._on_clicked(1)
    assert (dialog.problem.text(), dialog.about.text()) == ("", "For all of them.")
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)
    assert named == [("Eight", False)]
    assert not dialog.isVisible()


def test_that_a_rename_asks_for_no_scope(shown: Callable[[QWidget], None]) -> None:
    made = ProfileNameDialog("Rename the profile", refuse_taken, name="Old")
    shown(made)
    assert not made.scope.isVisible()
    assert not made.is_for_model()
    assert made.field.selectedText() == "Old"
    named: list[tuple[str, bool]] = []
    made.named.connect(lambda name, is_one: named.append((name, is_one)))
    QTest.keyClicks(made.field, "New")
    QTest.mouseClick(made.ok_button, LEFT)
    assert named == [("New", False)]
