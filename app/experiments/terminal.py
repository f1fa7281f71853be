"""An experiment on the command line: how far it is, Ctrl+C, and what it ends with.

``conduct`` runs any experiment: progress goes to the error stream, the result to the output, every
failure is a sentence. One Ctrl+C stops it in good order and keeps what was measured, a second one
ends the program at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TextIO

from app.experiments.experiment import Experiment, State
from app.experiments.port import PortError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.workload_error import WorkloadError
from app.json_output import write_json
from app.plain_output import printable, silence
from app.planning import PlanningError
from app.storage.storage_error import StorageError
from engine_bridge.settings.domain import DomainError

SENTENCES: tuple[type[Exception], ...] = (
    PortError, WorkloadError, DomainError, PlanningError, StorageError,
)  # fmt: skip
"""Errors whose message is a sentence for the user; others are faults of this program."""

STOPPED_STATUS = 130
"""Exit status after Ctrl+C, as shells have it: 128 + SIGINT."""

# The last one: the terminal was closed.
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
# How long a Ctrl+C may wait until somebody looks; joins without an end ignore it on Windows.
_LOOK_S = 0.1
# A terminal that is written to more often only costs the cores that are measured.
_LEAST_PAUSE_S = 0.2
_WAYS_TO_STOP = "Stopping; what was measured is kept. Ctrl+C again ends at once."


class Terminal:
    """Listens to an experiment and tells whoever sits at the terminal.

    On a terminal one line is rewritten; elsewhere every part of the experiment gets a line.
    """

    def __init__(
        self,
        keep: Callable[[Experiment], None] | None = None,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to ``stream``, the error stream by default.

        Args:
            keep: Writes an experiment down after each of its parts; None keeps nothing.
            stream: Where progress goes.
            clock: Seconds, for how often the line is written.
        """
        self._keep = keep
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._lock = threading.Lock()
        self._is_terminal = self._stream.isatty()
        self._shown = ""
        self._part = ""
        self._written_s = -1e9
        self._has_told_loss = False
        self._is_lost = False

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        """See ``Reporter``: ``sentence`` is the same throughout a part, ``share`` moves on."""
        with self._lock:
            is_new, self._part = sentence != self._part, sentence
            if not self._is_terminal:
                if is_new:
                    self._write(_progress_text(share, sentence, left_s) + "\n")
                return
            now_s = self._clock()
            if is_new or now_s - self._written_s >= _LEAST_PAUSE_S:
                self._written_s = now_s
                self._show(_progress_text(share, sentence, left_s))

    def kept(self, experiment: Experiment) -> None:
        """Write ``experiment`` down; a disk that fails is told once and stops no measurement."""
        if self._keep is None:
            return
        try:
            self._keep(experiment)
        except StorageError as error:
            if not self._has_told_loss:
                self._has_told_loss = True
                self.say(str(error))

    def say(self, sentence: str) -> None:
        """A line of its own, above the progress."""
        with self._lock:
            shown = self._shown
            self._show("")
            self._write(printable(sentence) + "\n")
            self._show(shown)

    def clear(self) -> None:
        """Take the line of progress away."""
        with self._lock:
            self._show("")

    def _show(self, text: str) -> None:
        """Put ``text`` in place of the line of progress."""
        if self._is_terminal and (text or self._shown):
            # A line that reaches the last column would scroll, as what is wiped out would in a
            # terminal that was made narrower.
            width = max(0, shutil.get_terminal_size().columns - 1)
            text = text[:width]
            wiped = text.ljust(min(len(self._shown), width))
            self._write("\r" + wiped + ("" if text else "\r"))
            self._shown = text

    def _write(self, text: str) -> None:
        """Write and flush; a stream that takes nothing (any more) ends no measurement."""
        if self._is_lost:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._is_lost = True
            silence(self._stream)


def conduct(
    work: Callable[[Reporter], Experiment],
    *,
    stop: Callable[[], None],
    lines: Callable[[Experiment], Sequence[str]],
    as_json: bool = False,
    as_object: Callable[[Experiment], object] | None = None,
    keep: Callable[[Experiment], None] | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
    leave: Callable[[int], object] = os._exit,
) -> int:
    """Do ``work`` in a thread of its own and print what it ends with.

    Called on the main thread, which listens to Ctrl+C meanwhile.

    Args:
        work: The experiment; raises one of ``SENTENCES``, or returns what it has.
        stop: Makes ``work`` end soon; called from the main thread.
        lines: The result for people.
        as_json: Print it as one JSON object instead, ``{"error": sentence}`` where there is none.
        as_object: What is printed as JSON of what it ends with; that itself by default.
        keep: Writes an experiment down after each of its parts; None keeps nothing.
        out: Where the result goes; the standard output by default.
        err: Where progress and failures go; the error stream by default.
        leave: Ends the process.

    Returns:
        The exit status: 0 done, 1 failed, 130 stopped.

    Raises:
        Exception: Whatever ``work`` raised that is none of ``SENTENCES``.
    """
    terminal = Terminal(keep, stream=err)
    task = _Task(work, terminal)
    with _Interrupts() as interrupts:
        task.start()
        told = 0
        while task.is_alive():
            task.join(_LOOK_S)
            if interrupts.count > told:
                told = interrupts.count
                if told > 1:
                    terminal.clear()
                    terminal.say("Ended at once; the run that was going on is lost.")
                    leave(STOPPED_STATUS)
                    return STOPPED_STATUS
                terminal.say(_WAYS_TO_STOP)
                stop()
    terminal.clear()
    shown = None
    if as_json:
        shown = as_object or _as_it_is
    return _finish(task, terminal, lines, as_object=shown, out=out or sys.stdout)


# --- Inside -----------------------------------------------------------------------------


class _Task(threading.Thread):
    """The experiment in its thread, with what it ended with.

    Attributes:
        result: What it returned; None if it raised, or has not ended.
        error: What it raised.
    """

    def __init__(self, work: Callable[[Reporter], Experiment], reporter: Reporter) -> None:
        # Whoever ends at once does not wait for it.
        super().__init__(name="experiment", daemon=True)
        self._work = work
        self._reporter = reporter
        self.result: Experiment | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._work(self._reporter)
        except BaseException as error:  # raised again, or told, on the main thread
            self.error = error


class _Interrupts:
    """Counts what asks the program to end, while it is entered.

    Attributes:
        count: How often it was asked.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[int, object] = {}

    def __enter__(self) -> _Interrupts:
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            # What is ignored already stays so.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        self.count += 1


def _as_it_is(experiment: Experiment) -> object:
    return experiment


def _finish(
    task: _Task,
    terminal: Terminal,
    lines: Callable[[Experiment], Sequence[str]],
    *,
    as_object: Callable[[Experiment], object] | None,
    out: TextIO,
) -> int:
    error, experiment = task.error, task.result
    if isinstance(error, SENTENCES):
        is_stop = isinstance(error, StoppedError)
        sentence = "Stopped before anything was measured." if is_stop else str(error)
        terminal.say(sentence)
        if as_object:
            write_json({"error": sentence}, out)
        return STOPPED_STATUS if is_stop else 1
    if error is not None:
        raise error
    if experiment is None:
        return 1
    if as_object:
        write_json(as_object(experiment), out)
    elif experiment.state is State.DONE or any(c.runs or c.extra for c in experiment.cells):
        out.write(printable("\n".join(lines(experiment))) + "\n")
    out.flush()
    return _told_end(experiment, terminal)


def _told_end(experiment: Experiment, terminal: Terminal) -> int:
    """Say how it ended where it did not end as asked for; gives the exit status."""
    runs = sum(len(cell.runs) for cell in experiment.cells)
    if experiment.state is State.FAILED:
        terminal.say(experiment.failure or "The experiment failed.")
        if runs:
            terminal.say("The run that had ended is kept." if runs == 1
                         else f"The {runs} runs that had ended are kept.")  # fmt: skip
        return 1
    if experiment.state is not State.STOPPED:
        return 0
    if not runs and any(cell.extra for cell in experiment.cells):
        terminal.say("Stopped; what was measured until then is kept.")
    elif not runs:
        terminal.say("Stopped before a run had ended.")
    elif runs == 1:
        terminal.say("Stopped; the one run that had ended is kept.")
    else:
        terminal.say(f"Stopped; the {runs} runs that had ended are kept.")
    return STOPPED_STATUS


def _progress_text(share: float, sentence: str, left_s: float | None) -> str:
    text = f"{min(1.0, max(0.0, share)):4.0%}  {printable(sentence)}"
    return text if left_s is None else f"{text} · {duration_text(left_s)} left"


def duration_text(seconds: float) -> str:
    """A duration to wait for, rounded as befits one: ``8 s``, ``2 min``, ``1 h 20 min``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
