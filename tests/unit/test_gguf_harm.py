"""Headers that llama.cpp accepts and then ends of, in the middle of its first step."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from engine_bridge.gguf_file import GgufError, read_model_facts
from tests.unit.gguf_bytes import Gguf, llama_values


def written(folder: Path, epsilon: object) -> Path:
    path = folder / "model.gguf"
    values = llama_values(attention__layer_norm_rms_epsilon=epsilon)
    path.write_bytes(Gguf(values).file())
    return path


@pytest.mark.parametrize("epsilon", [-1.0, -1e-30, math.nan, math.inf])
def test_that_an_epsilon_nobody_can_compute_with_is_refused(tmp_path: Path, epsilon: float) -> None:
    with pytest.raises(GgufError, match="layer_norm_rms_epsilon") as caught:
        read_model_facts(written(tmp_path, epsilon))
    assert "Download it again." in str(caught.value)


@pytest.mark.parametrize("epsilon", [0.0, 1e-5, 1])
def test_that_others_pass_and_a_wrong_type_is_left_to_llama_cpp(
    tmp_path: Path, epsilon: float
) -> None:
    assert read_model_facts(written(tmp_path, epsilon)).layers == 2
