"""The command line for the engine and the shell that were chosen, now and the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.command_wiring import CommandWiring
from app.desk import Desk
from app.kept_settings import KeptSettings
from app.session import Session
from app.storage.settings_store import SettingsStore
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, Severity
from tests.unit.fake_client import EMPTY_PLAN
from widgets.command_bar import CommandBar

pytestmark = pytest.mark.gui
MODEL = "/data/my models/$best.gguf"


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(EngineConfig().with_values({"model_path": MODEL}))
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def bar(shown: Callable[[QWidget], None]) -> CommandBar:
    made = CommandBar()
    shown(made)
    return made


@pytest.fixture
def wiring(desk: Desk, bar: CommandBar) -> CommandWiring:
    made = CommandWiring(desk, bar, bar)
    made.refresh()
    return made


@pytest.fixture
def kept(tmp_path: Path, qtbot: QtBot) -> Iterator[KeptSettings]:
    made = KeptSettings(SettingsStore(tmp_path))
    yield made
    made.close()


def choose(bar: CommandBar, number: int, text: str) -> None:
    bar.findChildren(QComboBox)[number].setCurrentText(text)


def chosen(bar: CommandBar) -> list[str]:
    return [box.currentText() for box in bar.findChildren(QComboBox)]


@pytest.mark.parametrize(
    ("shell", "quoted"),
    [
        ("POSIX sh", "'/data/my models/$best.gguf'"),
        ("cmd.exe", '"/data/my models/$best.gguf"'),
        ("PowerShell", "'/data/my models/$best.gguf'"),
    ],
)
def test_that_the_line_is_for_the_shell_chosen(
    wiring: CommandWiring, bar: CommandBar, shell: str, quoted: str
) -> None:
    choose(bar, 1, "cmd.exe")
    choose(bar, 1, shell)
    assert f"llama serve -m {quoted} -c 16384" in bar.text()
    choose(bar, 0, "llama-server")
    assert bar.text().startswith(f"llama-server -m {quoted}")


def test_that_a_name_that_a_shell_cannot_be_given_is_told_and_another_shell_helps(
    wiring: CommandWiring, bar: CommandBar, desk: Desk
) -> None:
    desk.session.want({"model_path": "/two\nlines.gguf"})
    choose(bar, 1, "cmd.exe")
    assert bar.text() == ""
    assert any("Rename the file" in label.text() for label in bar.findChildren(QLabel))
    choose(bar, 1, "POSIX sh")
    assert "'/two\nlines.gguf'" in bar.text()


def test_that_the_choice_is_there_the_next_time(
    wiring: CommandWiring, bar: CommandBar, desk: Desk, kept: KeptSettings
) -> None:
    wiring.remember(kept)
    choose(bar, 0, "llama-server")
    choose(bar, 1, "PowerShell")
    assert (kept.command_target, kept.command_shell) == ("llama-server", "powershell")
    again = CommandBar(parent=bar)
    CommandWiring(desk, again, again).remember(kept)
    assert chosen(again) == ["llama-server", "PowerShell"]
    assert again.text().startswith("llama-server ")


def test_that_an_engine_that_is_gone_is_not_chosen(
    wiring: CommandWiring, bar: CommandBar, kept: KeptSettings
) -> None:
    before = chosen(bar)
    kept.command_target = "an engine of another version"
    wiring.remember(kept)
    assert chosen(bar) == before


def test_that_a_line_whose_settings_the_plan_refused_says_so(
    wiring: CommandWiring, bar: CommandBar, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = Problem(("slots",), "System memory does not suffice.")
    slow = Problem(("slots",), "It will be slow.", severity=Severity.WARNING)
    plan = msgspec.structs.replace(EMPTY_PLAN, fits=False, problems=(short, slow))
    monkeypatch.setattr(Session, "plan", plan)
    monkeypatch.setattr(Session, "planned", desk.session.wanted)
    wiring.refresh()
    said = " ".join(label.text() for label in bar.findChildren(QLabel))
    assert "would refuse this line on this machine: System memory does not suffice." in said
    assert "slow" not in said
    monkeypatch.setattr(Session, "planned", EngineConfig())  # a plan of other settings says nothing
    wiring.refresh()
    said = " ".join(label.text() for label in bar.findChildren(QLabel))
    assert "would refuse" not in said


def test_that_only_llama_cpp_is_said_to_refuse_what_breaks_its_rules(
    wiring: CommandWiring, desk: Desk
) -> None:
    desk.session.want({"cache_type_v": "q8_0", "flash_attn": "off"})
    assert wiring.refusals("llama-server")
    assert wiring.refusals("systemd")
    assert wiring.refusals("vllm") == (), "it has rules of its own"


def test_that_a_program_gets_the_words_and_no_quotes_of_a_shell(
    wiring: CommandWiring, bar: CommandBar
) -> None:
    choose(bar, 1, "cmd.exe")
    assert wiring.server_flags()[:2] == ("-m", MODEL)


def test_that_whoever_shows_the_line_hears_that_it_was_written_anew(
    wiring: CommandWiring, bar: CommandBar, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(wiring.refreshed):
        choose(bar, 0, "llama-server")
    assert (wiring.target, str(wiring.shell)) == ("llama-server", "posix")
    with qtbot.waitSignal(wiring.refreshed):
        wiring.choose_target("llama serve")
    assert chosen(bar)[0] == "llama serve"
