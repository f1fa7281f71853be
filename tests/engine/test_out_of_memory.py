"""Too little memory, foreseen or found out: said with the buffer and the bytes, and mended."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from engine_bridge.settings.rules import Problem
from tests import models
from tests.engine.children.out_of_memory import HUGE, Report

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit"),
]

_ROOM_MIB = 1800


def _report(known: str) -> Report:
    module = "tests.engine.children.out_of_memory"
    command = [sys.executable, "-m", module, str(models.gemma_path()), str(_ROOM_MIB), known]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=Report)


def _assert_repairs(problem: Problem, context_tok: int) -> None:
    asked = HUGE["ctx_per_slot_tok"]
    assert isinstance(asked, int)
    assert problem.fix == {"ctx_per_slot_tok": context_tok}
    assert asked // 8 <= context_tok < asked


@pytest.mark.parametrize(
    ("known", "says"),
    [
        # The limit is known, so nothing is tried; or it is found out by llama.cpp.
        ("known", "System memory does not suffice: 2.0 GiB are needed (KV cache 1.7 GiB"),
        ("hidden", "Memory ran out: the KV cache of 1.5 GiB did not fit into system memory."),
    ],
)
def test_that_the_repair_of_a_want_of_memory_really_runs(known: str, says: str) -> None:
    report = _report(known)
    for refused, applied in ((report.load, report.loaded), (report.change, report.changed)):
        assert refused.problem.message.startswith(says)
        assert "GiB are missing" in refused.problem.message
        _assert_repairs(refused.problem, applied.config.ctx_per_slot_tok)
        assert applied.effective.slots == HUGE["slots"]
    assert (report.load.command, report.change.command) == ("load", "apply")
    assert report.still_tok == 4
