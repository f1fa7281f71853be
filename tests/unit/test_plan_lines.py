"""What ``tunedeck plan`` prints: no more RAM than there is, and no change that others forbid."""

from __future__ import annotations

import msgspec
import pytest

from app.plan_lines import caches_bytes, plan_lines
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem, Severity
from tests.unit.test_export import EFFECTIVE

GIB = 1 << 30


def _plan(caches: int, free: int = 16 * GIB, problems: tuple[Problem, ...] = ()) -> MemoryPlan:
    host = DeviceBytes("CPU", weights=GIB, kv=0, compute=0, free=free, total=24 * GIB)
    return MemoryPlan(
        BytesByUse(weights=GIB, host=GIB, total=GIB), (host,), EFFECTIVE, fits=True,
        problems=problems, seconds=0.0, host_caches=caches,
    )  # fmt: skip


def _caches_line(config: EngineConfig, plan: MemoryPlan) -> str:
    (line,) = [line for line in plan_lines(config, plan) if line.startswith("prompt caches")]
    return line.replace("\u202f", " ")


@pytest.mark.parametrize(
    ("ram_mib", "caches", "free", "said"),
    [
        (-1, 23 * GIB, 16 * GIB, "up to 15.0 GiB of the RAM that stays free (kept prompts have no"),
        (8192, 9 * GIB, 16 * GIB, "9.00 GiB of the RAM that stays free (kept prompts 8.00 GiB + "),
        (8192, 9 * GIB, 16 * GIB, "checkpoints 1.00 GiB)"),
        (8192, 9 * GIB, 3 * GIB, "up to 2.00 GiB of the RAM that stays free; the settings allow"),
        (8192, 8 * GIB, 16 * GIB, "up to 8.00 GiB of the RAM that stays free"),
        (8192, 8 * GIB, GIB // 2, "get nothing"),
        (8192, 8 * GIB, -1, "up to 8.00 GiB"),
    ],
)
def test_that_caches_are_promised_no_more_than_is_free(
    ram_mib: int, caches: int, free: int, said: str
) -> None:
    assert said in _caches_line(EngineConfig(cache_ram_mib=ram_mib), _plan(caches, free))


def test_that_a_plan_without_devices_promises_what_the_settings_say() -> None:
    assert caches_bytes(msgspec.structs.replace(_plan(GIB), devices=())) == GIB
    assert caches_bytes(_plan(0)) == 0


def test_that_repairs_of_warnings_do_not_contradict_each_other() -> None:
    fixes = (("ctx_per_slot_tok", 4096), ("ctx_per_slot_tok", 8192), ("seed", 1))
    problems = tuple(
        Problem((key,), f"Not {value}.", {key: value}, Severity.WARNING) for key, value in fixes
    )
    lines = plan_lines(EngineConfig(), _plan(0, problems=problems))
    assert [line for line in lines if line.startswith("would do")] == [
        "would do: --set ctx_per_slot_tok=4096",
        "would do: --set seed=1",
    ]


def test_that_repairs_nobody_tried_are_not_offered_for_what_cannot_run() -> None:
    refused = Problem(("slots",), "No.", {"slots": 1})
    plan = MemoryPlan(BytesByUse(), (), None, fits=False, problems=(refused,), seconds=0.0)
    assert plan_lines(EngineConfig(), plan) == ["error: No.", "cannot run"]
