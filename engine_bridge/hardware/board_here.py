"""Whether a GPU answers on this machine, whatever llama.cpp was built for.

Asks NVML, the kernel's list of AMD compute devices, and what processor this is. A first contact
with a driver can take seconds: never on the window's thread.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from engine_bridge.hardware.nvidia import NvidiaError, NvidiaReader

_KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")


@dataclass(frozen=True)
class BoardHere:
    """A GPU of this machine.

    Attributes:
        name: What its driver calls it.
        backend: The backend of llama.cpp that suits it, as ``GPU=`` of the set-up takes it.
        title: As people call that backend.
    """

    name: str
    backend: str
    title: str


def board_here() -> BoardHere | None:
    """The first GPU that answers, a vendor's own backend before others; None without one."""
    if sys.platform == "darwin" and platform.machine() == "arm64":
        return BoardHere("The GPU of this Mac", "metal", "Metal")
    try:
        nvidia = NvidiaReader.open()
    except NvidiaError:
        nvidia = None  # the gauges say why it does not answer
    if nvidia is not None:
        name = nvidia.boards[0].name
        nvidia.close()
        return BoardHere(name, "cuda", "CUDA")
    amd = amd_board()
    return None if amd is None else BoardHere(amd, "rocm", "ROCm")


def amd_board(nodes: Path = _KFD_NODES) -> str | None:
    """The first AMD GPU that the kernel's compute driver lists, None without one."""
    for node in sorted(nodes.glob("*/properties")):
        try:
            lines = node.read_text(encoding="ascii").splitlines()
            words = dict(line.split(maxsplit=1) for line in lines if " " in line)
            units, target = (int(words.get(key, 0)) for key in ("simd_count", "gfx_target_version"))
        except (OSError, ValueError):
            continue
        if units > 0:  # processors are nodes too, without SIMD units
            return f"AMD gfx{target // 10_000}{target // 100 % 100:x}{target % 100:x}"
    return None
