"""Which boards a configuration names, for engines that count or number them.

Must not know any engine's words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine_bridge.settings.config import EngineConfig

# Boards of these have the numbers by which other engines count them; empty is unnamed.
COMPUTE_BACKENDS = ("", "CUDA", "ROCm")
# As ggml calls boards of one backend: CUDA0, ROCm1, Vulkan2. RPC0 is a worker elsewhere.
_BOARD = re.compile(r"(?!RPC)([A-Za-z]+)(\d{1,3})")


@dataclass(frozen=True)
class Boards:
    """The boards that a configuration names.

    Attributes:
        count: How many share the model; None where all there are do, which only the machine knows.
        numbers: Their numbers in their backend, in order; empty where they are not named so.
        backend: Their backend as ggml calls it; empty where they are not named so.
        is_none: Whether no board is to be used at all.
    """

    count: int | None
    numbers: tuple[int, ...] = ()
    backend: str = ""
    is_none: bool = False


def boards_named(config: EngineConfig) -> Boards:
    """The boards of ``config``; with split mode none the main one alone."""
    if config.devices == ("none",):
        return Boards(0, is_none=True)
    backend, numbers = _numbered(config.devices)
    if config.split_mode == "none":
        if not config.devices:
            return Boards(1, (config.main_gpu,))
        main = numbers[config.main_gpu : config.main_gpu + 1]
        return Boards(1, main, backend if main else "")
    if config.devices:
        return Boards(len(config.devices), numbers, backend)
    # Shares of nothing alone are none: llama.cpp then goes by free memory.
    return Boards(sum(float(share) > 0 for share in config.tensor_split) or None)


def _numbered(devices: tuple[str, ...]) -> tuple[str, tuple[int, ...]]:
    found = [match for match in map(_BOARD.fullmatch, devices) if match is not None]
    backends = {match[1] for match in found}
    if len(found) != len(devices) or len(backends) != 1:
        return "", ()
    return backends.pop(), tuple(int(match[2]) for match in found)


def naming_keys(config: EngineConfig) -> tuple[str, ...]:
    """The settings that say which boards ``boards_named`` finds."""
    if config.split_mode != "none":
        return ("devices",)
    return ("devices", "main_gpu") if config.devices else ("main_gpu",)
