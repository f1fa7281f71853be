"""The exported placement in the hands of the real ``llama-server``: it lays the model out alike."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from engine_bridge.child.llama import has_rpc
from engine_bridge.child.plan_once import Answer
from engine_bridge.settings.config import EngineConfig
from tests.bench.peer import ServerProcess
from tests.engine.test_exported_line import binary  # noqa: F401  (a fixture)
from tests.engine.test_placement import planned_once
from tests.engine.workers import lent_cpus
from tests.unit.test_export import words_of
from tests.zoo.qwen3moe import TinyQwen3Moe, write_tiny_qwen3moe

pytestmark = pytest.mark.engine

_MIB = 2**20
_LINE = re.compile(r":\s+(\S+)\s+(?:model|KV) buffer size = +([\d.]+) MiB")


def test_that_llama_server_puts_everything_where_the_plan_says(
    binary: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    if not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    path = write_tiny_qwen3moe(tmp_path / "moe.gguf", TinyQwen3Moe(width=128, expert_ffn=256))
    with lent_cpus(2) as workers:
        first, second = (worker.endpoint for worker in workers)
        config = EngineConfig.from_values(
            {
                "model_path": str(path), "ctx_per_slot_tok": 1024, "slots": 1,
                "rpc_servers": [first, second], "devices": ["RPC1", "RPC0"], "n_gpu_layers": 4,
                "tensor_split": [3, 1], "n_cpu_moe": 2, "no_host": True, "repack": False,
                "override_tensor": [rf"blk\.3\.ffn_up_exps=RPC0[{first}]"], "load_mode": "none",
                "override_kv": ["general.name=str:another, one"],
            }
        )  # fmt: skip
        answer = planned_once(config)
        assert isinstance(answer, Answer), answer
        server = ServerProcess(binary, [*words_of(config, answer.plan.effective), "-lv", "4"])
        lines = list(server.lines)
        server.close()
    logged: Counter[str] = Counter()
    for line in lines:
        if found := _LINE.search(line):
            logged[found[1].partition("_")[0]] += round(float(found[2]) * _MIB)
    planned = {device.name: device.weights + device.kv for device in answer.plan.devices}
    names = {f"RPC0[{first}]": "RPC0", f"RPC0[{second}]": "RPC1", "CPU": "CPU"}
    assert set(logged) == set(names)
    for buffer, name in names.items():
        # The log rounds each of at most three lines to a hundredth of a MiB.
        assert abs(logged[buffer] - planned[name]) <= 3 * 0.01 * _MIB, (buffer, logged, planned)
