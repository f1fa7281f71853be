"""Which answer of an engine a line may be written with: none that is for another placement."""

from __future__ import annotations

import shlex

import msgspec
import pytest

from app.export import llama_server
from app.export.effective_for import effective_for
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import model_facts
from tests.unit.test_export import EFFECTIVE

OTHER = msgspec.structs.replace(EFFECTIVE, n_gpu_layers=5)


def test_that_the_answer_for_these_very_settings_comes_first() -> None:
    near, wanted = EngineConfig(slots=2), EngineConfig(slots=3)
    assert effective_for(wanted, (near, EFFECTIVE), (wanted, OTHER)) is OTHER
    assert effective_for(wanted, (near, EFFECTIVE), (near, OTHER)) is EFFECTIVE
    assert effective_for(wanted, (wanted, None), (near, OTHER)) is OTHER
    assert effective_for(wanted) is None


@pytest.mark.parametrize(
    "values",
    [
        {"rpc_servers": ("192.0.2.1:50052",)},
        {"devices": ("CUDA0",)},
        {"n_gpu_layers": 3},
        {"model_path": "/other.gguf"},
    ],
)
def test_that_an_answer_for_another_placement_is_none(values: dict[str, object]) -> None:
    loaded = EngineConfig(model_path="/m.gguf")
    wanted = loaded.with_values(values)
    assert effective_for(wanted, (wanted, None), (loaded, EFFECTIVE)) is None


def test_that_layers_for_a_worker_are_not_said_to_lie_where_they_lay_without_it() -> None:
    loaded = EngineConfig(model_path="/m.gguf")
    wanted = loaded.with_values({"rpc_servers": ("192.0.2.1:50052",)})
    known = effective_for(wanted, (wanted, None), (loaded, EFFECTIVE))
    words = shlex.split(llama_server.export(wanted, known, model_facts()).text)
    assert words[words.index("-ngl") + 1] == "all"
