"""The tune column: all rows, folded sections, problems with repairs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import ChoiceDomain, IntDomain
from engine_bridge.settings.row import Group
from engine_bridge.settings.rules import Problem, Severity, problems_of
from engine_bridge.settings.table import SETTINGS
from resources.tokens import DARK, LIGHT, STEP_PX
from tests.widgets.finding import child
from widgets.fader_control import NumberControl
from widgets.steady_label import SteadyLabel
from widgets.theme import apply_theme
from widgets.tune_panel import TunePanel

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
# A section left out here would hide its rows from every test below.
FOLDED = tuple(group for group in Group if group not in (Group.MODEL, Group.MAIN))
BROKEN = EngineConfig(cache_type_v="q8_0", flash_attn="off", batch_tok=2)


@pytest.fixture
def panel(shown: Callable[[QWidget], None]) -> TunePanel:
    made = TunePanel(SETTINGS)
    made.set_palette(DARK)
    made.resize(made.minimumSizeHint().width(), 800)
    shown(made)
    return made


def repair_buttons(panel: TunePanel) -> list[QPushButton]:
    buttons = panel.findChildren(QPushButton)
    return [b for b in buttons if b.accessibleName().startswith("Repair: ") and b.isVisible()]


def test_that_there_is_a_row_for_every_setting_but_the_model(panel: TunePanel) -> None:
    keys = [row.key for row in panel.rows()]
    assert keys == [s.key for s in SETTINGS if s.group is not Group.MODEL]
    with pytest.raises(KeyError):
        panel.row("model_path")


def test_that_main_rows_stand_open_and_the_others_unfold(panel: TunePanel) -> None:
    assert panel.row("slots").isVisible()
    assert not panel.row("temperature").isVisible()
    panel.section(Group.SAMPLING).set_open(True)
    assert panel.row("temperature").isVisible()
    assert not panel.row("threads").isVisible()


def test_that_a_section_unfolds_by_keyboard(panel: TunePanel) -> None:
    section = panel.section(Group.PLACEMENT)
    button = child(section, QPushButton)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert section.is_open()
    assert "open" in button.accessibleName()


def test_that_moves_of_any_row_go_out(panel: TunePanel) -> None:
    changed: list[tuple[str, object]] = []
    changing: list[tuple[str, object]] = []
    panel.changed.connect(lambda key, value: changed.append((key, value)))
    panel.changing.connect(lambda key, value: changing.append((key, value)))
    fader = panel.row("ctx_per_slot_tok").fader
    QTest.mousePress(fader, LEFT, pos=fader.handle_position())
    QTest.mouseMove(fader, fader.position_of(8192))
    QTest.mouseRelease(fader, LEFT, pos=fader.position_of(8192))
    panel.row("seed").set_value(7)
    panel.row("seed").reset()
    assert changing == [("ctx_per_slot_tok", 8192)]
    assert changed == [("ctx_per_slot_tok", 8192), ("seed", -1)]


def test_that_all_values_can_be_set_at_once(panel: TunePanel) -> None:
    wanted = EngineConfig(slots=7, cache_type_k="q4_0", n_gpu_layers="all", temperature=0.33)
    panel.set_values(wanted.values())
    shown = {row.key: row.value() for row in panel.rows()}
    assert shown == {k: v for k, v in wanted.values().items() if k in shown}


def test_that_problems_are_listed_with_what_their_repair_does(panel: TunePanel) -> None:
    problems = problems_of(BROKEN)
    panel.set_problems(problems)
    asked: list[Problem] = []
    panel.repair_requested.connect(asked.append)
    buttons = repair_buttons(panel)
    assert len(buttons) == sum(bool(problem.fix) for problem in problems)
    assert buttons[0].text().lower() == "set flash attention to auto"
    assert "q8_0" in panel.row("cache_type_v").hint()
    QTest.mouseClick(buttons[0], LEFT)
    assert asked == [problems[0]]


def test_that_solved_problems_leave_list_and_rows(panel: TunePanel) -> None:
    panel.row("cache_type_v").set_hint("half of f16")
    panel.set_problems(problems_of(BROKEN))
    panel.set_problems(())
    assert repair_buttons(panel) == []
    assert panel.row("cache_type_v").hint() == "half of f16"


def test_that_a_problem_without_a_repair_has_no_button(panel: TunePanel) -> None:
    panel.set_problems((Problem(("slots",), "Too much."),))
    assert repair_buttons(panel) == []
    assert panel.row("slots").hint() == "Too much."


def test_that_problems_of_settings_without_a_row_are_listed_too(panel: TunePanel) -> None:
    panel.set_problems((Problem(("model_path",), "There is no such file."),))
    panel.set_problems(())


def test_that_faders_stay_where_they_are_when_problems_appear(panel: TunePanel) -> None:
    row = panel.row("ctx_per_slot_tok")
    before = row.mapTo(panel, QPoint()), row.width()
    panel.set_problems(problems_of(BROKEN))
    QApplication.processEvents()
    assert (row.mapTo(panel, QPoint()), row.width()) == before


def test_that_only_the_keys_named_can_be_moved(panel: TunePanel) -> None:
    panel.set_enabled_keys({"slots"})
    assert [row.key for row in panel.rows() if row.isEnabled()] == ["slots"]


def test_that_any_row_can_be_brought_into_sight(panel: TunePanel) -> None:
    row = panel.row("max_new_tok")
    panel.ensureWidgetVisible(row.fader)
    assert row.isVisible()
    assert not row.fader.visibleRegion().isEmpty()


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_that_no_name_or_number_is_cut_off(
    panel: TunePanel, themed: QApplication, scale: float
) -> None:
    apply_theme(themed, LIGHT, scale)
    for group in FOLDED:
        panel.section(group).set_open(True)
    for row in panel.rows():
        row.set_badge("new context 12.5 s", "context")
    QApplication.processEvents()
    panel.resize(panel.minimumSizeHint().width(), 800)
    QApplication.processEvents()
    for row in panel.rows():
        name = row._name
        assert name.text() == row.setting.label, (row.setting.label, name.width())
        value = row.control.value_widget
        assert value.width() >= value.minimumSizeHint().width(), row.key


def test_that_every_control_has_a_name_and_a_place_in_the_tab_order(panel: TunePanel) -> None:
    for group in FOLDED:
        panel.section(group).set_open(True)
    reachable = [
        widget
        for widget in panel.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible()
    ]
    assert len(reachable) > 40
    nameless = [w for w in reachable if not w.accessibleName() and not getattr(w, "text", str)()]
    assert not nameless
    start = widget = reachable[0]
    met = set()
    while True:
        met.add(widget)
        following = widget.nextInFocusChain()
        if following is start or following is None:
            break
        widget = following
    assert set(reachable) <= met


def places(panel: TunePanel) -> list[object]:
    QApplication.processEvents()
    found: list[object] = [panel.minimumSizeHint().width(), panel.sizeHint().width()]
    for row in panel.rows():
        value = row.control.value_widget
        right = value.mapTo(panel, QPoint(value.width(), 0)).x()
        found.append((row.key, row.mapTo(panel, QPoint()), row.size(), right))
    return found


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_that_no_text_of_any_row_moves_anything(
    panel: TunePanel, themed: QApplication, scale: float
) -> None:
    apply_theme(themed, LIGHT, scale)
    for group in FOLDED:
        panel.section(group).set_open(True)
    QApplication.processEvents()
    panel.resize(panel.minimumSizeHint().width(), 800)
    before = places(panel)
    for row in panel.rows():
        control = row.control
        row.set_badge("new context 100.25 s", "context")
        row.set_hint("a sentence that is far longer than one line of the column has room for " * 2)
        if isinstance(control, NumberControl) and isinstance(row.setting.domain, IntDomain):
            row.set_value(row.setting.domain.maximum)
            row.set_effective("10,485,760")
            assert places(panel) == before, row.key
            control.field.setFocus()
            QTest.keyClicks(control.field, "12,345,678")
            QTest.keyClick(control.field, Qt.Key.Key_Return)
        elif isinstance(row.setting.domain, ChoiceDomain):
            row.set_value(max(row.setting.domain.choices, key=len))
        assert places(panel) == before, row.key


def test_that_a_typed_number_of_eight_digits_can_be_read(panel: TunePanel) -> None:
    control = panel.row("ctx_per_slot_tok").control
    assert isinstance(control, NumberControl)
    panel.row("ctx_per_slot_tok").set_value(10_485_760)
    assert control.field.text() == "10,485,760"
    field = control.field
    assert field.fontMetrics().horizontalAdvance("10,485,760") < field.width()


def test_that_a_value_too_wide_shows_what_the_engine_made_of_it(panel: TunePanel) -> None:
    row = panel.row("ctx_per_slot_tok")
    control = row.control
    assert isinstance(control, NumberControl)
    row.set_value(1_048_576)
    row.set_effective("262,144")
    QApplication.processEvents()
    assert control.field.text() == "→ 262,144"
    assert control.shown_text() == "1,048,576 → 262,144"
    panel.resize(panel.width() + 200, panel.height())
    QApplication.processEvents()
    assert control.field.text() == "1,048,576 → 262,144"


def test_that_the_first_sentence_of_each_help_fits_below_its_fader(panel: TunePanel) -> None:
    for group in FOLDED:
        panel.section(group).set_open(True)
    for row in panel.rows():
        first = row.setting.help.split(". ")[0].rstrip(".") + "."
        row.set_hint(first)
        QApplication.processEvents()
        assert row._hint.text() == first, f"{row.key}: {row._hint.text()}"


def test_that_a_hint_too_long_for_its_line_is_whole_in_its_tooltip(panel: TunePanel) -> None:
    words = "overcommitted: all slots together could ask for far more than there is, 1,048,576"
    panel.row("slots").set_hint(words)
    QApplication.processEvents()
    assert panel.row("slots")._hint.text().endswith("…")
    assert panel.row("slots")._hint.toolTip() == words


def test_that_a_name_explains_its_setting(panel: TunePanel) -> None:
    assert "at the same time" in panel.row("slots")._name.toolTip()


WARNING = Problem(("slots",), "Slots wait for each other.", {"slots": 2}, Severity.WARNING)
OTHER_WARNING = Problem(("seed",), "The seed is old.", {}, Severity.WARNING)


def dismiss_buttons(panel: TunePanel) -> list[QToolButton]:
    buttons = panel.findChildren(QToolButton)
    return [b for b in buttons if b.accessibleName().startswith("Dismiss") and b.isVisible()]


def test_that_a_dismissed_warning_stays_away_until_the_problems_change(panel: TunePanel) -> None:
    panel.set_problems((WARNING,))
    QTest.mouseClick(dismiss_buttons(panel)[0], LEFT)
    QApplication.processEvents()
    assert repair_buttons(panel) == []
    assert not panel._problems.isVisible()
    assert panel.row("slots").hint() == WARNING.message
    again = Problem(("slots",), "Slots wait for each other, 2 of them.", {}, Severity.WARNING)
    panel.set_problems((again,))
    assert not panel._problems.isVisible()
    panel.set_problems((WARNING, OTHER_WARNING))
    assert len(dismiss_buttons(panel)) == 2


def test_that_an_error_cannot_be_dismissed(panel: TunePanel) -> None:
    panel.set_problems(problems_of(BROKEN))
    assert panel._problems.isVisible()
    assert dismiss_buttons(panel) == []


def test_that_a_warning_takes_little_of_the_panel(panel: TunePanel) -> None:
    panel.set_problems((WARNING,))
    QApplication.processEvents()
    assert panel._problems.height() < 14 * STEP_PX


def test_that_a_row_that_fails_leaves_no_other_row_behind(
    panel: TunePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise LookupError

    keys = [row.key for row in panel.rows()]
    monkeypatch.setattr(panel.row(keys[0]), "set_value", fail)
    values = EngineConfig(slots=7, temperature=0.25).values()
    first = panel.row(keys[0]).value()
    with pytest.raises(ExceptionGroup):
        panel.set_values({keys[0]: first, **values})
    assert {key: panel.row(key).value() for key in keys[1:]} == {k: values[k] for k in keys[1:]}


def test_that_the_least_width_is_the_same_whatever_was_unfolded_or_restyled(
    panel: TunePanel, themed: QApplication
) -> None:
    widths = {panel.minimumSizeHint().width()}
    for group in FOLDED:
        panel.section(group).set_open(True)
        QApplication.processEvents()
        widths.add(panel.minimumSizeHint().width())
        panel.section(group).set_open(False)
    for scale in (1.3, 1.0):
        apply_theme(themed, DARK, scale)
        QApplication.processEvents()
    widths.add(panel.minimumSizeHint().width())
    assert len(widths) == 1


def test_that_a_unit_is_never_cut(panel: TunePanel) -> None:
    for group in FOLDED:
        panel.section(group).set_open(True)
    QApplication.processEvents()
    for row in panel.rows():
        unit = child(row, SteadyLabel)
        assert unit.width() >= unit.fontMetrics().horizontalAdvance(unit.text())


def test_that_a_row_gone_to_takes_a_number_typed(panel: TunePanel) -> None:
    for key in ("ctx_per_slot_tok", "temperature", "seed"):
        panel.go_to(key)
        control = panel.row(key).control
        field = control.value_widget
        assert isinstance(field, QLineEdit)
        assert field.hasFocus()
        assert field.selectedText() == field.text() != ""
    panel.go_to("flash_attn")
    assert panel.row("flash_attn").control.main.hasFocus()


def test_that_a_section_unfolded_at_the_foot_is_scrolled_into_view(panel: TunePanel) -> None:
    panel.resize(panel.width(), 500)
    QApplication.processEvents()
    for group in (Group.MORE_SAMPLING, Group.NGRAM):
        section = panel.section(group)
        panel._scroll.ensureWidgetVisible(section)  # folded as it is
        QTest.mouseClick(child(section, QPushButton), LEFT)
        view = panel._scroll.viewport()
        first = next(row for row in panel.rows() if row.setting.group is group)
        assert section.is_open()
        assert section.mapTo(view, QPoint(0, 0)).y() >= 0
        assert first.mapTo(view, QPoint(0, first.height())).y() <= view.height()


def test_that_a_section_says_a_long_note_in_full(panel: TunePanel) -> None:
    section = panel.section(Group.NGRAM)
    section.set_open(True)
    before = section.sizeHint().height()
    section.set_note("word " * 40)
    QApplication.processEvents()
    label = next(each for each in section.findChildren(QLabel) if each.text() == section.note())
    assert label.isVisible()
    assert label.height() >= label.heightForWidth(label.width())
    section.set_note("")
    QApplication.processEvents()
    assert not label.isVisible()
    assert section.sizeHint().height() == before
