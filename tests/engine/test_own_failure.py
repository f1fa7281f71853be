"""That a throwaway process that fails by itself is told apart from a file that ends it."""

from __future__ import annotations

import io
import queue
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.planning import PlanningError, plan_in_throwaway_process
from engine_bridge.child import planner_thread, stranger
from engine_bridge.child.planner_thread import PlannerThread, Running
from engine_bridge.child.stranger import Look
from engine_bridge.own_failure import end_of, own_failure
from engine_bridge.protocol import Event, Plan, Refused
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from tests.engine.harness import tiny_config
from tests.tiny_model import TinyLlama, write_tiny_llama
from tests.unit.gguf_bytes import Gguf, llama_values

pytestmark = pytest.mark.engine
_ANSWER_S = 100.0


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every new Python of this test finds an installation that fails to start; its folder."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "msgspec.py").write_text("raise ImportError('broken on purpose')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_tiny_llama(tmp_path / "tiny.gguf", TinyLlama(vocab_tok=512))


def _looked(config: EngineConfig) -> Problem | None:
    return Look().problem_of(config)


def _planned_in_the_engine(config: EngineConfig) -> Problem | None:
    told: queue.Queue[Event] = queue.Queue()
    running = Running((), None, EngineConfig())
    planner = PlannerThread(told.put, is_busy=lambda: False, running=lambda: running)
    try:
        planner.request(Plan(1, config))
        event = told.get(timeout=_ANSWER_S)
    finally:
        planner.stop()
    return event.problem if isinstance(event, Refused) else None


def _planned_in_the_window(config: EngineConfig) -> Problem | None:
    try:
        plan_in_throwaway_process(config)
    except PlanningError as error:
        return Problem((), str(error))
    return None


ASKED = (_looked, _planned_in_the_engine, _planned_in_the_window)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.usefixtures("broken")
def test_that_the_file_is_not_blamed_for_a_process_that_failed_by_itself(
    path: Path, asked: Callable[[EngineConfig], Problem | None]
) -> None:
    problem = asked(tiny_config(path, override_kv=("llama.rope.freq_base=float:5",)))
    assert problem is not None
    assert "failed by itself (ImportError: broken on purpose)" in problem.message
    assert "damaged" not in problem.message
    assert "llama.cpp" not in problem.message
    assert problem.keys == ()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
@pytest.mark.parametrize("asked", ASKED)
def test_that_the_file_is_not_blamed_for_a_process_that_was_killed_from_outside(
    path: Path,
    broken: Path,
    asked: Callable[[EngineConfig], Problem | None],
) -> None:
    (broken / "msgspec.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    problem = asked(tiny_config(path))
    assert problem is not None
    assert "was ended by SIGKILL" in problem.message
    assert "damaged" not in problem.message
    assert problem.keys == ()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
@pytest.mark.parametrize("asked", ASKED[:2])
def test_that_a_process_that_comes_to_no_end_is_given_up_as_such(
    path: Path,
    broken: Path,
    asked: Callable[[EngineConfig], Problem | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (broken / "msgspec.py").write_text("import signal\nsignal.pause()\n")
    monkeypatch.setattr(stranger, "_PATIENCE_S", 0.5)
    monkeypatch.setattr(planner_thread, "_THROWAWAY_S", 0.5)
    problem = asked(tiny_config(path))
    assert problem is not None
    assert "within a minute" in problem.message
    assert "llama.cpp ended" not in problem.message


@pytest.mark.parametrize("asked", ASKED)
def test_that_a_file_that_ends_the_process_is_blamed(
    tmp_path: Path, asked: Callable[[EngineConfig], Problem | None]
) -> None:
    """llama.cpp asserts that there are fewer groups of experts than experts."""
    values = llama_values(expert_count=4, expert_used_count=2, expert_group_count=9)
    harmful = tmp_path / "harmful.gguf"
    harmful.write_bytes(Gguf(values).file())
    problem = asked(tiny_config(harmful))
    assert problem is not None
    assert "llama.cpp ended" in problem.message
    assert "damaged" in problem.message
    assert "by itself" not in problem.message


def test_that_only_a_status_of_python_itself_is_an_own_failure() -> None:
    said = b"Traceback\n  somewhere\nValueError: \x1b[31mno\n\n"
    assert own_failure(1, said) == "ValueError: [31mno"
    assert own_failure(1, b"") == "it gave no reason"
    assert own_failure(-6, said) == own_failure(0, said) == ""
    assert len(own_failure(1, b"x" * 9_999)) < 1_000
    assert end_of(io.BytesIO(b"a" * 10_000 + b"z")).endswith(b"az")
