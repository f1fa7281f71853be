"""Try it in the whole window, on the real llama-server with a tiny model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app import try_wiring
from app.experiments.experiment import Kind
from app.experiments.lengths import Fixed
from app.experiments.server_program import ServerProgram
from app.experiments.workload import Material, Workload
from app.try_wiring import TryWiring
from app.try_words import SHORT
from app.window import Window
from engine_bridge.engine_state import EngineState
from tests.window.conftest import PATIENCE_MS

pytestmark = [pytest.mark.gui, pytest.mark.engine]
LEFT = Qt.MouseButton.LeftButton
LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
STAND_IN = (sys.executable, "-m", "tests.bridge.children.server")

needs_server = pytest.mark.skipif(
    not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server"
)


WORK = Workload(
    name="tiny", material=Material.PROSE, prompt_tok=Fixed(24), answer_tok=Fixed(6), requests=1
)


@pytest.fixture(autouse=True)
def small_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_wiring, "works_for", lambda ctx_tok: {SHORT: WORK})


def opened(window: Window) -> TryWiring:
    window.actions_of_window.run("command.try")
    found = window.findChild(TryWiring)
    assert found is not None
    return found


def use(trial: TryWiring, qtbot: QtBot, *words: str) -> None:
    """Try with this program; one that a person chooses is looked at on the disk first."""
    trial.use_program(ServerProgram(words[0], words))
    qtbot.waitUntil(trial.view.start_button.isEnabled, timeout=PATIENCE_MS)


def start(trial: TryWiring) -> None:
    trial.view.form.runs_box.setCurrentIndex(0)
    QTest.mouseClick(trial.view.start_button, LEFT)
    assert trial.view.is_under_way


def ended(trial: TryWiring, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not trial.view.is_under_way, timeout=PATIENCE_MS)


def servers() -> list[int]:
    return [
        child.pid
        for child in psutil.Process().children(recursive=True)
        if "server" in " ".join(child.cmdline())
    ]


@needs_server
@pytest.mark.parametrize("order", [0, 1], ids=["in turns", "one after the other"])
def test_that_both_sides_are_measured_shown_and_kept(
    loaded_window: Window, qtbot: QtBot, order: int
) -> None:
    window, session = loaded_window, loaded_window.desk.session
    session.commit("slots", 2)  # waits for Apply, and still does afterwards
    before, wanted = session.applied, session.wanted
    assert before is not None
    trial = opened(window)
    use(trial, qtbot, str(LLAMA_SERVER))
    trial.view.form.set_order(order)
    trial.view.form.is_order_chosen = True
    start(trial)
    assert not trial.view.form.isEnabled()
    ended(trial, qtbot)
    view = trial.view
    assert view.state_label.text().startswith("Done")
    rows = {row[0]: row for row in view.table.texts()}
    assert {"TTFT", "TPOT", "Speed per user", "Total throughput", "Memory (RSS)"} <= rows.keys()
    assert all(row[1] not in ("", "–") and row[2] not in ("", "–") for row in rows.values())
    assert "listening" in view.log.text()
    assert servers() == []
    qtbot.waitUntil(lambda: not session.work and session.applied is not None, timeout=PATIENCE_MS)
    assert session.applied is not None
    assert (session.applied.config, session.wanted) == (before.config, wanted)
    store = window.experiments.history.store
    newest = store.experiment(store.listing()[0].key)
    assert newest.kind is Kind.PROBE
    assert len(newest.cells) == 2
    QTest.mouseClick(view.show_button, LEFT)
    assert window.experiments.page.isVisible()


@pytest.mark.parametrize(
    ("how", "said"), [("dies", "ended with exit status 1"), ("garbage", "no web server")]
)
def test_that_a_bad_server_is_told_and_the_desk_goes_on(
    loaded_window: Window, qtbot: QtBot, how: str, said: str
) -> None:
    trial = opened(loaded_window)
    use(trial, qtbot, *STAND_IN, how)
    start(trial)
    ended(trial, qtbot)
    assert said in trial.view.state_label.text()
    assert loaded_window.desk.client.state is not EngineState.DEAD
    assert loaded_window.desk.session.applied is not None
    assert trial.view.start_button.isEnabled(), "it can be tried again"
    if how == "dies":
        assert "error: no such model" in trial.view.log.text()


def test_that_cancel_ends_a_server_that_never_becomes_healthy(
    loaded_window: Window, qtbot: QtBot
) -> None:
    trial = opened(loaded_window)
    use(trial, qtbot, *STAND_IN, "loading")
    start(trial)
    qtbot.waitUntil(
        lambda: "loads its model" in trial.view.stage_label.full_text(), timeout=PATIENCE_MS
    )
    assert servers()
    assert trial.why_not(), "one at a time"
    QTest.mouseClick(trial.view.cancel_button, LEFT)
    ended(trial, qtbot)
    assert trial.view.state_label.text() == "Stopped. The server is gone."
    assert servers() == []


def test_that_a_window_that_closes_leaves_no_server_behind(
    loaded_window: Window, qtbot: QtBot
) -> None:
    trial = opened(loaded_window)
    use(trial, qtbot, *STAND_IN, "clings")
    trial.view.form.set_order(2)
    trial.view.form.is_order_chosen = True
    start(trial)
    qtbot.waitUntil(lambda: bool(servers()), timeout=PATIENCE_MS)
    left = [psutil.Process(pid) for pid in servers()]
    loaded_window.close()
    _, alive = psutil.wait_procs(left, timeout=PATIENCE_MS / 1000)
    assert alive == []


def test_that_a_program_is_found_chosen_and_kept(
    loaded_window: Window, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(try_wiring, "find_program", lambda chosen: None)
    trial = opened(loaded_window)
    view = trial.view
    qtbot.waitUntil(lambda: trial.why_not() == "Choose the program first.", timeout=PATIENCE_MS)
    assert not view.start_button.isEnabled()
    missing = view.form.program_label.full_text()
    assert "PATH" in missing
    shown = (missing, view.state_label.text(), view.sentences_label.text())
    assert len({line for text in shown for line in text.splitlines()}) == 7, "each is said once"
    for way in ("ggml-org/llama.cpp on GitHub", "Homebrew", "build/bin", "PATH"):
        assert way in view.sentences_label.text()
    text = tmp_path / "notes.txt"
    text.write_text("no program")
    trial.choose_program(str(text))
    qtbot.waitUntil(
        lambda: "notes.txt is no program" in trial.view.state_label.text(), timeout=PATIENCE_MS
    )
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    trial.choose_program(str(program))
    qtbot.waitUntil(trial.view.start_button.isEnabled, timeout=PATIENCE_MS)
    assert trial.view.form.program_label.full_text() == str(program)
    assert "Homebrew" not in trial.view.sentences_label.text(), "nothing is missing now"


def test_that_without_a_model_nothing_is_tried(make_window: Callable[..., Window]) -> None:
    trial = opened(make_window())
    assert trial.why_not() == "No model is loaded. Choose one first."
    assert not trial.view.start_button.isEnabled()
    trial.start()
    assert not trial.view.is_under_way
    trial.dialog.close()
