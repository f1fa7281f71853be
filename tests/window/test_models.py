"""Models in the real window: listed, chosen, drafted with, and their files watched."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.kept_models import UnkeptModels
from app.library.model_list import ModelList
from app.window import Window
from engine_bridge.engine_state import DeathReason, EngineState
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama
from tests.window.conftest import PATIENCE_MS
from widgets.draft_button import DraftButton
from widgets.model_picker import ModelPicker
from widgets.state_light import StateLight

pytestmark = [pytest.mark.gui, pytest.mark.engine]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model, a smaller one of the same vocabulary, and a file that is none."""
    models = tmp_path / "models"
    write_tiny_llama(models / "large.gguf", TinyLlama(layers=4, vocab_tok=600))
    write_tiny_llama(models / "small.gguf", TinyLlama(layers=1, vocab_tok=600))
    (models / "broken.gguf").write_bytes(b"<html>sign in</html>")
    return models


def use_folder(window: Window, folder: Path) -> None:
    kept = window.engine_wiring._kept
    assert isinstance(kept, UnkeptModels)
    kept.model_folders = [str(folder)]


def open_picker(window: Window, qtbot: QtBot) -> ModelPicker:
    window.engine_wiring.ask_for_model()
    picker = window.engine_wiring.picker.picker
    assert picker is not None
    listing: ModelList = window.engine_wiring.models
    qtbot.waitUntil(lambda: not listing.is_listing, timeout=PATIENCE_MS)
    return picker


def key_of(picker: ModelPicker, name: str) -> str:
    rows = (picker.list.row(key) for key in picker.list.shown_keys())
    return next(row.key for row in rows if row is not None and row.name == name)


def test_that_a_model_is_looked_at_and_chosen_by_keyboard(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    window = open_window()
    use_folder(window, folder)
    picker = open_picker(window, qtbot)
    QTest.keyClicks(picker.search, "large")
    qtbot.waitUntil(lambda: "Fits with" in picker.sheet.fit.sentence(), timeout=PATIENCE_MS)
    assert "600 tokens" in picker.sheet.words()
    QTest.keyClick(picker.search, Qt.Key.Key_Return)
    session = window.desk.session
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    assert session.model is not None
    assert session.model.path == str(folder / "large.gguf")
    assert window.engine_wiring.picker.picker is None
    again = open_picker(window, qtbot)
    row = again.list.row(key_of(again, "large.gguf"))
    assert row is not None
    assert row.is_loaded
    assert row.group == ""  # under Recent, not under its folder


def test_that_a_file_that_comes_is_listed_and_nothing_else_moves(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    window = open_window()
    use_folder(window, folder)
    picker = open_picker(window, qtbot)
    watching = window.engine_wiring.watching
    qtbot.waitUntil(lambda: watching.watched is not None, timeout=PATIENCE_MS)
    picker.list.select(key_of(picker, "small.gguf"))
    QTest.keyClicks(picker.search, "a")
    current = picker.list.current_key()
    qtbot.waitUntil(lambda: picker.sheet.fit.is_answered, timeout=PATIENCE_MS)
    shutil.copyfile(folder / "small.gguf", folder / "another.gguf.part")
    (folder / "another.gguf.part").rename(folder / "another-size.gguf")
    write_tiny_llama(folder / "later.gguf", TinyLlama(layers=3, vocab_tok=600))

    def names() -> set[str]:
        rows = (picker.list.row(key) for key in picker.list.shown_keys())
        return {row.name for row in rows if row is not None}

    qtbot.waitUntil(lambda: "later.gguf" in names(), timeout=PATIENCE_MS)
    assert picker.list.current_key() == current
    assert picker.search.text() == "a"
    assert picker.sheet.fit.is_answered  # and not asked again
    picker.reject()
    assert watching.watched is None


def test_that_the_chat_template_of_a_model_is_tried_where_somebody_looks(
    open_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    write_tiny_llama(models / "a-chat.gguf", TinyLlama(vocab_tok=600, chat_template=CHATML))
    write_tiny_llama(models / "base.gguf", TinyLlama(vocab_tok=600))
    loop = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3
    write_tiny_llama(models / "loop.gguf", TinyLlama(vocab_tok=600, chat_template=loop))
    window = open_window()
    use_folder(window, models)
    picker = open_picker(window, qtbot)
    samples, view = window.engine_wiring.samples, picker.sheet.sample
    picker.list.select(key_of(picker, "a-chat.gguf"))
    assert not samples.is_asking  # folded
    view.set_open(True)
    qtbot.waitUntil(lambda: bool(view.result.text.toPlainText()), timeout=PATIENCE_MS)
    assert "<|im_start|>user\nWhat does a slot hold?" in view.result.text.toPlainText()
    picker.list.select(key_of(picker, "base.gguf"))
    qtbot.waitUntil(lambda: "a base model" in view.words.text(), timeout=PATIENCE_MS)
    assert view.result.isHidden()
    picker.list.select(key_of(picker, "loop.gguf"))
    qtbot.waitUntil(lambda: "did not finish" in view.words.text(), timeout=PATIENCE_MS)
    picker.list.select(key_of(picker, "a-chat.gguf"))
    assert "Trying" in view.words.text()
    picker.reject()
    assert not samples.is_asking
    again = open_picker(window, qtbot)
    assert again.sheet.sample.is_open()


def test_that_a_greyed_file_is_explained_and_not_asked_about(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    window = open_window()
    use_folder(window, folder)
    picker = open_picker(window, qtbot)
    picker.list.select(key_of(picker, "broken.gguf"))
    assert "web page" in picker.sheet.words()
    assert not picker.load_button.isEnabled()
    assert not window.engine_wiring.picker._fit.is_asking
    QTest.keyClick(picker, Qt.Key.Key_Escape)
    assert window.engine_wiring.picker.picker is None


def drop(window: Window, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    around = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    keys = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(5, 5), *around, keys))
    QApplication.sendEvent(window, QDropEvent(QPointF(5, 5), *around, keys))


def test_that_a_model_is_loaded_and_a_folder_listed_wherever_they_are_dropped(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    window = open_window()
    drop(window, folder / "small.gguf")
    session = window.desk.session
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    assert session.model is not None
    assert session.model.path == str(folder / "small.gguf")
    drop(window, folder)
    picker = window.engine_wiring.picker
    qtbot.waitUntil(lambda: picker.picker is not None, timeout=PATIENCE_MS)


def test_that_a_dropped_folder_is_listed_and_other_things_are_refused(
    make_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    models = tmp_path / "dropped"
    write_tiny_llama(models / "a.gguf", TinyLlama(layers=1, vocab_tok=600))
    window = make_window()
    wiring = window.engine_wiring
    wiring.picker.add_dropped(str(models / "a.gguf"))
    qtbot.waitUntil(lambda: "neither" in window.banner.sentence(), timeout=PATIENCE_MS)
    wiring.picker.add_dropped(str(models))
    qtbot.waitUntil(lambda: wiring.picker.picker is not None, timeout=PATIENCE_MS)
    picker = wiring.picker.picker
    assert picker is not None
    qtbot.waitUntil(lambda: not wiring.models.is_listing, timeout=PATIENCE_MS)
    assert key_of(picker, "a.gguf")
    picker.folder_removed.emit(os.fsencode(models).hex())
    qtbot.waitUntil(lambda: not wiring.models.is_listing, timeout=PATIENCE_MS)
    assert wiring._kept.model_folders == []
    assert "a.gguf" not in [
        row.name for k in picker.list.shown_keys() if (row := picker.list.row(k))
    ]


def test_that_what_does_not_fit_is_said(
    open_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path
) -> None:
    # 256 KiB a token, 8 million of them: 2 TiB.
    shape = TinyLlama(layers=8, kv_heads=32, heads=32, head_dim=256, width=64, ffn=32,
                      vocab_tok=600, ctx_train_tok=32_768)  # fmt: skip
    models = tmp_path / "models"
    write_tiny_llama(models / "huge-cache.gguf", shape)
    window = open_window(slots=256, ctx_per_slot_tok=32_768)
    use_folder(window, models)
    picker = open_picker(window, qtbot)
    picker.list.select(key_of(picker, "huge-cache.gguf"))
    fit = picker.sheet.fit
    qtbot.waitUntil(lambda: "does not suffice" in fit.sentence(), timeout=PATIENCE_MS)


def test_that_an_engine_without_a_model_says_so(
    open_window: Callable[..., Window], qtbot: QtBot
) -> None:
    window = open_window()
    qtbot.waitUntil(lambda: window.desk.client.state is EngineState.READY, timeout=PATIENCE_MS)
    light = window.top.findChild(StateLight)
    assert light is not None
    assert light.accessibleName() == "Engine: no model"


def test_that_a_drafting_model_is_found_and_wanted(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    write_tiny_llama(folder / "other.gguf", TinyLlama(layers=1, vocab_tok=1200))
    window = open_window()
    use_folder(window, folder)
    window.engine_wiring.load(str(folder / "large.gguf"))
    session = window.desk.session
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    button = window.top.findChild(DraftButton)
    assert button is not None
    menu = button.menu()
    menu.aboutToShow.emit()

    def lines() -> list[str]:
        return [action.text() for action in menu.actions()]

    def line(name: str) -> str:
        return next((line for line in lines() if line.startswith(name)), "")

    qtbot.waitUntil(lambda: bool(line("other") and line("small")), timeout=PATIENCE_MS)
    small = next(action for action in menu.actions() if action.text().startswith("small"))
    assert small.isEnabled()
    other = next(action for action in menu.actions() if action.text().startswith("other: "))
    assert not other.isEnabled()
    assert "1,200 tokens" in other.toolTip()
    small.trigger()
    assert session.wanted.spec_types == ("draft-simple",)
    assert session.wanted.draft_model_path == str(folder / "small.gguf")
    assert "small" in button.accessibleName()


# S27: whichever part is opened, part 1 is what runs, what is remembered and what is listed.
def test_that_the_second_part_of_a_split_model_opens_the_first(
    open_window: Callable[..., Window],
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    splitting = functools.partial(gguf.GGUFWriter, split_max_tensors=8)
    with monkeypatch.context() as patched:
        patched.setattr(gguf, "GGUFWriter", splitting)
        write_tiny_llama(tmp_path / "big.gguf", TinyLlama(vocab_tok=600))
    first, second, *_ = sorted(tmp_path.glob("big-*.gguf"))
    window = open_window()
    use_folder(window, tmp_path)
    window.engine_wiring.load(str(second))
    session = window.desk.session
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    assert session.model is not None
    assert session.model.path == str(first)
    assert window.engine_wiring._kept.recent_models == [str(first)]
    picker = open_picker(window, qtbot)
    shown = [row for key in picker.list.shown_keys() if (row := picker.list.row(key))]
    assert [row.is_loaded for row in shown if "big" in row.name] == [True]


# S35, and a file cut while it is mapped: a sentence while there is time, and the right one after.
@pytest.mark.skipif(sys.platform != "linux", reason="other systems guard mapped files")
def test_that_a_file_cut_while_mapped_is_told_before_and_after_the_engine_dies(
    open_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path, tiny_chat_path: Path
) -> None:
    copy = tmp_path / "copy.gguf"
    shutil.copyfile(tiny_chat_path, copy)
    window = open_window(max_new_tok=8, load_mode="mmap")
    deaths: list[DeathReason] = []
    window.desk.client.engine_died.connect(deaths.append)
    window.engine_wiring.load(str(copy))
    session, watch = window.desk.session, window.engine_wiring.files.model
    qtbot.waitUntil(
        lambda: session.applied is not None and watch._first is not None, timeout=PATIENCE_MS
    )
    assert session.applied is not None
    assert session.applied.memory.bytes.weights_mapped > 0
    os.truncate(copy, 4096)
    watch.check()
    qtbot.waitUntil(lambda: "became shorter" in window.banner.sentence(), timeout=PATIENCE_MS)
    assert "SIGBUS" in window.banner.sentence()
    window.chat.conversation(window.chat.current_id()).submit("Hello")
    qtbot.waitUntil(lambda: bool(deaths), timeout=PATIENCE_MS)
    assert deaths[0].signal_name == "SIGBUS"
    assert "load mode none" in window.banner.sentence()


def test_that_a_replaced_file_is_reloaded_from_the_banner(
    open_window: Callable[..., Window], qtbot: QtBot, tmp_path: Path, tiny_path: Path
) -> None:
    copy = tmp_path / "copy.gguf"
    shutil.copyfile(tiny_path, copy)
    window = open_window()
    window.engine_wiring.load(str(copy))
    session, watch = window.desk.session, window.engine_wiring.files.model
    qtbot.waitUntil(
        lambda: session.applied is not None and watch._first is not None, timeout=PATIENCE_MS
    )
    other = write_tiny_llama(tmp_path / "other", TinyLlama(layers=3, vocab_tok=600))
    other.replace(copy)
    watch.check()
    qtbot.waitUntil(lambda: "was replaced" in window.banner.sentence(), timeout=PATIENCE_MS)
    window.banner.action_requested.emit("reload")
    qtbot.waitUntil(
        lambda: session.model is not None and session.model.layers == 3, timeout=PATIENCE_MS
    )
    assert window.banner.sentence() == ""


def test_that_the_draft_models_file_is_watched_too(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    draft = folder / "small.gguf"
    window = open_window(spec_types=("draft-simple",), draft_model_path=str(draft))
    window.engine_wiring.load(str(folder / "large.gguf"))
    session, files = window.desk.session, window.engine_wiring.files
    qtbot.waitUntil(
        lambda: session.applied is not None and files.draft._first is not None, timeout=PATIENCE_MS
    )
    draft.rename(folder / "elsewhere.gguf")
    files.draft.check()
    qtbot.waitUntil(
        lambda: window.banner.sentence().startswith("Draft model: small.gguf was deleted"),
        timeout=PATIENCE_MS,
    )
    session.commit("spec_types", ())
    session.apply()
    qtbot.waitUntil(lambda: window.banner.sentence() == "", timeout=PATIENCE_MS)
    assert files.draft.path == ""


def test_that_another_draft_model_does_not_hide_what_became_of_the_model(
    open_window: Callable[..., Window], qtbot: QtBot, folder: Path
) -> None:
    window = open_window()
    window.engine_wiring.load(str(folder / "large.gguf"))
    session, files = window.desk.session, window.engine_wiring.files
    qtbot.waitUntil(
        lambda: session.applied is not None and files.model._first is not None, timeout=PATIENCE_MS
    )
    (folder / "large.gguf").rename(folder / "elsewhere.gguf")
    shutil.copyfile(folder / "elsewhere.gguf", folder / "large.gguf")
    files.model.check()
    qtbot.waitUntil(lambda: "was replaced" in window.banner.sentence(), timeout=PATIENCE_MS)
    session.want({"spec_types": ("draft-simple",), "draft_model_path": str(folder / "small.gguf")})
    session.apply()
    qtbot.waitUntil(lambda: files.draft._first is not None, timeout=PATIENCE_MS)
    assert "large.gguf was replaced" in window.banner.sentence()
