"""Importing in the real window: pasted, opened, dropped; one step of undo; nothing is opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.import_reading import Reader
from app.import_wiring import ImportWiring
from app.importing.found import Found
from app.importing.found_settings import settings_for
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from tests.window.conftest import PATIENCE_MS
from widgets.import_view import ImportView

pytestmark = [
    pytest.mark.gui,
    pytest.mark.qt_log_ignore("This plugin does not support"),
]

COMMAND = (
    "./llama-server -m /nowhere/model.gguf -c 16384 -np 2 -ctk q8_0 -ctv q8_0 -fa "
    "--fancy-new-flag 7"
)


@pytest.fixture(autouse=True)
def empty_clipboard(qapp: QApplication) -> None:
    QGuiApplication.clipboard().clear()


def importing(window: Window) -> ImportWiring:
    wiring = window.findChild(ImportWiring)
    assert wiring is not None
    return wiring


def view_of(window: Window) -> ImportView:
    view = importing(window).view
    assert view is not None
    return view


def pasted(window: Window, qtbot: QtBot, text: str = COMMAND) -> ImportView:
    window.command.paste_requested.emit()
    view = view_of(window)
    view.set_text(text)
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    return view


def test_that_the_button_opens_an_empty_dialog(make_window: Callable[..., Window]) -> None:
    window = make_window()
    QGuiApplication.clipboard().setText("my secret diary")
    QTest.mouseClick(window.command.paste_button, Qt.MouseButton.LeftButton)
    view = view_of(window)
    assert view.text() == ""
    assert "Paste a command" in view.start.words()


def test_that_a_command_in_the_clipboard_is_put_in_and_read(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    QGuiApplication.clipboard().setText(COMMAND)
    window.actions_of_window.run("command.paste")
    view = view_of(window)
    assert view.text() == COMMAND
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    assert "llama-server" in view.meaning.summary()
    assert "/nowhere/model.gguf" in view.meaning.model.words()


def test_that_settings_are_taken_in_one_step_and_said(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    session = window.desk.session
    before = session.wanted
    view = pasted(window, qtbot)
    QTest.mouseClick(view.use_button, Qt.MouseButton.LeftButton)
    assert importing(window).view is None
    wanted = session.wanted
    assert (wanted.slots, wanted.ctx_per_slot_tok) == (2, 8192)
    assert (wanted.cache_type_k, wanted.flash_attn) == ("q8_0", "on")
    assert wanted.model_path == before.model_path
    assert "llama-server command are set now" in window.toast.text()
    assert "not loaded" in window.toast.text()
    session.undo()
    assert session.wanted == before
    assert not session.can_undo


def test_that_an_unticked_setting_is_left_out(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    view = pasted(window, qtbot)
    table = view.meaning.table
    line = next(place for place, row in enumerate(table.texts()) if row[0] == "K cache")
    table.setFocus()
    table.setCurrentIndex(table.model().index(line, 0))
    QTest.keyClick(table, Qt.Key.Key_Space)
    view.use()
    wanted = window.desk.session.wanted
    assert (wanted.cache_type_k, wanted.cache_type_v) == ("f16", "q8_0")


def test_that_what_the_text_does_not_say_goes_to_defaults_if_wanted(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    window.desk.session.want({"temperature": 1.5})
    view = pasted(window, qtbot)
    view.use()
    assert window.desk.session.wanted.temperature == 1.5
    view = pasted(window, qtbot)
    view.fill_button.click()
    qtbot.waitUntil(
        lambda: "Temperature" in [row[0] for row in view.meaning.table.texts()],
        timeout=PATIENCE_MS,
    )
    view.use()
    assert window.desk.session.wanted.temperature == EngineConfig().temperature


def test_that_unknown_words_stand_in_the_command_bar_once_they_are_ticked(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    # A line is written once a model is known of; none is opened for it.
    window.desk.session.want({"model_path": "/nowhere/other.gguf"})
    view = pasted(window, qtbot)
    assert "--fancy-new-flag" in view.meaning.findings.words()
    assert "extra_flags" not in {key.partition("#")[0] for key in view.meaning.chosen()}
    view.meaning.all_button.click()
    view.use()
    qtbot.waitUntil(lambda: "--fancy-new-flag 7" in window.command.text(), timeout=PATIENCE_MS)


def test_that_a_repository_is_not_put_beside_the_model_that_is_wanted(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    window.desk.session.want({"model_path": "/nowhere/other.gguf"})
    view = pasted(window, qtbot, "llama-server -hf org/name-GGUF -np 2 --jinja")
    view.use()
    assert window.desk.session.wanted.extra_flags == ("--jinja",)
    qtbot.waitUntil(lambda: "--jinja" in window.command.text(), timeout=PATIENCE_MS)
    assert "--hf-repo" not in window.command.text()


def test_that_a_key_left_behind_is_told_before_and_after(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    view = pasted(window, qtbot, "llama-server -np 2 --host 0.0.0.0 --api-key topsecretvalue")
    assert "The key is not taken over" in view.meaning.warning()
    view.use()
    assert window.desk.session.wanted.extra_flags == ()
    assert "serves everybody on the network" in window.toast.text()


def test_that_the_desk_s_changes_are_seen_while_the_dialog_is_open(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    view = pasted(window, qtbot)

    def now_of(label: str) -> str:
        return next(row[1] for row in view.meaning.table.texts() if row[0] == label)

    assert now_of("Parallel slots") == "4"
    window.desk.session.want({"slots": 6})
    qtbot.waitUntil(lambda: now_of("Parallel slots") == "6", timeout=PATIENCE_MS)


def test_that_a_file_is_opened_by_dropping_it(
    make_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\n{COMMAND}\n")
    window = make_window()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(script))])
    around = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    enter = QDragEnterEvent(QPoint(5, 5), *around, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, enter)
    drop = QDropEvent(QPointF(5, 5), *around, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, drop)
    view = view_of(window)
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    assert view.noted() == "From run.sh."
    assert "llama-server" in view.meaning.summary()


def test_that_a_file_that_is_none_is_told(
    make_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.txt"
    picture.write_bytes(bytes(range(256)) * 4)
    window = make_window()
    importing(window).open_file(str(picture))
    view = view_of(window)
    qtbot.waitUntil(lambda: "not a text file" in view.noted(), timeout=PATIENCE_MS)
    assert view.text() == ""


def test_that_the_text_is_there_again_and_an_old_clipboard_does_not_replace_it(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    QGuiApplication.clipboard().setText(COMMAND)
    window.actions_of_window.run("command.paste")
    view_of(window).set_text(f"{COMMAND} -ub 256")
    view_of(window).reject()
    window.actions_of_window.run("command.paste")
    assert view_of(window).text() == f"{COMMAND} -ub 256"


def test_that_the_dialog_ends_with_the_window(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    pasted(window, qtbot)
    window.close()
    assert importing(window).view is None


def test_that_a_megabyte_is_read_while_the_window_goes_on(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = make_window()
    window.command.paste_requested.emit()
    view = view_of(window)
    view.set_text(("x" * 99 + "\n") * 10_000 + COMMAND)
    qtbot.waitUntil(
        lambda: view.is_understood() or "No command" in view.start.words(), timeout=PATIENCE_MS
    )


@pytest.mark.engine
def test_that_the_model_a_person_chose_is_loaded_with_the_settings(
    open_window: Callable[..., Window], qtbot: QtBot, tiny_chat_path: Path
) -> None:
    window = open_window()
    view = pasted(window, qtbot, "llama-server -m ./model.gguf -c 1024 -np 2 -ctk q8_0")
    assert not view.load_button.isEnabled()
    importing(window).resolve_model(0, str(tiny_chat_path))
    qtbot.waitUntil(view.load_button.isEnabled, timeout=PATIENCE_MS)
    QTest.mouseClick(view.load_button, Qt.MouseButton.LeftButton)
    session = window.desk.session
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    assert session.applied is not None
    assert session.model is not None
    assert session.model.path == str(tiny_chat_path)
    config = session.applied.config
    assert (config.slots, config.ctx_per_slot_tok, config.cache_type_k) == (2, 512, "q8_0")


@pytest.mark.engine
def test_that_a_draft_named_by_a_text_is_not_opened_unless_it_is_ticked(
    loaded_window: Window, qtbot: QtBot
) -> None:
    session = loaded_window.desk.session
    view = pasted(
        loaded_window, qtbot,
        "llama-server -m ./a.gguf -md /nowhere/draft.gguf --spec-type draft-simple -np 2",
    )  # fmt: skip
    assert "draft_model_path" not in view.meaning.chosen()
    view.use()
    assert session.wanted.draft_model_path == ""
    assert session.wanted.slots == 2


# --- A reader of the test's own -------------------------------------------------------------------


def with_reader(window: Window, find: Callable[[str, str], tuple[Found, ...]]) -> ImportWiring:
    """The wiring of ``window``, which reads by ``find`` from now on."""
    wiring = importing(window)
    wiring._reader = Reader(find, settings_for)
    return wiring


@pytest.mark.parametrize("padding", ["", "#" * 120_000 + "\n"])
def test_that_the_name_of_a_file_goes_with_its_text_alone(
    make_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path, padding: str
) -> None:
    names: list[str] = []

    def find(_: str, name: str) -> tuple[Found, ...]:
        names.append(name)
        return (Found("llama-server", {"slots": 2}),)

    script = tmp_path / "run.sh"
    script.write_text(f"{padding}{COMMAND}")
    wiring = with_reader(make_window(), find)
    wiring.open_file(str(script))
    view = wiring.view
    assert view is not None
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    view.clear_button.click()
    view.set_text("pasted")
    qtbot.waitUntil(view.is_understood, timeout=PATIENCE_MS)
    assert names == ["run.sh", ""]


def test_that_a_mistake_of_a_reader_is_told_and_not_swallowed(
    make_window: Callable[..., Window], qtbot: QtBot
) -> None:
    def find(_: str, __: str) -> tuple[Found, ...]:
        raise ZeroDivisionError

    window = make_window()
    wiring = with_reader(window, find)
    wiring.open()
    view = view_of(window)
    with qtbot.captureExceptions() as caught:
        view.set_text("anything")
        qtbot.waitUntil(lambda: "mistake" in view.start.words(), timeout=PATIENCE_MS)
        qtbot.waitUntil(lambda: bool(caught), timeout=PATIENCE_MS)
    assert [kind for kind, _, _ in caught] == [ZeroDivisionError]
    assert view.text() == "anything"


def test_that_nothing_is_taken_while_an_experiment_is_under_way(
    make_window: Callable[..., Window], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = make_window()
    before = window.desk.session.wanted
    view = pasted(window, qtbot)
    monkeypatch.setattr(type(window.experiments.run), "is_under_way", True)
    view.use()
    assert "experiment is under way" in view.words()
    assert window.desk.session.wanted == before
    monkeypatch.undo()
    view.use()
    assert window.desk.session.wanted.slots == 2
