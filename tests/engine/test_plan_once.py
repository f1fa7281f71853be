"""The throwaway process: one configuration in, one answer out, whatever the file is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from app.planning import PlanAnswer, PlanningError, plan_in_throwaway_process
from engine_bridge.child.plan_once import Request
from engine_bridge.child.planner import Planner
from engine_bridge.settings.config import EngineConfig
from tests.unit.gguf_bytes import Gguf, llama_values

pytestmark = pytest.mark.engine


def ask(request: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "engine_bridge.child.plan_once"]
    return subprocess.run(command, input=request, capture_output=True, timeout=60, check=False)


def test_that_a_plan_comes_with_the_models_facts(tiny_path: Path) -> None:
    config = EngineConfig(model_path=str(tiny_path), slots=2)
    answer = plan_in_throwaway_process(config)
    assert answer.model is not None
    assert (answer.model.layers, answer.model.architecture) == (2, "llama")
    planner = Planner()
    try:
        here = planner.plan(config)
    finally:
        planner.close()
    assert (answer.plan.bytes, answer.plan.effective) == (here.bytes, here.effective)


def test_that_what_runs_is_counted(tiny_path: Path) -> None:
    config = EngineConfig(model_path=str(tiny_path), slots=2)
    plan = plan_in_throwaway_process(config).plan
    done = ask(msgspec.json.encode(Request(config, plan)))
    assert done.returncode == 0
    again = msgspec.json.decode(done.stdout, type=PlanAnswer).plan
    assert again.bytes == plan.bytes


def test_that_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlanningError, match=r"no file gone\.gguf"):
        plan_in_throwaway_process(EngineConfig(model_path=str(tmp_path / "gone.gguf")))


def test_that_a_file_that_aborts_llama_cpp_is_a_sentence(tmp_path: Path) -> None:
    values = llama_values(expert_count=4, expert_used_count=2, expert_group_count=9)
    path = tmp_path / "harmful.gguf"
    path.write_bytes(Gguf(values).file())
    with pytest.raises(PlanningError, match=r"llama\.cpp ended"):
        plan_in_throwaway_process(EngineConfig(model_path=str(path)))


def test_that_nonsense_is_a_sentence() -> None:
    done = ask(b'{"modelpath": 3}')
    assert done.returncode == 1
    assert b"error" in done.stdout
