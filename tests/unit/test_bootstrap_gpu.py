"""Which GPU backend is built: a driver must answer and the toolchain must be whole."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, cast

import pytest

from bootstrap import packages
from bootstrap.gpu import BACKENDS, Backend, Choice, choose, missing_parts
from bootstrap.gpu_query import amd_name, nvidia_name, vulkan_name
from bootstrap.say import SetupError

_ALL_MISSING = {name: [f"{name}-toolkit"] for name in BACKENDS}


@pytest.fixture(autouse=True)
def on_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "manager_here", lambda: packages.APT)


def _with(*complete: str) -> dict[str, list[str]]:
    return {**_ALL_MISSING, **{name: [] for name in complete}}


@pytest.mark.parametrize(
    ("answers", "complete", "backend", "said"),
    [
        ({}, (), "none", "GPU: none"),
        # A build machine: nvcc is there, no GPU is.
        ({}, ("cuda",), "none", "toolchain of CUDA is there, but no such GPU answers"),
        ({"cuda": "RTX 3090"}, ("cuda",), "cuda", "because RTX 3090 answers"),
        ({"cuda": "RTX 3090"}, (), "none", "apt-get install cuda-toolkit"),
        ({"cuda": "RTX 3090", "vulkan": "RTX 3090"}, ("vulkan",), "vulkan", "cuda-toolkit"),
        ({"cuda": "RTX 3090", "vulkan": "RTX 3090"}, ("cuda", "vulkan"), "cuda", "RTX 3090"),
        ({"rocm": "gfx1100", "vulkan": "RADV"}, ("rocm", "vulkan"), "rocm", "gfx1100"),
        ({"vulkan": "Arc A770"}, ("vulkan", "cuda"), "vulkan", "Arc A770"),
        ({"metal": "Apple M2"}, ("metal",), "metal", "Apple M2"),
        ({"metal": "Apple M2"}, (), "none", "xcode-select --install"),
    ],
)
def test_that_a_backend_needs_an_answer_and_a_toolchain(
    answers: dict[str, str], complete: tuple[str, ...], backend: str, said: str
) -> None:
    choice = choose("auto", answers, _with(*complete))
    assert choice.backend == backend
    assert said in " ".join(choice.sentences)


def test_that_none_asks_nobody() -> None:
    choice = choose("none", {"cuda": "RTX 3090"}, _with("cuda"))
    assert choice.backend == "none"
    assert "as you asked" in choice.sentences[0]


def test_that_a_backend_can_be_told_without_a_gpu() -> None:
    choice = choose("vulkan", {}, _with("vulkan"))
    assert choice.backend == "vulkan"
    assert "no such GPU answers" in choice.sentences[0]


def test_that_a_backend_told_without_its_toolchain_is_one_sentence() -> None:
    with pytest.raises(SetupError, match="apt-get install vulkan-toolkit"):
        choose("vulkan", {"vulkan": "Arc"}, _ALL_MISSING)
    with pytest.raises(SetupError, match="GPU=opencl is none of auto, none"):
        choose("opencl", {}, _ALL_MISSING)


@pytest.mark.parametrize("backend", ["none", *BACKENDS])
def test_that_every_build_has_rpc_and_at_most_its_own_backend(backend: str) -> None:
    options = Choice(backend, ()).cmake_options
    assert "-DGGML_RPC=ON" in options
    on = [option for option in options if option.endswith("=ON") and "RPC" not in option]
    assert on == ([f"-D{BACKENDS[backend].option}=ON"] if backend != "none" else [])


def test_that_a_toolchain_lacks_what_is_not_found(tmp_path: Path) -> None:
    header = tmp_path / "header.h"
    parts = (("tool|other-tool", "tool-dev"), (f"{header}|$SDK", "header-dev"))
    backend = Backend("x", "X", "GGML_X", parts)

    def which(name: str) -> str | None:
        return "/bin/other-tool" if name == "other-tool" else None

    assert missing_parts(backend, {}, lambda _: None) == ["tool-dev", "header-dev"]
    assert missing_parts(backend, {}, which) == ["header-dev"]
    assert missing_parts(backend, {"SDK": "sdk"}, which) == []
    header.touch()
    assert missing_parts(backend, {}, which) == []


def _kfd_node(folder: Path, number: int, simd_count: int, target: int) -> None:
    node = folder / str(number)
    node.mkdir()
    lines = [f"cpu_cores_count {0 if simd_count else 16}", f"simd_count {simd_count}"]
    (node / "properties").write_text("\n".join([*lines, f"gfx_target_version {target}", ""]))


def test_that_amd_s_processors_are_no_gpu(tmp_path: Path) -> None:
    assert amd_name(tmp_path / "absent") is None
    _kfd_node(tmp_path, 0, 0, 0)
    assert amd_name(tmp_path) is None
    _kfd_node(tmp_path, 1, 160, 90010)
    assert amd_name(tmp_path) == "AMD GPU (gfx90a)"


class _Nvml:
    """NVML with ``boards``; ``status`` is what its initialisation returns."""

    def __init__(self, boards: list[bytes], status: int = 0) -> None:
        self._boards = boards
        self._status = status
        self.is_open = False

    def nvmlInit_v2(self) -> int:  # noqa: N802 - NVML's name
        self.is_open = self._status == 0
        return self._status

    def nvmlShutdown(self) -> int:  # noqa: N802 - NVML's name
        self.is_open = False
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: int, _: object) -> int:  # noqa: N802
        return 0 if index < len(self._boards) else 2

    def nvmlDeviceGetName(self, _: object, name: Any, __: object) -> int:  # noqa: N802
        name.value = self._boards[0]
        return 0


@pytest.mark.parametrize(
    ("nvml", "name"),
    [
        (_Nvml([b"NVIDIA H200"]), "NVIDIA H200"),
        (_Nvml([]), None),
        (_Nvml([b"NVIDIA H200"], status=9), None),  # the library without a driver
    ],
)
def test_that_nvidia_answers_only_with_a_driver_and_a_board(nvml: _Nvml, name: str | None) -> None:
    assert nvidia_name(lambda _: cast(ctypes.CDLL, nvml)) == name
    assert not nvml.is_open


class _Vulkan:
    """A Vulkan loader with devices of the given types and names."""

    def __init__(self, devices: list[tuple[int, bytes]]) -> None:
        self._devices = devices
        self.instances = 0

    def vkCreateInstance(self, info: Any, _: object, __: object) -> int:  # noqa: N802
        assert info[0] == 1
        self.instances += 1
        return 0

    def vkDestroyInstance(self, _: object, __: object) -> None:  # noqa: N802
        self.instances -= 1

    def vkEnumeratePhysicalDevices(self, _: object, count: Any, into: Any) -> int:  # noqa: N802
        count._obj.value = len(self._devices)
        for index in range(len(self._devices) if into is not None else 0):
            into[index] = index + 1
        return 0

    def vkGetPhysicalDeviceProperties(self, device: Any, properties: Any) -> None:  # noqa: N802
        kind, name = self._devices[device.value - 1]
        properties[16:20] = kind.to_bytes(4, "little")
        properties[20 : 21 + len(name)] = name + b"\0"


@pytest.mark.parametrize(
    ("devices", "name"),
    [
        ([], None),
        ([(4, b"llvmpipe")], None),
        ([(4, b"llvmpipe"), (2, b"Arc A770")], "Arc A770"),
        ([(1, b"Radeon 780M")], "Radeon 780M"),
    ],
)
def test_that_a_software_renderer_is_no_gpu(
    devices: list[tuple[int, bytes]], name: str | None
) -> None:
    vulkan = _Vulkan(devices)
    assert vulkan_name(lambda _: cast(ctypes.CDLL, vulkan)) == name
    assert vulkan.instances == 0


def test_that_an_absent_library_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> ctypes.CDLL:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setenv("PATH", "")
    assert nvidia_name(absent) is None
    assert vulkan_name(absent) is None
