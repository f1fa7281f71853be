"""One model that is planned with: its header and its dry model, kept as long as they hold.

Knows when a file or a placement is another one; what a plan is, is ``planner``'s.
"""

from __future__ import annotations

from pathlib import Path

from engine_bridge.child.dry_model import DryModel
from engine_bridge.child.memory_shape import MemoryShape
from engine_bridge.gguf_file import GgufModel, read_model
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Applies
from engine_bridge.settings.table import SETTINGS

# How a file is read does not change what a pretended load finds; a draft model is a model of its
# own, whose placement stands under the same keys as a target's.
_PLACEMENT_KEYS = tuple(
    s.key
    for s in SETTINGS
    if s.applies is Applies.RELOAD
    and s.key not in ("model_path", "load_mode")
    and not s.key.startswith("draft_")
)


class KeptModel:
    """The file read last, and its dry model. For one thread; close it there."""

    def __init__(self) -> None:
        """Know no model yet."""
        self._gguf: GgufModel | None = None
        self._file_key: tuple[object, ...] = ()
        self._dry: DryModel | None = None
        self._dry_key: tuple[object, ...] = ()

    def close(self) -> None:
        """Let go of the dry model."""
        if self._dry is not None:
            self._dry.close()
        self._dry, self._dry_key = None, ()

    def read(self, path: str) -> GgufModel:
        """The model at ``path``, read again only if the file changed.

        Raises:
            GgufError: If it is no model.
        """
        key: tuple[object, ...] = (path,)
        try:
            status = Path(path).stat()
            key = (path, status.st_mtime_ns, status.st_size)
        except (OSError, ValueError):
            pass  # reading the file says what is wrong with it
        if self._gguf is None or key != self._file_key:
            self.close()
            self._gguf = None
            self._gguf, self._file_key = read_model(path), key
        return self._gguf

    def run(
        self, gguf: GgufModel, config: EngineConfig, memory: tuple[DeviceFacts, ...]
    ) -> tuple[MemoryShape, EffectiveConfig]:
        """Pretend to build a context on ``gguf``, which was read here; see ``DryModel.run``.

        Raises:
            LlamaError: If llama.cpp refuses the model or the context, with its words.
            NotSupportedError: On other platforms than Linux.
        """
        placement = [getattr(config, name) for name in _PLACEMENT_KEYS]
        key = (self._file_key, config.loads_mtp, *placement)
        if self._dry is None or key != self._dry_key:
            self.close()
            self._dry, self._dry_key = DryModel(gguf, config), key
        return self._dry.run(config, memory)
