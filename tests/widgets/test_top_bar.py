"""The bar on top: what runs, what Apply would cost, the ways out."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.engine_state import EngineState
from resources.tokens import DARK, LIGHT
from tests.widgets.finding import child
from widgets.draft_button import DraftButton, DraftChoice
from widgets.model_button import ModelButton
from widgets.state_light import StateLight
from widgets.theme import apply_theme
from widgets.top_bar import TopBar

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
NARROWEST_WINDOW_PX = 1024


@pytest.fixture
def bar(shown: Callable[[QWidget], None]) -> TopBar:
    made = TopBar()
    made.set_palette(DARK)
    made.resize(1200, made.sizeHint().height())
    shown(made)
    return made


def button(bar: TopBar, text: str) -> QPushButton:
    return next(b for b in bar.findChildren(QPushButton) if b.text() == text)


def tools(bar: TopBar) -> tuple[QToolButton, QToolButton]:
    undo, redo = (b for b in bar.findChildren(QToolButton) if b is not bar.menu_button)
    return undo, redo


def test_that_apply_names_its_cost_and_seconds(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_apply("new context", 0.31, None)
    assert bar.apply_button.text() == "Apply · new context 0.3\u202fs"
    with qtbot.waitSignal(bar.apply_requested):
        QTest.mouseClick(bar.apply_button, LEFT)


def test_that_an_unmeasured_cost_invents_no_seconds(bar: TopBar) -> None:
    bar.set_apply("reload", None, None)
    assert bar.apply_button.text() == "Apply · reload"


def test_that_apply_without_a_forecast_says_so(bar: TopBar) -> None:
    bar.set_apply("new context", 0.3, None, has_forecast=False)
    assert bar.apply_button.isEnabled()
    assert "What memory they take is not known yet" in bar.apply_button.toolTip()
    assert "not known yet" in bar.apply_button.accessibleDescription()
    bar.set_apply("new context", 0.3, None)
    assert "not known yet" not in bar.apply_button.toolTip()


def test_that_there_may_be_nothing_to_apply(bar: TopBar) -> None:
    bar.set_apply(None, None, None)
    assert bar.apply_button.text() == "Nothing to apply"
    assert not bar.apply_button.isEnabled()


def test_that_a_problem_blocks_apply_and_says_why(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_apply("new context", 0.3, "A q8_0 V cache needs flash attention.")
    assert not bar.apply_button.isEnabled()
    assert "flash attention" in bar.apply_button.toolTip()
    assert "flash attention" in bar.apply_button.accessibleDescription()
    with qtbot.assertNotEmitted(bar.apply_requested):
        QTest.mouseClick(bar.apply_button, LEFT)


def test_that_the_model_button_asks_for_a_model(bar: TopBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.model_open_requested):
        QTest.mouseClick(child(bar, ModelButton), LEFT)
    child(bar, ModelButton).setFocus()
    with qtbot.waitSignal(bar.model_open_requested):
        QTest.keyClick(child(bar, ModelButton), Qt.Key.Key_Space)


CHOICES = (
    DraftChoice("off", "Off", is_checked=True),
    DraftChoice("a&b", "a&b.gguf · 494 M", "About 0.5 GiB more memory."),
    DraftChoice("", "other.gguf", "Token 12 is “a” here and “b” in the draft.", is_enabled=False),
)


def test_that_the_draft_menu_offers_what_could_draft(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_draft_choices(CHOICES)
    menu = child(bar, DraftButton).menu()
    off, model, other = menu.actions()
    assert off.isChecked()
    assert not model.isChecked()
    assert model.text() == "a&&b.gguf · 494 M"
    assert not other.isEnabled()
    assert "Token 12" in other.toolTip()
    with qtbot.waitSignal(bar.draft_chosen) as chosen:
        model.trigger()
    assert chosen.args == ["a&b"]


def test_that_a_command_of_the_draft_menu_is_no_choice(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_draft_choices([DraftChoice("file", "Choose a file…", is_command=True)])
    (command,) = child(bar, DraftButton).menu().actions()
    with qtbot.waitSignal(bar.draft_chosen) as chosen:
        command.trigger()
    assert chosen.args == ["file"]
    assert not command.isCheckable()


def test_that_too_little_room_for_a_change_of_drafts_shows_what_comes(bar: TopBar) -> None:
    bar.set_model("A model with quite a long name for a bar", "Q4_K_M")
    bar.set_draft("Drafts: ngram-simple → no model chosen")
    bar.resize(NARROWEST_WINDOW_PX - 16, bar.height())
    QApplication.processEvents()
    assert child(bar, DraftButton).text() == "→ no model chosen"


def test_that_too_little_room_for_many_kinds_counts_them(bar: TopBar) -> None:
    bar.resize(NARROWEST_WINDOW_PX - 16, bar.height())
    bar.set_draft("Drafts: ngram-simple + ngram-map-k4v + ngram-mod + ngram-cache")
    QApplication.processEvents()
    assert child(bar, DraftButton).text() in ("ngram-simple + 3 more", "4 kinds")
    assert "ngram-cache" in child(bar, DraftButton).toolTip()


def test_that_the_opening_draft_menu_asks_what_to_offer(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_model("Qwen", "Q4_K_M")
    menu = child(bar, DraftButton).menu()
    with qtbot.waitSignal(bar.draft_choices_wanted):
        menu.aboutToShow.emit()


def test_that_an_engine_without_a_model_does_not_claim_to_be_ready(bar: TopBar) -> None:
    light = child(bar, StateLight)
    bar.set_state("ready")
    assert light.accessibleName() == "Engine: no model"
    without = light.grab().toImage()
    bar.set_model("Qwen", "Q4_K_M")
    assert light.accessibleName() == "Engine: ready"
    assert light.grab().toImage() != without
    bar.set_model(None, None)
    assert light.accessibleName() == "Engine: no model"


def test_that_a_long_name_is_shortened_and_kept_in_reach(bar: TopBar) -> None:
    model = child(bar, ModelButton)
    width = model.width()
    name = "A model whose makers could not stop naming it and went on and on"
    bar.set_model(name, "Q4_K_M")
    QApplication.processEvents()
    assert model.width() == width
    assert "…" in model.text()
    assert model.text().endswith("Q4_K_M")
    assert name in model.toolTip()
    assert name in model.accessibleName()


def test_that_no_model_is_said(bar: TopBar) -> None:
    bar.set_model(None, None)
    assert child(bar, ModelButton).text() == "Choose a model"


@pytest.mark.parametrize("state", list(EngineState))
def test_that_each_state_has_a_word_and_a_look_of_its_own(bar: TopBar, state: EngineState) -> None:
    light = child(bar, StateLight)
    bar.set_model("Qwen", "Q4_K_M")
    bar.set_state(str(state), "since 12:04")
    assert str(state) in light.accessibleName()
    mine = light.grab().toImage()
    for other in EngineState:
        if other is not state:
            bar.set_state(str(other))
            assert light.grab().toImage() != mine


def test_that_an_unknown_state_is_refused(bar: TopBar) -> None:
    with pytest.raises(ValueError, match="sleeping"):
        bar.set_state("sleeping")


def test_that_a_load_shows_progress_and_can_be_cancelled(bar: TopBar, qtbot: QtBot) -> None:
    cancel = button(bar, "Cancel")
    assert not cancel.isVisible()
    bar.set_progress(0.43, "reading weights")
    assert cancel.isVisible()
    words = [w.text() for w in bar.findChildren(QWidget) if hasattr(w, "text") and w.isVisible()]
    assert "43 %" in words
    with qtbot.waitSignal(bar.cancel_requested):
        QTest.mouseClick(cancel, LEFT)
    bar.set_progress(None, "")
    assert not cancel.isVisible()


def test_that_a_dead_engine_can_be_restarted(bar: TopBar, qtbot: QtBot) -> None:
    restart = button(bar, "Restart the engine")
    bar.set_state("ready")
    assert not restart.isVisible()
    bar.set_state("dead")
    assert restart.isVisible()
    with qtbot.waitSignal(bar.restart_requested):
        QTest.mouseClick(restart, LEFT)


@pytest.mark.parametrize("draft", ["Drafts: off", "→ qwen2.5-code…q4_k_m · n ≤ 3"])
@pytest.mark.parametrize("state", [EngineState.LOADING, EngineState.DEAD])
@pytest.mark.parametrize("width", [1200, NARROWEST_WINDOW_PX - 16, 900 - 16])
def test_that_the_way_out_is_whole_in_a_narrow_window(
    bar: TopBar, width: int, state: EngineState, draft: str, qtbot: QtBot
) -> None:
    bar.set_model("Qwen2.5 Coder 1.5B Instruct GGUF", "Q4_K_M")
    bar.set_draft(draft)
    bar.set_apply("new context", 12.3, None)
    bar.set_state(state)
    if state is EngineState.LOADING:
        bar.set_progress(1.0, "Warming up")
    bar.resize(width, bar.height())
    way_out = button(bar, "Cancel" if state is EngineState.LOADING else "Restart the engine")
    qtbot.waitUntil(lambda: way_out.width() >= way_out.minimumSizeHint().width())
    holder = way_out.parentWidget()
    assert holder is not None
    for part in [way_out, *holder.findChildren(QLabel)]:
        if part.isVisible():
            assert holder.rect().contains(part.geometry())
            assert part.width() >= part.minimumSizeHint().width()


def test_that_undo_and_redo_are_offered_when_there_is_something(bar: TopBar, qtbot: QtBot) -> None:
    undo, redo = tools(bar)
    assert not undo.isEnabled()
    assert not redo.isEnabled()
    bar.set_history(True, True)
    with qtbot.waitSignal(bar.undo_requested):
        QTest.mouseClick(undo, LEFT)
    with qtbot.waitSignal(bar.redo_requested):
        QTest.mouseClick(redo, LEFT)


def test_that_nothing_moves_between_the_states(bar: TopBar) -> None:
    def places() -> list[object]:
        QApplication.processEvents()
        fixed = [child(bar, StateLight), bar.apply_button, *bar.findChildren(QToolButton)]
        return [bar.height(), *(widget.geometry() for widget in fixed)]

    bar.set_device("CPU · 2 threads")
    before = places()
    for state in EngineState:
        bar.set_state(str(state))
        bar.set_progress(0.01 if state is EngineState.LOADING else None, "reading")
        assert places() == before
    bar.set_apply("new context", 12.5, None)
    assert places() == before
    bar.set_device("NVIDIA GeForce RTX 4090 · CUDA · 29/29 layers · 16 threads")
    assert places() == before


def test_that_it_fits_into_the_narrowest_window(bar: TopBar) -> None:
    bar.set_model("Qwen2.5-Coder 1.5B Instruct", "Q4_K_M")
    bar.set_draft("Drafts: ngram-simple")
    bar.set_progress(0.5, "reading weights")
    assert bar.minimumSizeHint().width() <= NARROWEST_WINDOW_PX - 16


def test_that_every_button_has_a_name(bar: TopBar) -> None:
    bar.set_palette(LIGHT)
    for found in [*bar.findChildren(QPushButton), *bar.findChildren(QToolButton)]:
        assert found.accessibleName() or found.text()


def test_that_what_drafts_is_never_shortened(bar: TopBar) -> None:
    bar.set_model("A model with quite a long name for a bar", "Q4_K_M")
    bar.set_draft("Drafts: ngram-simple")
    bar.set_device("NVIDIA GeForce RTX 4090 · CUDA · 29 of 29 layers · two boards")
    bar.resize(NARROWEST_WINDOW_PX - 16, bar.height())
    QApplication.processEvents()
    assert not child(bar, DraftButton).is_elided()


@pytest.mark.parametrize("state", ["ready", "loading", "dead"])
def test_that_it_fits_with_letters_twice_as_large(
    qapp: QApplication, bar: TopBar, state: str
) -> None:
    apply_theme(qapp, DARK, 2.0)
    bar.set_model("Qwen2.5-Coder 1.5B Instruct", "Q4_K_M")
    bar.set_draft("Drafts: qwen2.5-coder-0.5b-instruct · n ≤ 3")
    bar.set_state(state)
    bar.set_progress(0.5 if state == "loading" else None, "reading weights")
    bar.set_apply("new context", 0.3, None)
    width = NARROWEST_WINDOW_PX - 16
    bar.resize(width, bar.height())
    QApplication.processEvents()
    assert bar.minimumSizeHint().width() <= width
    shown = [w for w in bar.findChildren(QWidget) if w.parent() is bar and w.isVisible()]
    places = sorted((w.geometry() for w in shown), key=lambda place: place.left())
    assert all(a.right() < b.left() for a, b in itertools.pairwise(places))
    assert bar.apply_button.text() == "Apply"
    assert "new context" in bar.apply_button.accessibleName()


def test_that_the_menu_button_can_be_found_and_has_a_name(bar: TopBar) -> None:
    found = bar.findChild(QToolButton, "menu_button")
    assert found is bar.menu_button
    assert found.accessibleName() == "Menu"


def test_that_names_from_files_are_no_markup_in_tips(bar: TopBar) -> None:
    """The name of a model comes from whoever made its file; an image would be looked for."""
    evil = '<img src="x.png">'
    bar.set_model(evil, "Q4_K_M")
    bar.set_draft(f"Drafts: {evil}")
    bar.set_draft_choices([DraftChoice("", evil, f"{evil} cannot draft.", is_enabled=False)])
    bar.set_apply("reload", None, f"{evil} cannot draft.")
    draft = child(bar, DraftButton)
    for tip in (
        child(bar, ModelButton).toolTip(),
        draft.toolTip(),
        draft.menu().actions()[0].toolTip(),
        bar.apply_button.toolTip(),
    ):
        assert "<img" not in tip
        assert "&lt;img" in tip
