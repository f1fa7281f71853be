"""A row of the tune column, derived from its row in the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.settings.domain import Value
from engine_bridge.settings.row import Group, Setting
from engine_bridge.settings.table import BY_KEY, SETTINGS
from engine_bridge.settings.text_domain import TextDomain
from resources.tokens import DARK
from widgets.button_control import FlagControl, SegmentControl
from widgets.fader_control import ChoiceFaderControl, NumberControl
from widgets.list_control import ListControl
from widgets.setting_row import SettingRow
from widgets.text_control import TextControl, WordsControl
from widgets.value_field import ValueField

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
SHOWN = [setting for setting in SETTINGS if setting.group is not Group.MODEL]

Make = Callable[[str], SettingRow]


class Recorder:
    """Writes down what a row says."""

    def __init__(self, row: SettingRow) -> None:
        self.changing: list[tuple[str, object]] = []
        self.changed: list[tuple[str, object]] = []
        row.changing.connect(lambda key, value: self.changing.append((key, value)))
        row.changed.connect(lambda key, value: self.changed.append((key, value)))


@pytest.fixture
def make(shown: Callable[[QWidget], None]) -> Make:
    def build(key: str) -> SettingRow:
        row = SettingRow(BY_KEY[key])
        row.resize(330, row.sizeHint().height())
        row.set_palette(DARK)
        shown(row)
        return row

    return build


def field(row: SettingRow) -> ValueField:
    control = row.control
    assert isinstance(control, NumberControl)
    return control.field


def type_into(row: SettingRow, text: str) -> None:
    field(row).setFocus()
    field(row).selectAll()
    QTest.keyClicks(field(row), text)


def samples(setting: Setting) -> list[Value]:
    row = SettingRow(setting)
    control = row.control
    if isinstance(control, (NumberControl, ChoiceFaderControl)):
        stops = control.fader.scale.stops
        return [stops[0], stops[len(stops) // 2], stops[-1]]
    if isinstance(control, SegmentControl):
        return list(control._values)
    if isinstance(control, ListControl):
        return [(), control._choices[:1], control._choices]
    if isinstance(control, TextControl):
        assert isinstance(setting.domain, TextDomain)
        return ["", setting.domain.example]
    if isinstance(control, WordsControl):
        words = getattr(setting.domain, "examples", ("a b", "\n"))
        return [(), words[:1], tuple(words)]
    return [True, False]


# --- Every row of the table ------------------------------------------------------------------


@pytest.mark.parametrize("setting", SHOWN, ids=lambda s: s.key)
def test_that_each_setting_has_a_row_that_shows_any_value(
    setting: Setting, qtbot: QtBot, themed: object
) -> None:
    row = SettingRow(setting)
    qtbot.addWidget(row)
    row.set_palette(DARK)
    assert row.value() == setting.default
    recorder = Recorder(row)
    for value in samples(setting):
        row.set_value(value)
        assert row.value() == value
    assert recorder.changing == []
    assert recorder.changed == []
    assert not row.grab().toImage().isNull()


@pytest.mark.parametrize("setting", SHOWN, ids=lambda s: s.key)
def test_that_each_row_can_be_read_by_a_screen_reader(
    setting: Setting, qtbot: QtBot, themed: object
) -> None:
    row = SettingRow(setting)
    qtbot.addWidget(row)
    reachable = [
        widget
        for widget in row.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert reachable
    for widget in reachable:
        assert setting.label in widget.accessibleName()
        assert setting.help in widget.accessibleDescription() or setting.help in widget.toolTip()
    assert setting.help.split("'")[0].split("×")[0] in row.control.main.toolTip()


# --- Dragging, stepping, committing ------------------------------------------------------------


def test_that_dragging_previews_and_letting_go_commits(make: Make) -> None:
    row = make("ctx_per_slot_tok")
    recorder = Recorder(row)
    fader = row.fader
    QTest.mousePress(fader, LEFT, pos=fader.handle_position())
    QTest.mouseMove(fader, fader.position_of(8192))
    assert recorder.changing == [("ctx_per_slot_tok", 8192)]
    assert recorder.changed == []
    assert field(row).text() == "8,192"
    QTest.mouseRelease(fader, LEFT, pos=fader.position_of(8192))
    assert recorder.changed == [("ctx_per_slot_tok", 8192)]


def test_that_held_keys_become_one_change(make: Make, qtbot: QtBot) -> None:
    row = make("slots")
    recorder = Recorder(row)
    row.fader.setFocus()
    with qtbot.waitSignal(row.changed, timeout=2000):
        for _ in range(3):
            QTest.keyClick(row.fader, Qt.Key.Key_Right)
        assert [value for _, value in recorder.changing] == [6, 8, 12]
        assert recorder.changed == []
    assert recorder.changed == [("slots", 12)]


def test_that_a_value_set_from_outside_drops_an_unsettled_step(make: Make, qtbot: QtBot) -> None:
    row = make("slots")
    recorder = Recorder(row)
    row.fader.setFocus()
    QTest.keyClick(row.fader, Qt.Key.Key_Right)
    row.set_value(2)
    with qtbot.assertNotEmitted(row.changed, wait=400):
        pass
    assert row.value() == 2
    assert recorder.changed == []


def test_that_other_stops_take_the_place_of_the_tables(make: Make) -> None:
    row = make("ctx_per_slot_tok")
    row.set_stops((4096, 8192, 12_000))
    row.fader.setFocus()
    QTest.keyClick(row.fader, Qt.Key.Key_End)
    assert row.value() == 12_000


def test_that_layers_run_from_auto_over_the_models_layers_to_all(make: Make) -> None:
    row = make("n_gpu_layers")
    row.set_stops(range(30))
    assert row.fader.scale.stops == ("auto", *range(30), "all")


def test_that_a_dragged_fader_stays_under_the_pointer(make: Make) -> None:
    row = make("slots")
    fader = row.fader
    QTest.mousePress(fader, LEFT, pos=fader.handle_position())
    QTest.mouseMove(fader, fader.position_of(16))
    at = fader.handle_position()
    row.set_value(1)
    assert fader.handle_position() == at
    QTest.mouseRelease(fader, LEFT, pos=at)


# --- Typing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("6000", 6000), ("12,345", 12_345), ("8k", 8192)])
def test_that_an_exact_number_can_be_typed(make: Make, text: str, value: int) -> None:
    row = make("ctx_per_slot_tok")
    recorder = Recorder(row)
    type_into(row, text)
    assert recorder.changed == []
    QTest.keyClick(field(row), Qt.Key.Key_Return)
    assert recorder.changed == [("ctx_per_slot_tok", value)]
    assert field(row).text() == f"{value:,}"
    place = row.fader.place()
    assert place == pytest.approx(row.fader.scale.place_of(value), abs=0.001)


@pytest.mark.parametrize("text", ["abc", "99999999999", "100", "", "-5", "4096.5"])
def test_that_wrong_text_is_explained_and_kept(make: Make, text: str) -> None:
    row = make("ctx_per_slot_tok")
    row.set_hint("4 slots × 4,096")
    recorder = Recorder(row)
    type_into(row, text)
    if not text:
        QTest.keyClick(field(row), Qt.Key.Key_Delete)
    QTest.keyClick(field(row), Qt.Key.Key_Return)
    assert recorder.changed == []
    assert "256" in row.hint()
    assert field(row).text() == text
    assert field(row).hasFocus()
    assert field(row).is_wrong()
    QTest.keyClick(field(row), Qt.Key.Key_Escape)
    assert field(row).text() == "4,096"
    assert row.hint() == "4 slots × 4,096"
    assert row.value() == 4096


def test_that_leaving_the_field_takes_what_is_valid(make: Make) -> None:
    row = make("ctx_per_slot_tok")
    recorder = Recorder(row)
    type_into(row, "6000")
    row.fader.setFocus()
    assert recorder.changed == [("ctx_per_slot_tok", 6000)]


def test_that_leaving_the_field_drops_what_is_wrong(make: Make) -> None:
    row = make("ctx_per_slot_tok")
    recorder = Recorder(row)
    type_into(row, "nonsense")
    QTest.keyClick(field(row), Qt.Key.Key_Return)
    row.fader.setFocus()
    assert recorder.changed == []
    assert field(row).text() == "4,096"
    assert not field(row).is_wrong()


def test_that_a_word_can_be_typed(make: Make) -> None:
    row = make("threads")
    row.set_value(4)
    recorder = Recorder(row)
    type_into(row, "AUTO")
    QTest.keyClick(field(row), Qt.Key.Key_Return)
    assert recorder.changed == [("threads", "auto")]


def test_that_a_typed_value_survives_a_refresh_from_outside(make: Make) -> None:
    row = make("ctx_per_slot_tok")
    type_into(row, "60")
    row.set_value(4096)
    row.set_effective("4,096")
    assert field(row).text() == "60"


def test_that_an_exact_decimal_is_shown_as_it_is(make: Make) -> None:
    row = make("temperature")
    row.set_value(0.805)
    assert field(row).text() == "0.805"
    row.set_value(0.8)
    assert field(row).text() == "0.80"


# --- Words, switches, lists ----------------------------------------------------------------


def test_that_nine_cache_types_are_a_fader_with_a_menu(make: Make) -> None:
    row = make("cache_type_k")
    control = row.control
    assert isinstance(control, ChoiceFaderControl)
    recorder = Recorder(row)
    actions = control.button.menu().actions()
    assert len(actions) == 9
    next(action for action in actions if action.text() == "q4_0").trigger()
    assert recorder.changed == [("cache_type_k", "q4_0")]
    assert row.fader.place() == 8


def test_that_three_words_stand_side_by_side(make: Make) -> None:
    row = make("flash_attn")
    recorder = Recorder(row)
    button = next(b for b in row.findChildren(QPushButton) if b.text() == "off")
    QTest.mouseClick(button, LEFT)
    assert recorder.changed == [("flash_attn", "off")]
    QTest.mouseClick(button, LEFT)
    assert len(recorder.changed) == 1


def test_that_any_kinds_of_drafts_can_be_on_in_the_order_of_the_table(make: Make) -> None:
    row = make("spec_types")
    control = row.control
    assert isinstance(control, ListControl)
    recorder = Recorder(row)
    actions = {action.text(): action for action in control.menu.actions()}
    for word in ("draft-simple", "ngram-mod", "draft-simple", "off", "off"):
        actions[word].trigger()
    assert [value for _, value in recorder.changed] == [
        ("draft-simple",),
        ("ngram-mod", "draft-simple"),
        ("ngram-mod",),
        (),
    ]
    assert actions["off"].isChecked()
    assert control.button.text() == "off"
    for word in BY_KEY["spec_types"].domain.choices:  # type: ignore[union-attr]
        assert actions[word].toolTip().endswith(".")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_that_the_menu_of_a_list_stays_open_while_words_are_checked(
    make: Make, qtbot: QtBot
) -> None:
    row = make("spec_types")
    control = row.control
    assert isinstance(control, ListControl)
    recorder = Recorder(row)
    menu = control.menu
    menu.popup(row.mapToGlobal(row.rect().center()))
    qtbot.waitUntil(menu.isVisible, timeout=60_000)
    first, second = menu.actions()[2:4]
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(first).center())
    menu.setActiveAction(second)
    QTest.keyClick(menu, Qt.Key.Key_Space)
    assert menu.isVisible()
    assert recorder.changed[-1] == ("spec_types", (first.text(), second.text()))
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()


def test_that_names_that_do_not_fit_are_told_in_full(make: Make) -> None:
    row = make("spec_types")
    assert isinstance(row.control, ListControl)
    choices = row.control._choices
    row.resize(200, row.height())
    row.set_value(choices)
    QApplication.processEvents()
    assert row.control.button.text().endswith("…")
    assert row.control.button.accessibleDescription().startswith(", ".join(choices))


def test_that_a_flag_is_a_switch(make: Make) -> None:
    row = make("kv_unified")
    assert isinstance(row.control, FlagControl)
    recorder = Recorder(row)
    row.control.main.setFocus()
    QTest.keyClick(row.control.main, Qt.Key.Key_Space)
    assert recorder.changed == [("kv_unified", True)]
    off = row.control.main.grab().toImage()
    row.set_value(False)
    assert row.control.main.grab().toImage() != off


# --- Reset -----------------------------------------------------------------------------------


def test_that_a_double_click_on_the_name_resets(make: Make) -> None:
    row = make("slots")
    row.set_value(16)
    recorder = Recorder(row)
    name = row.childAt(QPoint(4, 8))
    assert name is not None
    QTest.mouseDClick(name, LEFT)
    assert recorder.changed == [("slots", 4)]
    QTest.mouseDClick(name, LEFT)
    assert len(recorder.changed) == 1


def test_that_control_backspace_resets(make: Make) -> None:
    row = make("slots")
    row.set_value(16)
    recorder = Recorder(row)
    row.fader.setFocus()
    QTest.keyClick(row.fader, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert recorder.changed == [("slots", 4)]


# --- Words around it ---------------------------------------------------------------------------


def test_that_what_the_engine_made_of_it_stands_beside_the_value(make: Make) -> None:
    row = make("flash_attn")
    row.set_effective("on")
    assert row.control.shown_text() == "auto → on"
    row.set_effective(None)
    assert row.control.shown_text() == "auto"


def test_that_the_field_offers_the_value_and_not_what_was_made_of_it(make: Make) -> None:
    row = make("threads")
    row.set_effective("2")
    row.fader.setFocus()
    assert field(row).text() == "auto → 2"
    field(row).setFocus()
    assert field(row).text() == "auto"


def test_that_a_problem_takes_the_place_of_the_hint(make: Make) -> None:
    row = make("slots")
    row.set_hint("room for 11 conversations")
    row.set_problem("A batch of 2 cannot hold a token for each slot.")
    assert "batch of 2" in row.hint()
    row.set_problem(None)
    assert row.hint() == "room for 11 conversations"


def test_that_a_row_without_a_hint_names_the_default(make: Make) -> None:
    row = make("slots")
    assert row.hint() == "default"
    row.set_value(8)
    assert row.hint() == "default 4"


def test_that_a_unit_stands_behind_numbers_only(make: Make) -> None:
    row = make("ctx_total_tok")
    assert "tok" not in visible_words(row)
    row.set_value(8192)
    assert "tok" in visible_words(row)


def visible_words(row: SettingRow) -> list[str]:
    return [w.text() for w in row.findChildren(QWidget) if hasattr(w, "text") and w.isVisible()]


def test_that_nothing_moves_when_numbers_and_badges_grow(make: Make) -> None:
    row = make("ctx_per_slot_tok")
    row.set_badge("live", "live")
    row.set_hint("short")

    def places() -> list[object]:
        QApplication.processEvents()
        right = field(row).geometry().right()
        return [right, row.fader.geometry(), row.sizeHint().height()]

    before = places()
    row.set_value(1_048_576)
    row.set_badge("new context 12.5 s", "context")
    row.set_hint("a much longer hint that does not fit into one line of the column at all")
    assert places() == before
    row.set_badge("", None)
    assert places() == before
    assert row.badge_text() == ""


def test_that_a_row_of_words_outlives_a_widget_that_stood_before_it(
    shown: Callable[[QWidget], None],
) -> None:
    page = QWidget()
    layout = QVBoxLayout(page)
    before = QPushButton("before", page)
    row = SettingRow(BY_KEY["cache_type_v"], page)
    for widget in (before, row):
        layout.addWidget(widget)
    shown(page)
    # PySide takes each widget that Qt's chain names for a child of the one that was asked.
    after: QWidget | None = before.nextInFocusChain()
    while after is not None and after is not before:
        after = after.nextInFocusChain()
    del after
    before.deleteLater()
    del before
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    recorder = Recorder(row)
    row.set_value("q8_0")
    QTest.keyClick(row.fader, Qt.Key.Key_Right)
    control = row.control
    assert isinstance(control, ChoiceFaderControl)
    marked = [action.text() for action in control.button.menu().actions() if action.isChecked()]
    assert marked == [row.value()] == [control.button.text()]
    assert recorder.changing == [("cache_type_v", row.value())]


def test_that_a_row_that_cannot_show_a_value_still_tells_it(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make("cache_type_v")
    recorder = Recorder(row)

    def fail() -> None:
        raise LookupError

    monkeypatch.setattr(row.control, "refresh", fail)
    control = row.control
    assert isinstance(control, ChoiceFaderControl)
    with pytest.raises(LookupError):
        control._on_moved(0, control.committed.emit)
    first = control.fader.scale.stops[0]
    assert recorder.changed == [("cache_type_v", first)]
