"""The form of experiments by itself: what stands in it, what is said beside it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPushButton, QWidget

from app.experiment_fields import FormError
from app.experiment_form import read_form
from app.experiment_offers import offers_for
from engine_bridge.settings.table import SETTINGS
from resources.tokens import LIGHT
from tests.unit.experiments.form_cases import situation
from widgets.experiments.experiment_form import ExperimentForm
from widgets.experiments.form_fields import FIELDS, Offer, Part, Shape
from widgets.experiments.form_values import AxisValues, FormValues
from widgets.long_words import breakable

pytestmark = pytest.mark.gui

KINDS = ("bench", "sweep", "compare", "users", "tune", "quality", "probe")


@pytest.fixture
def form(shown: Callable[[QWidget], None]) -> ExperimentForm:
    form = ExperimentForm(SETTINGS, KINDS)
    form.set_offers(offers_for(situation(slots=4), (Offer("/d.gguf", "d.gguf"),)))
    form.resize(480, 760)
    shown(form)
    return form


def typed(form: ExperimentForm, name: str, text: str) -> None:
    control = form.fields[name].control
    assert isinstance(control, QLineEdit)
    control.setFocus()
    control.selectAll()
    QTest.keyClicks(control, text)


def chosen(form: ExperimentForm, name: str, key: str) -> None:
    box = form.fields[name].control
    assert isinstance(box, QComboBox)
    form.fields[name].set_text(key)
    assert form.fields[name].text() == key


def press(form: ExperimentForm, word: str) -> None:
    buttons = [b for b in form.findChildren(QPushButton) if b.text() == word and b.isVisible()]
    QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("kind", KINDS)
def test_that_each_kind_shows_its_own_fields(form: ExperimentForm, kind: str) -> None:
    form.set_kind(kind)
    shown = {name for name, field in form.fields.items() if not field.isHidden()}
    expected = {s.name for s in FIELDS if kind in s.kinds and s.when in (None, ("how", "numbers"))}
    assert shown == expected
    assert form.axes.isHidden() == (kind != "sweep")
    assert form.sources.isHidden() == (kind == "quality")
    assert form.kind_about.text().endswith("?")


def test_that_what_was_typed_stays_from_kind_to_kind(form: ExperimentForm) -> None:
    form.set_kind("bench")
    typed(form, "users", "3")
    typed(form, "runs", "9")
    press(form, "Users")
    press(form, "Bench")
    values = form.values()
    assert (values.kind, values.text("users"), values.text("runs")) == ("bench", "3", "9")


def test_that_an_empty_field_shows_what_it_stands_for(form: ExperimentForm) -> None:
    users = form.fields["users"].control
    assert isinstance(users, QLineEdit)
    assert users.placeholderText() == "1"
    press(form, "Batch")
    assert (users.placeholderText(), form.values().source) == ("4", "batch")
    assert form.values().text("users") == ""
    assert "four at a time" in form.source_about.text()


def test_that_the_search_replaces_the_numbers(form: ExperimentForm) -> None:
    form.set_kind("users")
    chosen(form, "how", "find")
    assert form.fields["numbers"].isHidden()
    assert not form.fields["share"].isHidden()


def test_that_start_hands_over_all_that_stands_in_it(form: ExperimentForm) -> None:
    asked: list[FormValues] = []
    form.start_wanted.connect(asked.append)
    form.set_kind("sweep")
    form.axes.set_values([AxisValues("slots", "1,2")])
    QTest.mouseClick(form.start, Qt.MouseButton.LeftButton)
    typed(form, "rounds", "6")
    QTest.keyClick(form.fields["rounds"].control, Qt.Key.Key_Return)
    assert [values.axes for values in asked] == [(AxisValues("slots", "1,2"),)] * 2
    assert [values.text("rounds") for values in asked] == ["", "6"]
    assert asked[0].drafts == ("/d.gguf",)


def test_that_without_a_model_start_is_off_and_says_why(form: ExperimentForm) -> None:
    asked: list[FormValues] = []
    form.start_wanted.connect(asked.append)
    form.set_offers(offers_for(situation(running=None)))
    assert not form.start.isEnabled()
    assert form.estimate.text().startswith("No model is loaded.")
    QTest.keyClick(form.fields["users"].control, Qt.Key.Key_Return)
    assert asked == []
    form.set_kind("probe")  # a server has a model of its own
    assert form.start.isEnabled()
    form.set_kind("bench")
    assert not form.start.isEnabled()
    form.set_offers(offers_for(situation()))
    assert form.start.isEnabled()


def test_that_a_field_is_told_what_is_wrong_once_it_was_filled_in(form: ExperimentForm) -> None:
    problems = {"users": "Users takes numbers.", "runs": "Runs takes numbers."}
    typed(form, "users", "x")
    form.set_checked(problems, {}, "")
    assert form.fields["users"].problem() == "Users takes numbers."
    assert form.fields["runs"].problem() == ""
    form.tell_all()
    assert form.fields["runs"].problem() == "Runs takes numbers."
    assert QApplication.focusWidget() is form.fields["users"].control
    form.set_checked({}, {}, "About 2 min for 6 runs.")
    assert form.fields["users"].problem() == ""
    assert form.estimate.text() == "About 2 min for 6 runs."


def test_that_a_row_of_a_sweep_is_not_wrong_while_it_is_filled_in(form: ExperimentForm) -> None:
    form.set_kind("sweep")
    form.axes.set_values([AxisValues("slots", "")])
    form.set_checked({"axes.0": "Write the values to try, separated by commas."}, {}, "")
    assert form.axes.rows[0].problem() == ""
    form.tell_all()
    assert form.axes.rows[0].problem().startswith("Write the values")
    form.axes.set_values([AxisValues("slots", "1,x")])
    form.set_checked({"axes.0": "'x' is not a whole number."}, {}, "")
    assert form.axes.rows[0].problem() == "'x' is not a whole number."


def test_that_the_stops_of_a_setting_go_into_its_values_and_out_again(
    form: ExperimentForm,
) -> None:
    form.set_kind("sweep")
    row = form.axes.rows[0]
    row.set_values(AxisValues("cache_type_k+cache_type_v", ""))
    menu = row.stops.menu()
    actions = {action.text(): action for action in menu.actions()}
    for word in ("f16", "q8_0", "q4_0", "q8_0"):
        actions[word].trigger()
    assert row.values() == AxisValues("cache_type_k+cache_type_v", "f16,q4_0")
    row.set_values(AxisValues("spec_types", ""))
    for action in menu.actions()[:2]:
        action.trigger()
    assert ";" in row.values().values


def test_that_rows_come_and_go(form: ExperimentForm) -> None:
    form.set_kind("sweep")
    form.axes.set_now({"slots": "4"})
    assert not form.axes.rows[0].remove.isEnabled()
    press(form, "Add a setting")
    assert len(form.axes.rows) == 2
    form.axes.rows[1].set_values(AxisValues("slots", "1"))
    assert form.axes.rows[1].below.text() == "Now 4."
    QTest.mouseClick(form.axes.rows[0].remove, Qt.MouseButton.LeftButton)
    assert form.axes.values() == (AxisValues("slots", "1"),)


def test_that_draft_models_can_be_left_out(form: ExperimentForm) -> None:
    form.set_kind("tune")
    offers = (Offer("/d.gguf", "d.gguf"), Offer("/e.gguf", "e.gguf"))
    form.drafts.set_offers(offers)
    assert form.values().drafts == ("/d.gguf", "/e.gguf")
    form.drafts.boxes()[0].click()
    form.drafts.set_offers(offers[:1])
    form.drafts.set_offers(offers)
    assert form.values().drafts == ("/e.gguf",)


def test_that_the_coarsest_type_is_the_usual_one_until_it_is_chosen(form: ExperimentForm) -> None:
    form.set_kind("tune")
    assert form.fields["kv_floor"].text() == "q8_0"
    chosen(form, "kv_floor", "f16")
    form.set_offers(offers_for(situation()))
    assert form.fields["kv_floor"].text() == "f16"


def test_that_everything_can_be_reached_and_named_and_painted(form: ExperimentForm) -> None:
    for kind in KINDS:
        form.set_kind(kind)
        nameless = [
            f"{type(widget).__name__} {widget.objectName()}"
            for widget in form.findChildren(QWidget)
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and widget.isVisible()
            and not widget.accessibleName()
            and not getattr(widget, "text", str)()
        ]
        assert nameless == []
    form.set_palette(LIGHT)
    assert not form.grab().isNull()
    assert {spec.part for spec in FIELDS} == set(Part)


@pytest.mark.parametrize("kind", KINDS)
def test_that_nothing_is_wider_than_a_narrow_page(form: ExperimentForm, kind: str) -> None:
    form.set_kind(kind)
    form.resize(480, 760)
    QApplication.processEvents()
    assert form.area.horizontalScrollBar().maximum() == 0


LONG = "9" * 30_000


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("bench", spec.name) for spec in FIELDS
        if "bench" in spec.kinds and spec.shape is Shape.TEXT
    ]
    + [("compare", "b"), ("users", "numbers"), ("quality", "types"), ("quality", "text"),
       ("probe", "url"), ("probe", "key_env"), ("tune", "measurements")],
)  # fmt: skip
def test_that_a_pasted_text_of_no_end_neither_fills_nor_widens_the_form(
    form: ExperimentForm, kind: str, name: str
) -> None:
    form.set_kind(kind)
    form.set_text("how", "numbers")
    form.set_text("url", "http://localhost:8080")
    form.set_text(name, LONG)
    values = form.values()
    with pytest.raises(FormError) as found:
        read_form(values, situation(slots=4))
    form.set_checked(found.value.problems, {}, "")
    form.tell_all()
    QApplication.processEvents()
    told = form.fields[name]
    assert 10 < len(told.problem()) < 300
    assert told.minimumSizeHint().width() < 400
    assert form.area.horizontalScrollBar().maximum() == 0


def test_that_words_longer_than_a_line_are_broken_and_others_are_not() -> None:
    assert breakable("a sentence of short words") == "a sentence of short words"
    assert breakable(f"see {'x' * 30}") == f"see {'x' * 24}\u200b{'x' * 6}"
