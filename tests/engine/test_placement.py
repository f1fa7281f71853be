"""That a model goes where the settings say, and that the plan says beforehand what lies where."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.llama import has_rpc
from engine_bridge.child.plan_once import Answer, Refusal, read_answer
from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.engine.workers import LentCpu, lent_cpus
from tests.zoo.qwen3moe import TinyQwen3Moe, write_tiny_qwen3moe

pytestmark = pytest.mark.engine

_MIB = 2**20
_LAYERS = 8
_SMALL: dict[str, object] = {"ctx_per_slot_tok": 512, "slots": 2, "n_gpu_layers": "all"}


@pytest.fixture(scope="module")
def workers() -> Iterator[list[LentCpu]]:
    """Two workers; their devices are RPC0 and RPC1."""
    if not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    with lent_cpus(2) as found:
        yield found


@pytest.fixture(scope="module")
def moe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mixture of experts whose experts are most of it: 9 MiB a layer."""
    shape = TinyQwen3Moe(layers=_LAYERS, width=256, expert_ffn=256, experts=12)
    return write_tiny_qwen3moe(tmp_path_factory.mktemp("models") / "moe.gguf", shape)


def _placed(
    path: Path,
    workers: list[LentCpu],
    placements: list[dict[str, object]],
) -> list[tuple[MemoryPlan, MemoryPlan]]:
    """Plan and load every placement on the workers; planned and real bytes agree."""
    common = {"model_path": str(path), "rpc_servers": [worker.endpoint for worker in workers]}
    asked = [common | _SMALL | placement for placement in placements]
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.children.place_models"],
        input=msgspec.json.encode(asked),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    pairs = msgspec.json.decode(done.stdout, type=list[tuple[MemoryPlan, MemoryPlan]])
    for placement, (planned, real) in zip(placements, pairs, strict=True):
        assert [d.name for d in planned.devices] == ["RPC0", "RPC1", "CPU"]
        for dry, loaded in zip(planned.devices, real.devices, strict=True):
            slack = max(8 * _MIB, loaded.needed // 100)
            assert abs(dry.needed - loaded.needed) <= slack, (placement, dry, loaded)
            assert (dry.weights, dry.kv) == (loaded.weights, loaded.kv), (placement, loaded)
    return pairs


def _real(pair: tuple[MemoryPlan, MemoryPlan]) -> tuple[DeviceBytes, DeviceBytes, DeviceBytes]:
    first, second, host = pair[1].devices
    return first, second, host


def test_that_layers_go_to_the_devices_in_the_shares_asked_for(
    moe: Path, workers: list[LentCpu]
) -> None:
    even, uneven, some, none, first, second, no_device = _placed(
        moe,
        workers,
        [
            {"tensor_split": [1, 1]},
            {"tensor_split": [3, 1]},
            {"tensor_split": [1, 1], "n_gpu_layers": 4},
            {"n_gpu_layers": 0},
            {"split_mode": "none", "main_gpu": 0},
            {"devices": ["RPC1"]},
            {"devices": ["none"]},
        ],
    )
    # Nine layers, the output layer being the last: 5 and 4, then 7 and 2.
    assert [device.kv for device in _real(even)] == [5 * _kv(even), 3 * _kv(even), 0]
    assert [device.kv for device in _real(uneven)] == [7 * _kv(uneven), 1 * _kv(uneven), 0]
    assert [device.kv for device in _real(some)] == [2 * _kv(some), 1 * _kv(some), 5 * _kv(some)]
    assert [device.kv for device in _real(none)] == [0, 0, 8 * _kv(none)]
    for pair, holder in ((first, 0), (second, 1)):
        devices = _real(pair)
        assert devices[holder].kv == 8 * _kv(pair)
        assert devices[1 - holder].needed == 0
    assert [device.needed for device in _real(no_device)[:2]] == [0, 0]
    made = [planned.effective for planned, _ in (even, some, none, no_device)]
    assert [one.n_gpu_layers for one in made if one is not None] == [9, 4, 0, 0]


def _kv(pair: tuple[MemoryPlan, MemoryPlan]) -> int:
    """KV bytes of one layer."""
    return pair[1].bytes.kv // _LAYERS


def test_that_experts_and_chosen_tensors_go_elsewhere(moe: Path, workers: list[LentCpu]) -> None:
    on_second = f"RPC0[{workers[1].endpoint}]"
    plain, cpu_moe, two_layers, by_hand, moved, mixed = _placed(
        moe,
        workers,
        [
            {"devices": ["RPC0"]},
            {"devices": ["RPC0"], "cpu_moe": True},
            {"devices": ["RPC0"], "n_cpu_moe": 2},
            {"devices": ["RPC0"], "override_tensor": [r"\.ffn_(up|down|gate)_exps=CPU"]},
            {"override_tensor": [rf"blk\.[0-3]\.ffn_.*_exps={on_second}"], "tensor_split": [1, 0]},
            {"tensor_split": [1, 1], "n_cpu_moe": 1, "n_gpu_layers": 6, "kv_offload": False},
        ],
    )
    experts = 12 * 3 * 256 * 256 * 4  # bytes of one layer: gate, up and down, F32
    whole = _real(plain)[0].weights
    assert whole - _real(cpu_moe)[0].weights == _LAYERS * experts
    assert whole - _real(two_layers)[0].weights == 2 * experts
    assert _real(by_hand)[0].weights == _real(cpu_moe)[0].weights
    assert _real(moved)[1].weights == 4 * experts
    assert _real(mixed)[2].kv == mixed[1].bytes.kv


def test_that_the_dense_ffn_of_the_first_layers_stays_on_the_cpu(workers: list[LentCpu]) -> None:
    try:
        gemma = models.find_gemma()
    except models.ModelMissingError as error:
        pytest.skip(str(error))
    all_layers, four, *_ = _placed(
        gemma,
        workers,
        [
            {"tensor_split": [1, 1]},
            {"tensor_split": [1, 1], "n_cpu_ffn": 4},
            {"n_gpu_layers": 0, "repack": False},
            {"tensor_split": [3, 1], "n_gpu_layers": 9, "no_host": True, "load_mode": "none"},
        ],
    )
    assert _real(four)[0].weights < _real(all_layers)[0].weights
    assert _real(four)[1].weights == _real(all_layers)[1].weights


def test_that_what_is_not_there_is_a_sentence_before_anything_is_loaded(
    moe: Path, workers: list[LentCpu]
) -> None:
    common: dict[str, object] = {"model_path": str(moe), "rpc_servers": [workers[0].endpoint]}
    cases: tuple[tuple[dict[str, object], str, dict[str, object]], ...] = (
        ({"devices": ["RPC0", "CUDA7"]}, "no device 'CUDA7'", {"devices": ("RPC0",)}),
        (
            {"override_tensor": ["a=Nope", "b=CPU"]},
            "no buffer type 'Nope'",
            {"override_tensor": ("b=CPU",)},
        ),
        ({"split_mode": "row"}, "cannot hold tensors", {"split_mode": "layer"}),
        ({"split_mode": "none", "main_gpu": 1}, "no GPU 1", {"main_gpu": 0}),
    )
    for wrong, words, fix in cases:
        answer = planned_once(EngineConfig.from_values(common | wrong))
        assert isinstance(answer, Answer)
        problem = answer.plan.problems[0]
        assert not answer.plan.fits
        assert words in problem.message
        assert EngineConfig().with_values(dict(problem.fix)) == EngineConfig.from_values(fix)
    refused = planned_once(EngineConfig.from_values(common | {"override_tensor": ["a{=CPU"]}))
    assert isinstance(refused, Refusal)
    assert "regular expression" in refused.error


def planned_once(config: EngineConfig) -> Answer | Refusal:
    """Planned in a process of its own, as a stranger is."""
    done = subprocess.run(
        [sys.executable, "-m", "engine_bridge.child.plan_once"],
        input=msgspec.json.encode(config),
        capture_output=True,
        timeout=300,
        check=False,
    )
    return read_answer(done.stdout)
