"""The exported line against llama-server's own fitting: what was tuned comes out, not what it fits.

llama-server changes context and layers to what it thinks fits, wherever the line leaves it room.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.llama import has_rpc
from engine_bridge.child.plan_once import Answer
from engine_bridge.settings.config import EngineConfig
from tests.bench.peer import ServerProcess
from tests.engine.test_exported_line import _get, binary  # noqa: F401  (a fixture)
from tests.engine.test_placement import planned_once
from tests.engine.workers import lent_cpus
from tests.unit.test_export import words_of
from tests.zoo.qwen3moe import TinyQwen3Moe, write_tiny_qwen3moe

pytestmark = pytest.mark.engine

_FITTED = "fitting params"  # what it says before it changes anything
_OFFLOADED = re.compile(r"offloaded (\d+)/\d+ layers to GPU")
_MADE = re.compile(r"llama_context: (n_ctx|n_ctx_seq|n_batch|n_ubatch|n_seq_max)\s+= (\d+)")


def test_that_it_would_say_so_if_it_fitted(binary: Path, tiny_path: Path) -> None:  # noqa: F811
    """Otherwise the test below could not fail."""
    words = words_of(EngineConfig(model_path=str(tiny_path), ctx_per_slot_tok=512))
    words[words.index("-fit") + 1] = "on"
    server = ServerProcess(binary, [*words, "-lv", "4"])
    log = "\n".join(server.lines)
    server.close()
    assert _FITTED in log


@pytest.mark.parametrize(
    ("workers", "values"),
    [
        (0, {"ctx_per_slot_tok": 700, "slots": 3, "ubatch_tok": 96}),
        # Layers left to auto: the line says what they came to.
        (2, {"ctx_per_slot_tok": 1_000, "slots": 2, "tensor_split": ["1", "3"]}),
        (
            2,
            {
                "ctx_per_slot_tok": 3_000, "ctx_total_tok": 5_000, "slots": 4, "kv_unified": True,
                "n_gpu_layers": 3, "devices": ["RPC1", "RPC0"], "batch_tok": 512,
            },
        ),
    ],
)  # fmt: skip
def test_that_what_was_tuned_comes_out(
    binary: Path,  # noqa: F811
    tmp_path: Path,
    workers: int,
    values: dict[str, object],
) -> None:
    if workers and not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    path = write_tiny_qwen3moe(tmp_path / "moe.gguf", TinyQwen3Moe(has_vocabulary=True))
    with lent_cpus(workers) as lent:
        endpoints = [worker.endpoint for worker in lent]
        config = EngineConfig.from_values(
            {"model_path": str(path), "rpc_servers": endpoints, "threads": 1, **values}
        )
        answer = planned_once(config)
        assert isinstance(answer, Answer), answer
        effective = answer.plan.effective
        assert effective is not None, answer.plan.problems
        words = words_of(config, effective)
        server = ServerProcess(binary, [*words, "-lv", "4"])
        try:
            props = msgspec.convert(_get(server.port, "/props"), dict[str, object])
            log = "\n".join(server.lines)
        finally:
            server.close()
    assert words[words.index("-fit") + 1] == "off"
    assert _FITTED not in log
    made = dict(_MADE.findall(log))
    assert int(made["n_ctx"]) == effective.ctx_total_tok
    assert int(made["n_seq_max"]) == effective.slots == props["total_slots"]
    assert (int(made["n_batch"]), int(made["n_ubatch"])) == (
        effective.batch_tok, effective.ubatch_tok,
    )  # fmt: skip
    settings = msgspec.convert(props["default_generation_settings"], dict[str, object])
    assert settings["n_ctx"] == effective.ctx_per_slot_tok
    if workers:
        offloaded = _OFFLOADED.search(log)
        assert offloaded is not None
        assert int(offloaded[1]) == effective.n_gpu_layers > 0
