"""A loaded model as a trial of a chat template asks it; see ``trial_source``."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from engine_bridge.child.prompts import PromptSource, tokenised
from engine_bridge.child.template import Fragment, TemplateError


class LoadedSource:
    """A model that is loaded: its tokeniser itself; see ``TrialSource``."""

    def __init__(self, source: PromptSource, lock: threading.Lock) -> None:
        """Ask ``source``, with ``lock`` held while its vocabulary is used."""
        self._source = source
        self._lock = lock
        self.bos, self.eos = source.bos, source.eos
        self.bos_token, self.adds_bos = source.model.bos, source.model.adds_bos
        self.special_texts, self.special_tokens = source.special_texts, source.special_tokens
        self.counts_tokens = True

    def tokens(self, fragments: Sequence[Fragment]) -> list[int]:
        """See ``TrialSource``."""
        with self._lock:
            if self._source.model.handle is None:
                raise TemplateError("The model was replaced while its template was tried.")
            return tokenised(fragments, self._source)
