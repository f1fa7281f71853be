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
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig

_MODULE = "engine_bridge.child.plan_once"
# A dry model of 200 layers takes half a second; a busy machine some more.
_TIMEOUT_MS = 60_000
_COARSE_CACHE = "q8_0"


class PlanRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the process is asked: a configuration, and what a running engine would give back."""

    config: EngineConfig
    running: MemoryPlan | None = None


@dataclass(frozen=True)
class Fit:
    """The answer.

    Attributes:
        config: What was asked about.
        plan: What it would take; None where there is no answer.
        problem: Why there is none, a sentence; empty where there is.
        ways: Changes with which it was tried and would fit.
    """

    config: EngineConfig
    plan: MemoryPlan | None
    problem: str = ""
    ways: tuple[dict[str, object], ...] = ()


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
        self._running: MemoryPlan | None = None
        self._first: MemoryPlan | None = None
        self._ways: list[dict[str, object]] = []
        self._untried: list[dict[str, object]] = []
        self._timeout = QTimer(self)
        self._timeout.setSingleShot(True)
        self._timeout.setInterval(_TIMEOUT_MS)
        self._timeout.timeout.connect(self._on_timeout)

    @property
    def is_asking(self) -> bool:
        """Whether an answer is on its way."""
        return self._process is not None

    def ask(self, config: EngineConfig, running: MemoryPlan | None) -> None:
        """Ask about ``config``; a question under way is dropped.

        Args:
            config: The settings with the model's path.
            running: What the engine holds now and would give back.
        """
        self.cancel()
        self._asked, self._running = config, running
        self._first, self._ways = None, []
        self._start(config)

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

    def _start(self, config: EngineConfig) -> None:
        process = HelperProcess(_MODULE, self)
        process.line_received.connect(self._on_line_received)
        process.ended.connect(self._on_process_ended)
        self._process = process
        process.start(msgspec.json.encode(PlanRequest(config, self._running)), is_last=True)
        self._timeout.start()

    def _on_line_received(self, line: bytes) -> None:
        self.cancel()
        try:
            plan = msgspec.json.decode(line, type=PlanAnswer).plan
        except msgspec.MsgspecError:
            self._take_refusal(line)
            return
        if self._first is None:
            self._first = plan
            self._untried = [] if plan.fits else _ways_to_try(self._asked, plan)
        elif plan.fits:
            self._ways.append(self._untried[0])
        if self._first is not plan:
            self._untried.pop(0)
        self._try_next()

    def _try_next(self) -> None:
        """Try the next change, or answer."""
        if self._untried:
            self._start(self._asked.with_values(self._untried[0]))
        else:
            self.answered.emit(Fit(self._asked, self._first, ways=tuple(self._ways)))

    def _take_refusal(self, line: bytes) -> None:
        try:
            sentence = msgspec.json.decode(line, type=PlanRefusal).error
        except msgspec.MsgspecError as error:
            sentence = f"The engine's answer cannot be read ({error})."
        self._fail(sentence)

    def _on_process_ended(self, exit_code: int, last_line: str) -> None:
        if self.sender() is not self._process or self._process is None:
            return
        said = f" Its last line: {last_line}" if last_line else ""
        self._fail(
            f"llama.cpp ended (status {exit_code}) while it looked at the file, which may be "
            f"damaged or of an unsupported kind.{said}"
        )

    def _on_timeout(self) -> None:
        self._fail(
            "The engine took over a minute to look at the file and was stopped; its drive may be "
            "gone, or the file is damaged."
        )

    def _fail(self, sentence: str) -> None:
        self.cancel()
        if self._first is not None:
            # Only the change that was tried failed.
            self._untried.pop(0)
            self._try_next()
        else:
            self.answered.emit(Fit(self._asked, None, sentence))


def _ways_to_try(config: EngineConfig, plan: MemoryPlan) -> list[dict[str, object]]:
    """The planner's own repair, and a coarser cache where the present one is finer."""
    ways: list[dict[str, object]] = [{**problem.fix} for problem in plan.problems if problem.fix]
    del ways[1:]
    coarse = CACHE_TYPES[_COARSE_CACHE].bits_per_value
    if max(CACHE_TYPES[t].bits_per_value for t in (config.cache_type_k, config.cache_type_v)) > (
        coarse
    ):
        way: dict[str, object] = {"cache_type_k": _COARSE_CACHE, "cache_type_v": _COARSE_CACHE}
        if config.flash_attn == "off":
            way["flash_attn"] = "auto"
        ways.append(way)
    return ways
