"""Whether a model that is not loaded would fit: the engine's own dry run, and what would help.

Asked of a process that may die of the file and is killed as soon as nobody wants its answer.
Holds no widget.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.helper_process import HelperProcess, close_helpers
from app.planning import PlanAnswer, PlanRefusal
from engine_bridge.gguf_window import shown_name
from engine_bridge.memory_fault import MemoryFault
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.own_failure import innocent_sentence, last_words, overdue_sentence
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value

_MODULE = "engine_bridge.child.plan_once"
# A dry model of 200 layers takes half a second, a search a dozen; a busy machine some more.
_TIMEOUT_MS = 60_000


class PlanRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the process is asked; see ``engine_bridge.child.plan_once.Request``."""

    config: EngineConfig
    running: MemoryPlan | None = None
    failed: MemoryFault | None = None
    with_ways: bool = True


@dataclass(frozen=True)
class Fit:
    """The answer.

    Attributes:
        config: What was asked about.
        plan: What it would take; None where there is no answer.
        problem: Why there is none, a sentence; empty where there is.
        ways: Changes with which it was tried and would fit, the nearest first.
    """

    config: EngineConfig
    plan: MemoryPlan | None
    problem: str = ""
    ways: tuple[dict[str, Value], ...] = ()


class FitCheck(QObject):
    """Asks about one configuration at a time; the newest wins.

    Signals:
        answered: A ``Fit``.
    """

    answered = Signal(object)

    def __init__(self, parent: QObject) -> None:
        """Ask nothing yet."""
        super().__init__(parent)
        self._process: HelperProcess | None = None
        self._asked = EngineConfig()
        self._timeout = QTimer(self)
        self._timeout.setSingleShot(True)
        self._timeout.setInterval(_TIMEOUT_MS)
        self._timeout.timeout.connect(self._on_timeout)

    @property
    def is_asking(self) -> bool:
        """Whether an answer is on its way."""
        return self._process is not None

    def ask(
        self, config: EngineConfig, running: MemoryPlan | None, failed: MemoryFault | None = None
    ) -> None:
        """Ask about ``config``; a question under way is dropped.

        Args:
            config: The settings with the model's path.
            running: What the engine holds now and would give back.
            failed: The allocation that failed when ``config`` really ran.
        """
        self.cancel()
        self._asked = config
        process = HelperProcess(_MODULE, self)
        process.line_received.connect(self._on_line_received)
        process.ended.connect(self._on_process_ended)
        self._process = process
        request = PlanRequest(config, running, failed)
        process.start(msgspec.json.encode(request), is_last=True)
        self._timeout.start()

    def cancel(self) -> None:
        """Drop the question under way."""
        self._timeout.stop()
        if self._process is not None:
            self._process.stop()
            self._process = None

    def close(self) -> None:
        """Drop the question and wait until its process is gone, at most a second."""
        self.cancel()
        close_helpers(self)

    # --- Inside -------------------------------------------------------------------------

    def _on_line_received(self, line: bytes) -> None:
        self.cancel()
        try:
            plan = msgspec.json.decode(line, type=PlanAnswer).plan
        except msgspec.MsgspecError:
            self._take_refusal(line)
            return
        self.answered.emit(Fit(self._asked, plan, ways=plan.ways))

    def _take_refusal(self, line: bytes) -> None:
        try:
            sentence = msgspec.json.decode(line, type=PlanRefusal).error
        except msgspec.MsgspecError as error:
            sentence = f"The engine's answer cannot be read ({error})."
        self._fail(sentence)

    def _on_process_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is not self._process or self._process is None:
            return
        name = shown_name(self._asked.model_path)
        if sentence := innocent_sentence(exit_code, last_line.encode(), name):
            self._fail(sentence)
            return
        self._fail(
            f"llama.cpp ended (status {exit_code}) while it looked at the file, which may be "
            f"damaged or of an unsupported kind.{last_words(last_line)}"
        )

    def _on_timeout(self) -> None:
        self._fail(overdue_sentence(shown_name(self._asked.model_path)))

    def _fail(self, sentence: str) -> None:
        self.cancel()
        self.answered.emit(Fit(self._asked, None, sentence))
