"""Decides which GPU backend the engine is built with, and says why.

A backend is taken where its driver answers *and* its toolchain is complete; a toolchain alone
proves nothing (build machines have nvcc and no GPU).
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bootstrap.packages import remedy_here
from bootstrap.process import output_of
from bootstrap.say import SetupError


@dataclass(frozen=True)
class Backend:
    """A GPU backend of llama.cpp.

    Attributes:
        name: As ``GPU=`` takes it.
        title: As people call it.
        option: The cmake option that builds it.
        parts: Programs and files of its toolchain, each with Debian's package; a program is a
            name, a file a path, and of several separated by ``|`` one will do.
    """

    name: str
    title: str
    option: str
    parts: tuple[tuple[str, str], ...]


# In order of preference: a vendor's own backend is faster than Vulkan on its boards.
BACKENDS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("metal", "Metal", "GGML_METAL", (("xcrun", "Xcode's command line tools"),)),
        Backend(
            "cuda",
            "CUDA",
            "GGML_CUDA",
            (("nvcc", "nvidia-cuda-toolkit"),),
        ),
        Backend(
            "rocm",
            "ROCm",
            "GGML_HIP",
            (
                ("hipcc", "hipcc"),
                ("*/cmake/hipblas/hipblas-config.cmake", "libhipblas-dev"),
                ("*/cmake/rocblas/rocblas-config.cmake", "librocblas-dev"),
            ),
        ),
        Backend(
            "vulkan",
            "Vulkan",
            "GGML_VULKAN",
            (
                ("glslc", "glslc"),
                ("/usr/include/vulkan/vulkan.h|$VULKAN_SDK", "libvulkan-dev"),
                ("/usr/include/spirv/unified1/spirv.h|$VULKAN_SDK", "spirv-headers"),
            ),
        ),
    )
}
REQUESTS = ("auto", "none", *BACKENDS)
# Where the vendors' own installers put their compilers, off everybody's PATH.
TOOLCHAIN_FOLDERS = ("/usr/local/cuda/bin", "/opt/rocm/bin")
_CMAKE_ROOTS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/rocm/lib")


@dataclass(frozen=True)
class Choice:
    """What to build.

    Attributes:
        backend: Name of the backend, or ``none``.
        sentences: Why, and what could be had; for the user.
    """

    backend: str
    sentences: tuple[str, ...]

    @property
    def cmake_options(self) -> tuple[str, ...]:
        """Options of the build: the backend, every other one off, RPC always."""
        backends = [
            f"-D{backend.option}={'ON' if backend.name == self.backend else 'OFF'}"
            for backend in BACKENDS.values()
        ]
        return ("-DGGML_RPC=ON", *backends)


def who_answers() -> dict[str, str]:
    """Backend name to board name, for every driver that answers (empty if the query crashes)."""
    text = output_of([sys.executable, "-m", "bootstrap.gpu_query"])
    answers: dict[str, str] = json.loads(text) if text else {}
    return answers


def missing_parts(
    backend: Backend,
    environment: Mapping[str, str],
    which: Callable[[str], str | None] = shutil.which,
) -> list[str]:
    """Debian's packages that the toolchain of ``backend`` lacks."""
    return [
        package
        for alternatives, package in backend.parts
        if not any(_is_there(part, environment, which) for part in alternatives.split("|"))
    ]


def _is_there(
    part: str, environment: Mapping[str, str], which: Callable[[str], str | None]
) -> bool:
    if part.startswith("$"):
        return bool(environment.get(part[1:]))
    if part.startswith("*/"):
        return any(
            next(Path(root).glob(pattern), None)
            for root in _CMAKE_ROOTS
            for pattern in (part[2:], part)
        )
    if part.startswith("/"):
        return Path(part).exists()
    return which(part) is not None


def choose(request: str, answers: Mapping[str, str], missing: Mapping[str, list[str]]) -> Choice:
    """Decide from what was asked for, who answers and what the toolchains lack.

    Args:
        request: One of ``REQUESTS``.
        answers: Backend name to board name.
        missing: Backend name to the packages its toolchain lacks; empty where it is complete.

    Raises:
        SetupError: For an unknown request, or a backend asked for whose toolchain is missing.
    """
    if request not in REQUESTS:
        raise SetupError(f"GPU={request} is none of {', '.join(REQUESTS)}.")
    if request == "none":
        return Choice("none", ("GPU: none, as you asked (GPU=none); the engine uses the CPU.",))
    if request != "auto":
        return _as_told(BACKENDS[request], answers, missing)
    return _by_answer(answers, missing)


def _remedy(backend: Backend, lacking: list[str]) -> str:
    if backend.name == "metal":
        return "`xcode-select --install` brings what is missing"
    return remedy_here(lacking)


def _as_told(
    backend: Backend, answers: Mapping[str, str], missing: Mapping[str, list[str]]
) -> Choice:
    lacking = missing[backend.name]
    if lacking:
        raise SetupError(
            f"GPU={backend.name} needs the toolchain of {backend.title}, which is not complete "
            f"here: {_remedy(backend, lacking)}; GPU=none builds for the CPU alone."
        )
    board = answers.get(backend.name)
    seen = f"{board} answers" if board else "though no such GPU answers here"
    return Choice(
        backend.name, (f"GPU: {backend.title}, as you asked (GPU={backend.name}); {seen}.",)
    )


def _by_answer(answers: Mapping[str, str], missing: Mapping[str, list[str]]) -> Choice:
    notes: list[str] = []
    for backend in BACKENDS.values():
        board, lacking = answers.get(backend.name), missing[backend.name]
        if board and not lacking:
            why = f"GPU: {backend.title}, because {board} answers and its toolchain is there."
            return Choice(backend.name, (why, *notes))
        if board:
            notes.append(
                f"GPU: {board} answers, but the toolchain of {backend.title} is not complete: "
                f"{_remedy(backend, lacking)}, and the same command again uses it."
            )
        elif not lacking:
            notes.append(f"GPU: a toolchain of {backend.title} is there, but no such GPU answers.")
    why = "GPU: none; the engine uses the CPU."
    return Choice("none", (*notes, why))


def choice_for(request: str, environment: Mapping[str, str]) -> Choice:
    """Decide for this machine.

    Raises:
        SetupError: As ``choose`` does.
    """
    missing = {backend.name: missing_parts(backend, environment) for backend in BACKENDS.values()}
    answers = {} if request == "none" else who_answers()
    return choose(request, answers, missing)
