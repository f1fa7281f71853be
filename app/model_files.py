"""The files that the engine has loaded, the model's and its draft model's, and what became of them.

Holds no widget.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app.model_watch import ModelWatch, Trouble
from engine_bridge.model_facts import ModelFacts
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig


class ModelFiles(QObject):
    """Watches them from each load to the next.

    Signals:
        trouble_found: A sentence (str): what happened to a file, what it means, what to do.
        trouble_ended: The sentence (str) that holds no longer.
    """

    trouble_found = Signal(str)
    trouble_ended = Signal(str)

    def __init__(self, parent: QObject) -> None:
        """Watch nothing yet."""
        super().__init__(parent)
        self.model = ModelWatch(self)
        self.draft = ModelWatch(self)
        self._sentences: dict[ModelWatch, str] = {}
        self._loaded: ModelFacts | None = None
        self._loaded_draft: tuple[str, object] | None = None
        for watch, of_whom in ((self.model, ""), (self.draft, "Draft model: ")):
            watch.trouble_found.connect(partial(self._on_found, watch, of_whom))
            watch.trouble_ended.connect(partial(self._forget, watch))

    def has_told(self, sentence: str) -> bool:
        """Whether ``sentence`` is told of a file here, and still holds."""
        return sentence in self._sentences.values()

    def follow(self, applied: Applied) -> bool:
        """Watch what runs now; a file that was not read again is judged as before.

        Returns:
            Whether the model was loaded anew.
        """
        # A change that leaves the model loaded hands on what was read of it.
        is_anew = applied.model is not self._loaded
        self._loaded = applied.model
        is_mapped = applied.memory.bytes.weights_mapped > 0
        if is_anew:
            self._watch(self.model, applied.config.model_path, is_mapped=is_mapped)
        draft = _draft_file(applied.config)
        if draft is None:
            self._stop(self.draft)
        elif is_anew or draft != self._loaded_draft:
            self._watch(self.draft, draft[0], is_mapped=is_mapped)
        self._loaded_draft = draft
        return is_anew

    def stop(self) -> None:
        """Watch nothing: nothing is loaded."""
        self._stop(self.model)
        self._stop(self.draft)
        self._loaded = self._loaded_draft = None

    # --- Inside -------------------------------------------------------------------------

    def _watch(self, watch: ModelWatch, path: str, *, is_mapped: bool) -> None:
        self._forget(watch)
        watch.watch(path, is_mapped=is_mapped)

    def _stop(self, watch: ModelWatch) -> None:
        watch.stop()
        self._forget(watch)

    def _on_found(self, watch: ModelWatch, of_whom: str, _: Trouble, sentence: str) -> None:
        self._sentences[watch] = of_whom + sentence
        self.trouble_found.emit(self._sentences[watch])

    def _forget(self, watch: ModelWatch) -> None:
        sentence = self._sentences.pop(watch, "")
        if sentence:
            self.trouble_ended.emit(sentence)


def _draft_file(config: EngineConfig) -> tuple[str, object] | None:
    """What decides whether a draft model is loaded anew."""
    draft = config.draft
    return None if draft is None else (draft.model_path, draft.n_gpu_layers)
