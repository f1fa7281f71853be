"""That what the table says of layers on the GPU is what the command says."""

from __future__ import annotations

import msgspec
import pytest

from app.export.carried import Manner
from app.export.targets import TARGETS
from engine_bridge.settings.config import EngineConfig
from tests.unit.test_export import EFFECTIVE, FACTS

# They put every layer on the GPU whatever is asked for, and say so.
_ALWAYS_ALL = {"vllm", "sglang", "tensorrt-llm"}
_ASKED = EngineConfig(model_path="/m.gguf", n_gpu_layers=3)


@pytest.mark.parametrize("target", sorted(TARGETS.keys() - _ALWAYS_ALL))
def test_that_layers_that_are_not_written_are_not_called_carried(target: str) -> None:
    made = msgspec.structs.replace(EFFECTIVE, n_gpu_layers=0)
    export = TARGETS[target](_ASKED, made, FACTS)
    assert export.text
    assert "in place of the 3 asked for" in export.not_carried["n_gpu_layers"]


@pytest.mark.parametrize("target", sorted(TARGETS.keys() - _ALWAYS_ALL))
def test_that_layers_that_are_written_are_called_carried(target: str) -> None:
    made = msgspec.structs.replace(EFFECTIVE, n_gpu_layers=3)
    export = TARGETS[target](_ASKED, made, FACTS)
    assert "n_gpu_layers" not in export.not_carried
    assert export.carried["n_gpu_layers"].manner is not Manner.NOT_CARRIED


@pytest.mark.parametrize("target", sorted(TARGETS.keys() - _ALWAYS_ALL))
def test_that_no_layers_asked_for_are_carried_as_none(target: str) -> None:
    none = msgspec.structs.replace(_ASKED, n_gpu_layers=0)
    made = msgspec.structs.replace(EFFECTIVE, n_gpu_layers=0)
    assert "n_gpu_layers" not in TARGETS[target](none, made, FACTS).not_carried
