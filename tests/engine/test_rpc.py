"""Another machine's memory through ggml's RPC: a stand-in for a board where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from engine_bridge.child import llama
from tests.engine.workers import free_port, lent_cpus

pytestmark = pytest.mark.engine

# In a process of its own: a device that was added cannot be removed again.
_USE = """
    import json, sys
    from pathlib import Path
    from engine_bridge.child import llama
    from tests.engine.harness import InProcess, random_tokens, tiny_config
    workers = tuple(sys.argv[2:])
    answers = []
    for placement in (
        {"n_gpu_layers": 0},
        {"n_gpu_layers": "all"},
        {"n_gpu_layers": "all", "tensor_split": ("1", "1")},
        {"n_gpu_layers": 2, "override_tensor": (r"ffn_(up|down)=CPU",)},
        {"n_gpu_layers": "all", "n_cpu_ffn": 1, "devices": ("RPC1",)},
        {"n_gpu_layers": "all", "split_mode": "none", "main_gpu": 1},
    ):
        with InProcess() as desk:
            config = tiny_config(Path(sys.argv[1]), slots=2, rpc_servers=workers, **placement)
            applied = desk.load(config)
            text, finished = desk.answer(random_tokens(8), max_new_tok=12, ignore_eog=True)
            devices = {d.name: d.weights + d.kv + d.compute for d in applied.memory.devices}
            kinds = {d.name: d.kind for d in llama.GGML.devices()}
            answers.append({
                "text": text, "devices": devices, "kinds": kinds,
                "layers": applied.effective.n_gpu_layers, "ended": finished.reason,
            })
    print(json.dumps(answers))
"""


def test_that_layers_go_to_devices_that_were_added_and_compute_the_same(
    few_words_path: Path,
) -> None:
    if not llama.has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    with lent_cpus(2) as workers:
        endpoints = [worker.endpoint for worker in workers]
        used = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(_USE), str(few_words_path), *endpoints],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert used.returncode == 0, used.stderr
    answers = json.loads(used.stdout.splitlines()[-1])
    on_cpu, everywhere, even, some, on_second, alone = answers
    assert on_cpu["kinds"]["RPC0"] == on_cpu["kinds"]["RPC1"] == "gpu"
    assert [answer["layers"] for answer in answers] == [0, 3, 3, 2, 3, 3]
    assert everywhere["devices"]["CPU"] < on_cpu["devices"]["CPU"]
    # Two layers on the first, the output layer on the second.
    assert min(even["devices"]["RPC0"], even["devices"]["RPC1"]) > 200_000
    assert some["devices"]["CPU"] > everywhere["devices"]["CPU"]
    for answer in (on_second, alone):
        assert answer["devices"]["RPC0"] == 0
        assert answer["devices"]["RPC1"] > 500_000
    assert {answer["text"] for answer in answers} == {on_cpu["text"]}
    assert {answer["ended"] for answer in answers} == {"token_limit"}


def test_that_a_device_that_is_not_there_is_named() -> None:
    if not llama.has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    endpoint = f"127.0.0.1:{free_port()}"
    with pytest.raises(ConnectionError, match=endpoint):
        llama.GGML.add_rpc_server(endpoint)
