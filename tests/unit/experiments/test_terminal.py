"""An experiment on the command line: progress, Ctrl+C, endings."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import threading
from collections.abc import Callable

import msgspec
import pytest

from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from app.experiments.port import EngineGoneError, StoppedError
from app.experiments.reporter import Reporter
from app.experiments.terminal import Terminal, conduct, duration_text
from app.storage.storage_error import StorageError

_FIGURES = Figures(tpot_s=0.02, requests=3, new_tok=9, duration_s=1.0)


def experiment(state: State = State.DONE, runs: int = 1, failure: str = "") -> Experiment:
    """An experiment that ended."""
    cell = Cell("defaults", runs=(_FIGURES,) * runs, disturbed=("",) * runs)
    return Experiment(
        "20261130-110036-3f9a2c", Kind.BENCH, "2026-11-30T11:00:36+00:00", state, "Toy, chat",
        Subject(model="Toy"), cells=(cell,), failure=failure,
    )  # fmt: skip


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Conducted:
    """What came out of ``conduct``."""

    def __init__(
        self,
        work: Callable[[Reporter], Experiment],
        *,
        stop: Callable[[], None] = lambda: None,
        as_json: bool = False,
        as_object: Callable[[Experiment], object] | None = None,
        keep: Callable[[Experiment], None] | None = None,
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.left: list[int] = []
        self.status = conduct(
            work, stop=stop, lines=lambda found: [found.title, "a table"], as_json=as_json,
            as_object=as_object, keep=keep, out=out, err=err, leave=self.left.append,
        )  # fmt: skip
        self.out, self.err = out.getvalue(), err.getvalue()


# --- Endings -------------------------------------------------------------------------------


def test_that_a_result_is_printed_for_people() -> None:
    done = _Conducted(lambda _: experiment())
    assert (done.status, done.out, done.err) == (0, "Toy, chat\na table\n", "")


def test_that_a_result_is_one_json_object() -> None:
    done = _Conducted(lambda _: experiment(), as_json=True)
    assert done.status == 0
    assert msgspec.json.decode(done.out, type=Experiment) == experiment()
    assert len(done.out.splitlines()) == 1
    assert json.loads(done.out)["kind"] == "bench"


def test_that_json_may_have_more_than_the_experiment() -> None:
    def told(found: Experiment) -> object:
        return {"key": found.key, "command_line": "llama-server"}

    done = _Conducted(lambda _: experiment(), as_json=True, as_object=told)
    assert json.loads(done.out) == {"key": experiment().key, "command_line": "llama-server"}
    assert "a table" in _Conducted(lambda _: experiment(), as_object=told).out


def test_that_a_failure_in_the_middle_is_told_below_what_was_measured() -> None:
    done = _Conducted(lambda _: experiment(State.FAILED, 2, "The engine was killed."))
    assert done.status == 1
    assert "a table" in done.out
    assert done.err == "The engine was killed.\nThe 2 runs that had ended are kept.\n"


def test_that_no_table_of_nothing_is_printed() -> None:
    done = _Conducted(lambda _: experiment(State.FAILED, 0, "The file is no model."))
    assert (done.status, done.out, done.err) == (1, "", "The file is no model.\n")


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (0, "Stopped before a run had ended.\n"),
        (1, "Stopped; the one run that had ended is kept.\n"),
        (3, "Stopped; the 3 runs that had ended are kept.\n"),
    ],
)
def test_that_a_stopped_experiment_says_what_is_kept(runs: int, said: str) -> None:
    done = _Conducted(lambda _: experiment(State.STOPPED, runs))
    assert (done.status, done.err) == (130, said)
    assert bool(done.out) is bool(runs)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (EngineGoneError("The engine is gone."), 1, "The engine is gone.\n"),
        (StorageError("The disk is full."), 1, "The disk is full.\n"),
        (StoppedError("Stopped."), 130, "Stopped before anything was measured.\n"),
    ],
)
def test_that_an_error_with_a_sentence_is_told_without_a_traceback(
    error: Exception, status: int, said: str
) -> None:
    def work(_: Reporter) -> Experiment:
        raise error

    done = _Conducted(work)
    assert (done.status, done.out, done.err) == (status, "", said)
    told = _Conducted(work, as_json=True)
    assert (told.status, told.err) == (status, said)
    assert json.loads(told.out) == {"error": said.removesuffix("\n")}


def test_that_a_fault_of_this_program_is_not_hidden() -> None:
    def work(_: Reporter) -> Experiment:
        raise KeyError("a fault")

    with pytest.raises(KeyError, match="a fault"):
        _Conducted(work)


# --- Ctrl+C --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_that_one_interrupt_stops_in_good_order(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    stopped = threading.Event()

    def work(_: Reporter) -> Experiment:
        os.kill(os.getpid(), number)
        assert stopped.wait(10.0)
        return experiment(State.STOPPED, 2)

    done = _Conducted(work, stop=stopped.set)
    assert done.status == 130
    assert done.err.startswith("Stopping; what was measured is kept.")
    assert "the 2 runs that had ended are kept" in done.err
    assert done.left == []
    assert signal.getsignal(number) is before


def test_that_a_second_interrupt_ends_at_once() -> None:
    asked, released = threading.Event(), threading.Event()

    def stop() -> None:  # whoever waits for an engine that does not answer asks once more
        asked.set()
        os.kill(os.getpid(), signal.SIGINT)

    def work(_: Reporter) -> Experiment:
        os.kill(os.getpid(), signal.SIGINT)
        released.wait(10.0)
        return experiment()

    done = _Conducted(work, stop=stop)
    released.set()
    assert asked.is_set()
    assert done.left == [130]
    assert (done.status, done.out) == (130, "")
    assert "Ended at once" in done.err


# --- Progress ------------------------------------------------------------------------------


def test_that_elsewhere_than_on_a_terminal_every_part_has_a_line() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream=stream)
    terminal.progressed(0.0, "Warm-up", None)
    terminal.progressed(0.1, "Warm-up", 50.0)
    terminal.progressed(0.5, "Run 1 of 1", 200.0)
    terminal.clear()
    assert stream.getvalue() == "  0%  Warm-up\n 50%  Run 1 of 1 · 3 min left\n"


def test_that_on_a_terminal_one_line_is_rewritten_and_taken_away() -> None:
    stream, now_s = _Tty(), [0.0]
    terminal = Terminal(stream=stream, clock=lambda: now_s[0])
    terminal.progressed(0.0, "Warm-up, a long line", None)
    now_s[0] = 0.05
    terminal.progressed(0.1, "Warm-up, a long line", None)  # too soon to be seen
    now_s[0] = 1.0
    terminal.progressed(0.5, "Run 1", 5.0)
    terminal.clear()
    written = stream.getvalue()
    assert "\n" not in written
    assert " 10%" not in written
    assert "\x1b" not in written
    lines = written.split("\r")
    first = "  0%  Warm-up, a long line"
    assert first in lines
    assert " 50%  Run 1 · 5 s left".ljust(len(first)) in lines  # nothing of the longer one is left
    assert lines[-1] == ""
    assert lines[-2].strip() == ""


def test_that_a_sentence_stands_above_the_line_of_progress() -> None:
    stream = _Tty()
    terminal = Terminal(stream=stream)
    terminal.progressed(0.25, "Run 1", None)
    terminal.say("Something to know.")
    shown = stream.getvalue().split("\n")
    assert shown[0].endswith("Something to know.")
    assert shown[1].strip("\r").startswith(" 25%  Run 1")


def test_that_a_line_never_reaches_the_last_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream = _Tty()
    Terminal(stream=stream).progressed(0.5, "x" * 100, None)
    assert max(len(part) for part in stream.getvalue().split("\r")) == 39


def test_that_a_terminal_that_was_made_narrower_does_not_scroll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    stream = _Tty()
    terminal = Terminal(stream=stream)
    terminal.progressed(0.5, "x" * 100, None)
    monkeypatch.setenv("COLUMNS", "20")
    before = len(stream.getvalue())
    terminal.progressed(0.6, "y" * 100, None)
    terminal.clear()
    assert max(len(part) for part in stream.getvalue()[before:].split("\r")) == 19


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (100, "2 min"), (5000, "83 min"), (5400, "1 h 30 min")],
)
def test_that_a_time_to_wait_is_rounded(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


# --- Keeping -------------------------------------------------------------------------------


def test_that_every_part_is_kept() -> None:
    kept: list[Experiment] = []

    def work(reporter: Reporter) -> Experiment:
        reporter.kept(experiment(State.RUNNING, 1))
        reporter.kept(experiment(State.DONE, 2))
        return experiment(State.DONE, 2)

    assert _Conducted(work, keep=kept.append).status == 0
    assert [len(found.cells[0].runs) for found in kept] == [1, 2]


class _Full(io.StringIO):
    """An error stream on a full disk, or of a terminal that was closed."""

    def write(self, text: str, /) -> int:
        raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_that_an_error_stream_that_takes_nothing_ends_no_measurement(is_terminal: bool) -> None:
    err, out = _Full(), io.StringIO()
    err.isatty = lambda: is_terminal  # type: ignore[method-assign]

    def work(reporter: Reporter) -> Experiment:
        reporter.progressed(0.5, "Run 1 of 1", None)
        return experiment()

    status = conduct(
        work, stop=lambda: None, lines=lambda found: [found.title], out=out, err=err,
        leave=lambda _: None,
    )  # fmt: skip
    assert (status, out.getvalue()) == (0, "Toy, chat\n")


def test_that_no_name_moves_the_terminal_about() -> None:
    title = "Toy\x1b[2J, chat"
    done = _Conducted(lambda _: msgspec.structs.replace(experiment(), title=title))
    assert done.out.startswith("Toy\\x1b[2J, chat\n")


def test_that_a_full_disk_is_told_once_and_stops_nothing() -> None:
    def keep(_: Experiment) -> None:
        raise StorageError("The disk is full.")

    def work(reporter: Reporter) -> Experiment:
        for _ in range(3):
            reporter.kept(experiment(State.RUNNING))
        return experiment()

    done = _Conducted(work, keep=keep)
    assert (done.status, done.err) == (0, "The disk is full.\n")
    assert "a table" in done.out
