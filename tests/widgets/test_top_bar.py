"""The bar on top: what runs, what Apply would cost, the ways out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.engine_state import EngineState
from resources.tokens import DARK, LIGHT
from tests.widgets.finding import child
from widgets.model_button import ModelButton
from widgets.state_light import StateLight
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


def menu_texts(bar: TopBar) -> list[str]:
    menu = child(bar, QMenu)
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def trigger(bar: TopBar, text: str) -> None:
    menu = child(bar, QMenu)
    next(action for action in menu.actions() if action.text() == text).trigger()


def test_that_apply_names_its_cost_and_seconds(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_apply("new context", 0.31, None)
    assert bar.apply_button.text() == "Apply · new context 0.3\u202fs"
    with qtbot.waitSignal(bar.apply_requested):
        QTest.mouseClick(bar.apply_button, LEFT)


def test_that_an_unmeasured_cost_invents_no_seconds(bar: TopBar) -> None:
    bar.set_apply("reload", None, None)
    assert bar.apply_button.text() == "Apply · reload"


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


def test_that_the_menu_opens_files_recent_models_and_the_demo(bar: TopBar, qtbot: QtBot) -> None:
    bar.set_recent(["/models/a&b.gguf", "/models/second.gguf"])
    assert menu_texts(bar) == [
        "Open a model file…",
        "a&&b.gguf",
        "second.gguf",
        "Demo model",
    ]
    with qtbot.waitSignal(bar.model_open_requested):
        trigger(bar, "Open a model file…")
    with qtbot.waitSignal(bar.model_chosen) as chosen:
        trigger(bar, "a&&b.gguf")
    assert chosen.args == ["/models/a&b.gguf"]
    with qtbot.waitSignal(bar.demo_requested):
        trigger(bar, "Demo model")


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


def test_that_undo_and_redo_are_offered_when_there_is_something(bar: TopBar, qtbot: QtBot) -> None:
    undo, redo = bar.findChildren(QToolButton)
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
    assert not bar._draft.is_elided()
