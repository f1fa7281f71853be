"""Whatever befalls the user's files is told in the window, and that it was stands in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from app.desk import Desk
from app.log_wiring import LogWiring


class FilesTold(QObject):
    """Hears of settings and conversations that could not be read or saved."""

    def __init__(
        self, desk: Desk, log: LogWiring, say: Callable[[str], None], parent: QObject
    ) -> None:
        """Listen to what ``desk`` keeps; ``say`` shows a sentence for a while."""
        super().__init__(parent)
        self._log = log
        self._say = say
        kept, keeping = desk.kept, desk.keeping
        if kept is not None:
            kept.failed.connect(self._on_failed)
            kept.recovered.connect(say)
            if kept.sentences:
                self._on_failed(" ".join(kept.sentences))
        if keeping is not None:
            keeping.failed.connect(self._on_failed)
            keeping.damaged_found.connect(self._on_damaged_found)
            keeping.noted.connect(say)

    def _on_damaged_found(self, sentences: Sequence[str]) -> None:
        self._on_failed(" ".join(sentences))

    def _on_failed(self, sentence: str) -> None:
        # A title of a conversation may stand in it, and the log is given away.
        self._log.note("Something could not be read or saved; the window said what.", "error")
        self._say(sentence)
