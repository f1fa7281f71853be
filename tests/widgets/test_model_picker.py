"""The picker alone: searched, sorted, walked by keyboard, in each of its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from resources.tokens import DARK, LIGHT
from widgets.drop_target import wanted_path
from widgets.dropped_path import DroppedPath
from widgets.model_picker import ModelPicker
from widgets.model_rows import (
    FitView,
    KvRow,
    LookedPlace,
    ModelGroup,
    ModelRow,
    ModelSheet,
)
from widgets.model_table import Column

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
GIB = 1 << 30
GROUPS = (
    ModelGroup("recent", "Recent"),
    ModelGroup("mine", "Mine", "/models/mine", is_removable=True),
    ModelGroup("hub", "Hub", "/cache/hub"),
)
PLAN = MemoryPlan(
    BytesByUse(weights=2 * GIB, kv=GIB, total=3 * GIB),
    (DeviceBytes("CPU", 2 * GIB, GIB, 0, 8 * GIB, 16 * GIB),),
    None,
    True,
    (),
    0.1,
)


def row(key: str, group: str = "mine", size: int = 1, **changes: object) -> ModelRow:
    values: dict[str, object] = {
        "key": key, "group": group, "name": f"{key}.gguf", "about": "494 M · Q4_K_M",
        "size_bytes": size, "size_text": f"{size} B", "modified_s": float(size),
    }  # fmt: skip
    return ModelRow(**(values | changes))  # type: ignore[arg-type]


@pytest.fixture
def picker(shown: Callable[[QWidget], None]) -> ModelPicker:
    made = ModelPicker()
    made.set_palette(DARK)
    made.set_groups(GROUPS)
    shown(made)
    return made


def shown_names(picker: ModelPicker) -> list[str]:
    """Names of the models as they stand, group by group, groups without models left out."""
    return [f"{key}.gguf" for key in picker.list.shown_keys()]


def button(picker: ModelPicker, text: str) -> QPushButton:
    return next(b for b in picker.findChildren(QPushButton) if b.text() == text)


def fill(picker: ModelPicker) -> None:
    picker.put([row("b", size=3), row("a", size=2), row("hub1", "hub"), row("new", "recent")])


def test_that_recent_models_stand_first_and_folders_in_their_order(picker: ModelPicker) -> None:
    fill(picker)
    assert shown_names(picker) == ["new.gguf", "a.gguf", "b.gguf", "hub1.gguf"]
    assert "4 models" in picker.status()


@pytest.mark.parametrize(
    ("column", "order", "names"),
    [
        (0, Qt.SortOrder.DescendingOrder, ["new.gguf", "b.gguf", "a.gguf", "hub1.gguf"]),
        (2, Qt.SortOrder.AscendingOrder, ["new.gguf", "a.gguf", "b.gguf", "hub1.gguf"]),
        (3, Qt.SortOrder.DescendingOrder, ["new.gguf", "b.gguf", "a.gguf", "hub1.gguf"]),
    ],
)
def test_that_sorting_keeps_the_folders_in_place(
    picker: ModelPicker, column: int, order: Qt.SortOrder, names: list[str]
) -> None:
    fill(picker)
    picker.list.sortByColumn(column, order)
    assert shown_names(picker) == names


def test_that_the_list_is_sorted_without_a_mouse(picker: ModelPicker) -> None:
    fill(picker)
    menu = button(picker, "Sort").menu()
    by_size = next(action for action in menu.actions() if action.text() == "By size")
    by_size.trigger()
    assert shown_names(picker)[1:3] == ["a.gguf", "b.gguf"]
    by_size.trigger()
    assert shown_names(picker)[1:3] == ["b.gguf", "a.gguf"]
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [False, False, True, False]


def test_that_a_search_finds_all_words_wherever_they_stand(picker: ModelPicker) -> None:
    fill(picker)
    picker.put([row("qwen-coder", about="7 B · Q8_0"), row("qwen(1)", about="1 B · F16")])
    QTest.keyClicks(picker.search, "Q8_0 qwen")
    assert shown_names(picker) == ["qwen-coder.gguf"]
    assert picker.list.current_key() == "qwen-coder"
    assert "1 of 6 models" in picker.status()
    picker.search.setText("(1)")
    assert shown_names(picker) == ["qwen(1).gguf"]


def test_that_the_arrow_keys_walk_the_list_from_the_search_field(
    picker: ModelPicker, qtbot: QtBot
) -> None:
    fill(picker)
    assert picker.list.current_key() == "new"
    picker.search.setFocus()
    QTest.keyClick(picker.search, Qt.Key.Key_Down)  # past the heading between them
    assert picker.list.current_key() == "a"
    picker.show_sheet(ModelSheet("A", "/models/mine/a.gguf"), can_load=True)
    with qtbot.waitSignal(picker.chosen) as chosen:
        QTest.keyClick(picker.search, Qt.Key.Key_Return)
    assert chosen.args == ["a"]


def test_that_enter_on_a_row_loads_it_and_escape_closes(picker: ModelPicker, qtbot: QtBot) -> None:
    fill(picker)
    picker.list.setFocus()
    picker.list.select("b")
    picker.show_sheet(ModelSheet("B", "/b.gguf"), can_load=True)
    with qtbot.waitSignal(picker.chosen) as chosen:
        QTest.keyClick(picker.list, Qt.Key.Key_Return)
    assert chosen.args == ["b"]
    with qtbot.waitSignal(picker.rejected):
        QTest.keyClick(picker.list, Qt.Key.Key_Escape)


def test_that_a_greyed_model_is_explained_and_cannot_be_loaded(
    picker: ModelPicker, qtbot: QtBot
) -> None:
    sentence = "bad.gguf is cut short. Download it again."
    picker.put([row("bad", is_greyed=True, about="cannot be loaded", sentence=sentence)])
    picker.show_sheet(ModelSheet("bad.gguf", "/bad.gguf", sentence), can_load=False)
    assert sentence in picker.sheet.words()
    assert not picker.load_button.isEnabled()
    with qtbot.assertNotEmitted(picker.chosen):
        QTest.keyClick(picker.list, Qt.Key.Key_Return)
    index = picker.list.currentIndex()
    assert sentence in index.data(Qt.ItemDataRole.AccessibleTextRole)


def test_that_moving_on_forgets_the_fit_and_waits_for_the_next_sheet(
    picker: ModelPicker, qtbot: QtBot
) -> None:
    fill(picker)
    picker.show_sheet(ModelSheet("New", "/new.gguf"), can_load=True)
    picker.show_fit(FitView("Fits.", plan=PLAN))
    with qtbot.waitSignal(picker.selected) as selected:
        picker.list.select("a")
    assert selected.args == ["a"]
    assert picker.sheet.fit.sentence() == ""
    assert not picker.load_button.isEnabled()


def test_that_the_facts_and_the_table_are_shown(picker: ModelPicker) -> None:
    fill(picker)
    rows = (KvRow("f16", "12 KiB", "3 KiB", "100 %"), KvRow("q8_0", "6 KiB", "2 KiB", "53 %"))
    sheet = ModelSheet("Qwen", "/q.gguf", "", (("Layers", "24"),), rows, "15 of 18 layers …")
    picker.show_sheet(sheet, can_load=True)
    words = picker.sheet.words()
    for text in ("Qwen", "Layers", "24", "q8_0", "6 KiB", "windowed layers", "15 of 18"):
        assert text in words
    names = [label.accessibleName() for label in picker.sheet.findChildren(QLabel)]
    assert "q8_0, per token: 6 KiB" in names
    picker.show_sheet(ModelSheet("Other", "/o.gguf"), can_load=True)
    assert "q8_0" not in picker.sheet.words()


def test_that_a_narrow_picker_cuts_no_figure_off(picker: ModelPicker, qtbot: QtBot) -> None:
    fill(picker)
    picker.list.select("a")
    kv = tuple(KvRow(name, "6.00 KiB", "30.0 KiB", "200 %") for name in ("f32", "f16"))
    facts = (("Quantisation", "Q4_K_M: Q8_0 73 % · Q5_0 18 %"), ("Attention", "4 : 1"))
    picker.show_sheet(ModelSheet("Model", "/m.gguf", "", facts, kv), can_load=True)
    picker.resize(400, 400)
    sheet, page = picker.sheet, picker.sheet.widget()
    assert page is not None
    qtbot.waitUntil(lambda: page.width() <= sheet.viewport().width())


def test_that_what_is_said_about_models_takes_no_more_room_than_it_needs(
    picker: ModelPicker,
) -> None:
    picker.resize(1800, 600)  # so that no other column gives way

    def name_px(about: str) -> int:
        picker.put([row("a", about=about)])
        QApplication.processEvents()
        return picker.list.columnWidth(Column.NAME)

    roomy, usual, tight = (
        name_px("1 B"),
        name_px("494 M · Q4_K_M"),
        name_px("no model: " + "x" * 90),
    )
    assert roomy > usual > tight > 0
    assert name_px("1 B") == roomy


def test_that_a_model_that_does_not_fit_is_offered_with_what_would(
    picker: ModelPicker, qtbot: QtBot
) -> None:
    fill(picker)
    picker.show_sheet(ModelSheet("New", "/new.gguf"), can_load=True)
    ways = (("0", "Load with context 8,192"), ("1", "Load with a q8_0 cache"))
    picker.show_fit(FitView("It does not fit.", is_short=True, plan=PLAN, ways=ways))
    assert picker.sheet.fit.sentence() == "It does not fit."
    with qtbot.waitSignal(picker.way_chosen) as chosen:
        QTest.mouseClick(button(picker, "Load with a q8_0 cache"), LEFT)
    assert chosen.args == ["new", "1"]
    picker.show_fit(None)
    assert "Asking" in picker.sheet.fit.sentence()
    assert picker.sheet.fit.bar_text() == "System memory: not known yet"
    shown = [b for b in picker.findChildren(QPushButton) if b.isVisible()]
    assert not [b for b in shown if b.text().startswith("Load with")]


def test_that_a_fit_without_a_plan_claims_no_memory(picker: ModelPicker) -> None:
    fill(picker)
    picker.show_sheet(ModelSheet("New", "/new.gguf"), can_load=True)
    picker.show_fit(FitView("llama.cpp ended while it looked at it.", is_short=True))
    assert picker.sheet.fit.bar_text() == "System memory: not known"
    picker.show_fit(FitView("Fits.", plan=PLAN, capacity_bytes=2**34))
    for wrong in ("no model loaded", "not known"):
        assert wrong not in picker.sheet.fit.bar_text()


def test_that_each_state_has_its_words(picker: ModelPicker) -> None:
    words = [label for label in picker.findChildren(QLabel) if "GGUF" in label.text()]
    assert words[0].isVisible()
    picker.set_listing(True, "")
    assert "Looking for models" in words[0].text()
    fill(picker)
    assert not words[0].isVisible()
    assert "listing" in picker.status()
    picker.set_listing(False, "USB does not answer.")
    assert "USB does not answer." in picker.status()
    picker.search.setText("no such model")
    assert words[0].isVisible()
    assert "these words" in words[0].text()


def test_that_rows_are_replaced_moved_and_removed(picker: ModelPicker) -> None:
    fill(picker)
    picker.put([row("a", about="not reachable", is_greyed=True), row("b", "recent")])
    assert shown_names(picker) == ["b.gguf", "new.gguf", "a.gguf", "hub1.gguf"]
    picker.remove(["a", "hub1", "unknown"])
    assert shown_names(picker) == ["b.gguf", "new.gguf"]
    picker.set_groups(GROUPS[1:])
    assert shown_names(picker) == []


def test_that_folders_are_added_and_removed_from_the_menu(
    picker: ModelPicker, qtbot: QtBot
) -> None:
    menu = button(picker, "Folders").menu()
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts == ["Add a folder…", "Remove Mine"]
    with qtbot.waitSignal(picker.folder_add_requested):
        menu.actions()[0].trigger()
    with qtbot.waitSignal(picker.folder_removed) as removed:
        menu.actions()[-1].trigger()
    assert removed.args == ["mine"]


def test_that_two_thousand_models_are_put_in_turns_that_do_not_freeze(
    picker: ModelPicker,
) -> None:
    rows = [row(f"m{number:04}", size=number + 1) for number in range(2_000)]
    for start in range(0, len(rows), 32):
        picker.put(rows[start : start + 32])
    assert len(shown_names(picker)) == 2_000
    picker.search.setText("m1999")
    assert shown_names(picker) == ["m1999.gguf"]


def test_that_everything_can_be_reached_and_has_a_name(picker: ModelPicker) -> None:
    picker.set_palette(LIGHT)
    fill(picker)
    picker.show_sheet(ModelSheet("New", "/new.gguf"), can_load=True)
    reached: set[QWidget] = set()
    focus: QWidget | None = picker.search
    while focus is not None and focus not in reached:
        reached.add(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        focus = QApplication.focusWidget()
    buttons = [b for b in picker.findChildren(QPushButton) if b.isVisible()]
    assert {picker.list, *buttons} <= reached
    for found in picker.findChildren(QAbstractButton):
        assert found.accessibleName() or found.text() or not found.isVisible()


# --- Drops ----------------------------------------------------------------------------------


def dropped(*paths: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path) for path in paths])
    return data


@pytest.mark.parametrize(
    ("paths", "wanted"),
    [
        (("/models/a.GGUF",), "/models/a.GGUF"),
        (("/models/folder",), "/models/folder"),
        (("/models/Qwen2.5",), "/models/Qwen2.5"),
        (("/home/notes.txt",), ""),
        (("/a.gguf", "/b.gguf"), ""),
        ((), ""),
    ],
)
def test_that_only_one_model_or_folder_is_wanted(paths: tuple[str, ...], wanted: str) -> None:
    assert wanted_path(dropped(*paths)) == wanted


def test_that_a_model_is_taken_anywhere_and_other_drops_are_not(
    shown: Callable[[QWidget], None], qtbot: QtBot
) -> None:
    window = QWidget()
    target = DroppedPath(window, wanted_path)
    shown(window)
    keep, buttons, none = Qt.DropAction.CopyAction, LEFT, Qt.KeyboardModifier.NoModifier

    def enter(data: QMimeData) -> bool:
        event = QDragEnterEvent(QPoint(1, 1), keep, data, buttons, none)
        QApplication.sendEvent(window, event)
        return event.isAccepted()

    assert enter(dropped("/models/a.gguf"))
    assert not enter(dropped("/home/notes.txt"))

    def drop(data: QMimeData) -> None:
        assert enter(data)
        QApplication.sendEvent(window, QDropEvent(QPointF(1, 1), keep, data, buttons, none))

    for path in ("/models/a.gguf", "/models/folder"):
        with qtbot.waitSignal(target.dropped) as told:
            drop(dropped(path))
        assert told.args == [path]


def test_that_names_of_files_are_no_markup_in_tips(picker: ModelPicker) -> None:
    evil = "<img src=x>"
    picker.set_groups((ModelGroup("mine", "Mine", f"/{evil}", is_removable=True),))
    sentence = f"{evil} is cut short."
    picker.put([row("a", name=evil), row("bad", is_greyed=True, sentence=sentence)])
    picker.show_sheet(ModelSheet(evil, "/bad.gguf", sentence), can_load=False)
    indexes = [picker.list.model().index(0, 0)]
    for key in ("a", "bad"):
        picker.list.select(key)
        indexes.append(picker.list.currentIndex())
    tips = [index.data(Qt.ItemDataRole.ToolTipRole) for index in indexes]
    for tip in (picker.load_button.toolTip(), *tips):
        assert "<img" not in tip
        assert "&lt;img" in tip


def test_that_only_what_can_be_loaded_counts_as_a_model(picker: ModelPicker) -> None:
    refused: dict[str, Any] = {"is_greyed": True, "sentence": "It is cut off."}
    picker.put([row("a"), row("b"), row("bad", **refused), row("worse", **refused)])
    assert picker.status() == "2 models · 2 unusable"
    picker.search.setText("a")  # a.gguf and bad.gguf
    assert picker.status() == "1 of 2 models · 1 unusable"
    picker.search.setText("b.")
    assert picker.status() == "1 of 2 models"


def test_that_a_folder_s_heading_has_its_path(picker: ModelPicker) -> None:
    fill(picker)
    model = picker.list.model()
    texts = [model.index(at, 0).data() for at in range(model.rowCount())]
    assert "Mine  ·  /models/mine" in texts
    assert "Recent" in texts


def test_that_the_folders_menu_tells_where_it_was_looked(picker: ModelPicker) -> None:
    places = (
        LookedPlace("Mine & yours", "/models/mine", "3 models"),
        LookedPlace("LM Studio", "/data/me/.lmstudio", is_there=False),
    )
    picker.set_places(places, "Nothing else was found.", "Folders are watched.")
    picker.set_groups(GROUPS)  # as with every refresh
    lines = [action.text() for action in picker._folder_menu.actions()]
    assert lines[-3:] == ["Looked into:", "Mine && yours · 3 models", "Not on this machine"]
    (more,) = (action.menu() for action in picker._folder_menu.actions() if action.menu())
    assert isinstance(more, QMenu)
    assert [action.text() for action in more.actions()] == ["LM Studio · /data/me/.lmstudio"]
    refresh = button(picker, "Refresh")
    assert "Folders are watched." in refresh.toolTip()


def test_that_a_hint_makes_way_for_a_search(picker: ModelPicker) -> None:
    fill(picker)
    assert not picker._hint.isVisible()
    picker.set_places((), "Nothing else was found.", "")
    assert picker._hint.isVisible()
    picker.search.setText("a")
    assert not picker._hint.isVisible()


def test_that_a_model_that_changes_its_folder_or_its_state_stands_once(
    picker: ModelPicker,
) -> None:
    fill(picker)
    picker.put([row("a", "recent", is_greyed=True)])
    assert shown_names(picker) == ["a.gguf", "new.gguf", "b.gguf", "hub1.gguf"]
    assert picker.list.loadable_counts() == (3, 3)
    picker.put([row("a", "recent")])
    assert picker.list.loadable_counts() == (4, 4)
    picker.remove(["a", "unknown"])
    assert shown_names(picker) == ["new.gguf", "b.gguf", "hub1.gguf"]
    picker.set_groups(GROUPS[:2])
    assert shown_names(picker) == ["new.gguf", "b.gguf"]
    picker.set_groups(GROUPS)
    picker.put([row("hub1", "hub")])
    assert shown_names(picker) == ["new.gguf", "b.gguf", "hub1.gguf"]
