"""Whatever befalls the user's files is told in the window, and that it was stands in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject

from app.desk import Desk
from app.log_wiring import LogWiring


class FilesTold(QObject):
    """Hears of settings, conversations and measurements that could not be read or saved."""

    def __init__(
        self,
        desk: Desk,
        log: LogWiring,
        say: Callable[[str], None],
        parent: QObject,
        *,
        is_list_shown: Callable[[], bool] = lambda: False,
    ) -> None:
        """Listen to what ``desk`` keeps.

        Args:
            desk: What is listened to.
            log: Has a line of it.
            say: Shows a sentence for a while.
            parent: Owner.
            is_list_shown: Whether the list of conversations is in sight: what befell a
                conversation stands there, and is not said a second time.
        """
        super().__init__(parent)
        self._is_list_shown = is_list_shown
        self._log = log
        self._say = say
        kept, keeping = desk.kept, desk.keeping
        desk.measurements.noted.connect(lambda sentence: log.note(sentence, "warning"))
        if kept is not None:
            kept.failed.connect(self._on_failed)
            kept.recovered.connect(say)
            if kept.sentences:
                self._on_failed(" ".join(kept.sentences))
        if keeping is not None:
            keeping.failed.connect(self._on_conversation_failed)
            keeping.damaged_found.connect(self._on_damaged_found)
            keeping.noted.connect(self._say_unless_listed)
            keeping.gone_found.connect(self._on_gone_found)

    def _on_damaged_found(self, sentences: Sequence[str]) -> None:
        self._on_conversation_failed(" ".join(sentences))

    def _on_gone_found(self, count: int) -> None:
        noun = "conversation" if count == 1 else "conversations"
        self._log.note(f"{count:,} {noun} of the last time had no file any more: no tab for it.")

    def _on_conversation_failed(self, sentence: str) -> None:
        self._note_failure()
        self._say_unless_listed(sentence)

    def _on_failed(self, sentence: str) -> None:
        self._note_failure()
        self._say(sentence)

    def _note_failure(self) -> None:
        # A title of a conversation may stand in the sentence, and the log is given away.
        self._log.note("Something could not be read or saved; the window said what.", "error")

    def _say_unless_listed(self, sentence: str) -> None:
        if not self._is_list_shown():
            self._say(sentence)
