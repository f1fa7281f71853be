"""Host memory for what is only worth keeping: whether there is room, and how much at most.

Nothing kept may make the system swap, end at a limit of this process, or push the model's own pages
out. Must not know what is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from engine_bridge.child.llama import Model
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.child.room import margin_bytes
from engine_bridge.hardware.memory_limit import HostMemory, host_memory
from engine_bridge.host_caches import host_caches_bytes
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

# Load modes in which the weights are pages of the file: the system counts them as free.
_MAPPING_MODES = frozenset({"auto", "mmap"})


class HostRoom:
    """Host memory that may be taken for caches.

    Args:
        model: Its weights stay in memory, mapped ones included.
        memory: Free and total host memory; asked each time.
    """

    def __init__(self, model: Model, memory: Callable[[], HostMemory] = host_memory) -> None:
        """Leave free what a plan leaves free, and the pages of mapped weights."""
        is_mapped = model.config.load_mode in _MAPPING_MODES and model.n_gpu_layers == 0
        self._left_bytes = margin_bytes(memory().total)
        self._left_bytes += model.weight_bytes if is_mapped else 0
        self._memory = memory

    def has(self, size_bytes: int) -> bool:
        """Whether ``size_bytes`` more can be kept."""
        return self._memory().free - size_bytes >= self._left_bytes


def host_caches_of(facts: ModelFacts, config: EngineConfig, shape: MemoryShape) -> int:
    """Bytes that prompt caches may take beside ``shape``, at most."""
    total = shape.devices[-1].total  # host memory is the last
    most = max(0, total - margin_bytes(total))
    return host_caches_bytes(facts, config, shape.bytes.recurrent, most)
