"""Asks a hub from the window: each question is a process of its own, thrown away with its answer.

Holds no widget and no socket.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from PySide6.QtCore import QObject, Signal

from app.helper_process import HelperProcess, close_helpers
from app.library.hub_questions import Answer, HubFailed, Question
from app.library.hub_shapes import HubFault

_MODULE = "app.library.hub_job"
_Decoder: TypeAlias = msgspec.json.Decoder[Answer]


class HubAsking(QObject):
    """One line of questions: a new one ends the one before.

    Signals:
        answered: An ``Answer``; of some questions there are several.
        ended: No more come.
    """

    answered = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject) -> None:
        """Ask nothing yet."""
        super().__init__(parent)
        self._process: HelperProcess | None = None
        self._decoder: _Decoder = msgspec.json.Decoder(Answer)
        self._has_failed = False

    @property
    def is_asking(self) -> bool:
        """Whether answers are on their way."""
        return self._process is not None

    def ask(self, question: Question) -> None:
        """Ask; what was asked before is of no interest any more."""
        self.stop()
        self._has_failed = False
        # It speaks for the user, so it has the user's token.
        self._process = HelperProcess(_MODULE, self, withheld=())
        self._process.line_received.connect(self._on_line_received)
        self._process.ended.connect(self._on_ended)
        self._process.start(msgspec.json.encode(question) + b"\n", is_last=False)

    def stop(self) -> None:
        """Ask no more; a download keeps what it has."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def close(self) -> None:
        """End it with the window; waits at most a second."""
        self.stop()
        close_helpers(self)

    def _on_line_received(self, line: bytes) -> None:
        if self.sender() is not self._process:
            return
        try:
            said = self._decoder.decode(line)
        except msgspec.MsgspecError as error:
            said = HubFailed(HubFault.SERVER, f"The answer cannot be read ({error}).")
        self._has_failed = self._has_failed or isinstance(said, HubFailed)
        self.answered.emit(said)

    def _on_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is not self._process:
            return
        self._process = None
        if exit_code and not self._has_failed:
            said = f": {last_line}" if last_line else ""
            self.answered.emit(
                HubFailed(
                    HubFault.SERVER,
                    f"What speaks to the hub ended early (exit code {exit_code}{said}). Try again.",
                )
            )
        self.ended.emit()
