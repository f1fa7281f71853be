"""Whether host memory has room for something that is only worth keeping.

Nothing kept may make the system swap or push the model's own pages out. Must not know what is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import psutil

from engine_bridge.child.llama import Model
from engine_bridge.child.room import margin_bytes

# Load modes in which the weights are pages of the file: the system counts them as available.
_MAPPING_MODES = frozenset({"auto", "mmap"})


def _available_bytes() -> int:
    return int(psutil.virtual_memory().available)


class HostRoom:
    """Host memory that may be taken for caches.

    Args:
        model: Its weights stay in memory, mapped ones included.
        available_bytes: What the system could still give, in bytes; asked each time.
    """

    def __init__(self, model: Model, available_bytes: Callable[[], int] = _available_bytes) -> None:
        """Leave free what a plan leaves free, and the pages of mapped weights."""
        is_mapped = model.config.load_mode in _MAPPING_MODES and model.n_gpu_layers == 0
        self._left_bytes = margin_bytes(psutil.virtual_memory().total)
        self._left_bytes += model.weight_bytes if is_mapped else 0
        self._available_bytes = available_bytes

    def has(self, size_bytes: int) -> bool:
        """Whether ``size_bytes`` more can be kept."""
        return self._available_bytes() - size_bytes >= self._left_bytes
