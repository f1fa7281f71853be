"""What was imported from lines that people posted leaves as lines that the real program takes."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.export import llama_server
from app.importing.importer import import_text, settings_for
from engine_bridge.settings.config import EngineConfig

ROOT = Path(__file__).resolve().parents[2]
LLAMA_SERVER = ROOT / "build" / "bench" / "llama-server"
# A neighbour of the checkout, not a part of it.
CASES = ROOT.parent / "shared" / "cases" / "commands.jsonl"
# What a line may fail by on another machine than its own: files, folders, devices, workers.
ELSEWHERE = (
    "invalid device", "unknown buffer type", "not a directory", "failed to open file",
    "Failed to connect",
)  # fmt: skip

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server"),
    pytest.mark.skipif(not CASES.exists(), reason=f"there is no {CASES}"),
]


def _cases() -> list[Any]:
    if not CASES.exists():
        return []
    cases = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    return [case for case in cases if case["id"].startswith("L")]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_that_the_program_takes_what_leaves_again(case: dict[str, Any]) -> None:
    [found, *_] = import_text(case["text"])
    config = EngineConfig().with_values(dict(settings_for(found).values))
    words = shlex.split(llama_server.export(config, None, None).text)[1:]
    ran = subprocess.run(
        [str(LLAMA_SERVER), *words, "--version"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    said = ran.stderr + ran.stdout
    if ran.returncode and any(reason in said for reason in ELSEWHERE):
        return
    if ran.returncode and found.passthrough:
        assert f"invalid argument: {found.passthrough[0]}" in said  # as it came, as it left
        return
    assert ran.returncode == 0, said
