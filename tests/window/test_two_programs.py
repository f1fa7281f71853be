"""Two whole programs on one folder, as two starts by mistake are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.conversation import Conversation
from app.storage.conversation_store import ConversationStore
from app.storage.settings_store import SettingsStore

pytestmark = [pytest.mark.gui, pytest.mark.engine]
_FOLDERS = """
import json
from app.storage.folders import own_folders
folders = own_folders()
print(json.dumps([str(folders.settings), str(folders.conversations)]))
"""


def start(model: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start the program and return once it has its engine process."""
    program = subprocess.Popen(
        [sys.executable, "-m", "app", "--model", str(model)],
        env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process = psutil.Process(program.pid)
    while program.poll() is None and not any(map(is_engine, process.children())):
        pass
    return program


def is_engine(process: psutil.Process) -> bool:
    try:
        return "engine_bridge.child" in process.cmdline()
    except psutil.Error:  # over already
        return False


def has_open(program: subprocess.Popen[str], path: Path) -> bool:
    """Whether a program has this conversation; not asked of its lock, which it could lose by it."""
    return str(path) in (file.path for file in psutil.Process(program.pid).open_files())


def end(program: subprocess.Popen[str]) -> None:
    program.send_signal(signal.SIGINT)
    _, stderr = program.communicate(timeout=60)
    assert program.returncode == 0, stderr
    assert "Traceback" not in stderr, stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the folders are moved as on Linux")
def test_that_the_tabs_outlive_a_second_program(tmp_path: Path, tiny_path: Path) -> None:
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }  # fmt: skip
    told = subprocess.run(
        [sys.executable, "-c", _FOLDERS], env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    settings, conversations = (Path(folder) for folder in json.loads(told.stdout))
    store = ConversationStore(conversations)
    for name in ("a", "b"):
        conversation = Conversation(name, 1)
        conversation.ask(f"What is {name}?")
        conversation.append("A letter.")
        conversation.finish("end")
        store.keep(conversation)
    store.close()
    SettingsStore(settings).keep({}, {"open_conversations": ["a", "b"]})
    programs = [start(tiny_path, environment)]
    try:
        while programs[0].poll() is None and not has_open(programs[0], conversations / "b.jsonl"):
            pass
        programs.append(start(tiny_path, environment))
        for program in programs:
            end(program)
    finally:
        for program in programs:
            program.kill()
            program.communicate()
    assert SettingsStore(settings).peek()["open_conversations"] == ["a", "b"]
