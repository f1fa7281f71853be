"""What is said of the machine, the engine and the model."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from app.experiments.subject import engine_line, machine_line, own_version, subject_of
from engine_bridge.hardware.identity import processor_name
from engine_bridge.protocol import PROTOCOL_VERSION, DeviceFacts, Hello
from tests.unit.fake_client import model_facts

_CPU = DeviceFacts("CPU", "a processor", "cpu", "CPU", 1 << 30, 2 << 30)
_BOARD = DeviceFacts("CUDA0", "NVIDIA H200", "gpu", "CUDA", 100 << 30, 140 << 30)


def hello(
    *devices: DeviceFacts, info: str = "CPU : SSE3 = 1 | AMX_INT8 = 0 | AVX2 = 1 | "
) -> Hello:
    """A greeting."""
    return Hello(PROTOCOL_VERSION, 1, 1, "0.3.36", info, devices, has_rpc=False)


def test_that_the_machine_is_told_by_its_makers_words() -> None:
    line = machine_line(hello(_CPU, _BOARD))
    assert line.startswith(processor_name())
    assert f"{psutil.cpu_count(logical=False)} cores" in line
    assert "RAM" in line
    assert "NVIDIA H200 140 GiB" in line
    assert "a processor" not in line  # told already


def test_that_the_engine_is_told_with_its_build() -> None:
    line = engine_line(hello(_BOARD, _CPU))
    assert line == (
        f"TuneDeck {own_version()}, llama-cpp-python 0.3.36 (CPU/CUDA; SSE3 AVX2)"
    )  # fmt: skip


def test_that_an_engine_that_names_no_feature_is_told_in_its_own_words() -> None:
    assert engine_line(hello(_CPU, info="made up")).endswith("(CPU; made up)")


@pytest.mark.parametrize(
    ("name", "quantisation", "shown"),
    [
        ("Gemma 3 270M", "Q4_K_M", "Gemma 3 270M Q4_K_M"),
        ("Qwen-Q4_K_M.gguf", "Q4_K_M", "Qwen-Q4_K_M"),
        ("Toy", "", "Toy"),
    ],
)
def test_that_a_model_is_told_with_its_quantisation(
    name: str, quantisation: str, shown: str
) -> None:
    facts = model_facts(name=name, quantisation=quantisation, file_bytes=99)
    subject = subject_of(hello(_CPU), "/models/m.gguf", facts, "abc")
    assert subject.model == shown
    assert (subject.model_path, subject.model_sha256) == ("/models/m.gguf", "abc")
    assert subject.model_bytes == 99


def test_that_a_model_loaded_before_is_told_by_its_file(tmp_path: Path) -> None:
    model = tmp_path / "Toy.gguf"
    model.write_bytes(b"12345")
    subject = subject_of(hello(_CPU), str(model), None)
    assert (subject.model, subject.model_bytes) == ("Toy.gguf", 5)
    assert subject_of(hello(_CPU), str(tmp_path / "gone.gguf"), None).model_bytes == 0
