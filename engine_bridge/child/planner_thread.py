"""When to plan: the newest question, seldom while streams run, never before them; then what fits.

Knows threads and time; what a plan says is ``planner``'s.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

import engine_bridge
from engine_bridge.child.llama import GGML
from engine_bridge.child.plan_once import Refusal, Request, read_answer
from engine_bridge.child.planner import OutdatedError, Planner, PlanRefusedError
from engine_bridge.child.stranger import Look, of_overrides
from engine_bridge.gguf_window import shown_name
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.memory_room import RoomFigures
from engine_bridge.own_failure import end_of, innocent_sentence, overdue_sentence
from engine_bridge.protocol import AskRoom, Event, Plan, PlanReady, Refused, RoomFound
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import keeps_model
from engine_bridge.settings.rules import Problem

# At 10 a second dry runs take up to 4 % of a stream's speed, at 30 up to 14 %.
_LEAST_INTERVAL_S = 0.1
# Behind the decode threads, but never out of reach: at the very lowest priority spinning threads
# starve it for seconds, and the loop would wait for it whenever it holds the interpreter's lock.
_STEPS_BACK, _NEAR_THE_LOWEST = 5, 18
_THROWAWAY_S = 60.0
# What of a configuration can harm the process that meets it first: patterns that never end, sizes
# that no model has, a worker that hangs up, tensors that cannot be cut.
_NEVER_NEW_HERE = ("override_kv", "override_tensor", "rpc_servers", "split_mode")


class Running(NamedTuple):
    """What the engine runs.

    Attributes:
        paths: Files of the loaded model and of its draft model.
        memory: What they occupy, None if there is none.
        config: What they were loaded for.
    """

    paths: tuple[str, ...] = ()
    memory: MemoryPlan | None = None
    config: EngineConfig | None = None


_CHANGED = (
    "TuneDeck was changed on the disk while it runs, so memory can no longer be predicted. Close "
    "it and start it again; your chats are kept."
)
_NOT_HERE = Problem(
    (),
    "What fits is known once this change is applied: what is new to the engine is planned in a "
    "process of its own, one question at a time.",
)


class PlannerThread:
    """Answers ``Plan`` commands with ``PlanReady`` or ``Refused`` on a thread of its own.

    A question replaces an older one that is not yet begun; that one is never answered. What fits
    (``AskRoom``) is many dry runs: a plan goes before it, and it begins anew after that. The models
    that are loaded are planned here; any other file is a stranger and is planned in a process that
    may die of it.
    """

    def __init__(
        self,
        sink: Callable[[Event], None],
        *,
        is_busy: Callable[[], bool],
        running: Callable[[], Running],
    ) -> None:
        """Start the thread.

        Args:
            sink: Takes events, from this thread.
            is_busy: Whether streams run; asked from this thread.
            running: What the engine runs; asked from this thread.
        """
        self._sink = sink
        self._is_busy = is_busy
        self._running = running
        self._changed = threading.Condition()
        self._waiting: Plan | None = None
        self._room_waiting: AskRoom | None = None
        self._is_searching = False
        self._run_s = -_LEAST_INTERVAL_S
        self._is_stopping = False
        self._stranger: subprocess.Popen[bytes] | None = None
        self._look = Look()
        self._thread = threading.Thread(target=self._work, name="planner", daemon=True)
        self._thread.start()

    def request(self, question: Plan | AskRoom) -> None:
        """Ask; returns at once."""
        with self._changed:
            if isinstance(question, AskRoom):
                self._room_waiting = question
            else:
                self._waiting = question
            self._changed.notify()

    def stop(self) -> None:
        """End the thread, a plan under way included; what was asked is not answered any more."""
        with self._changed:
            self._is_stopping = True
            self._waiting = self._room_waiting = None
            if self._stranger is not None:
                self._stranger.kill()
            self._look.stop()
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        _step_back()
        planner = Planner(is_outdated=self._is_outdated)
        begun_s = -_LEAST_INTERVAL_S
        try:
            while (question := self._next(begun_s)) is not None:
                begun_s = time.monotonic()
                self._is_searching = isinstance(question, AskRoom)
                event = self._answer(planner, question)
                if event is not None and not self._is_stopping:
                    self._sink(event)
        finally:
            planner.close()

    def _next(self, begun_s: float) -> Plan | AskRoom | None:
        """Wait for a question, and while streams run for its time; None at the end."""
        with self._changed:
            while not self._is_stopping:
                rest_s = begun_s + _LEAST_INTERVAL_S - time.monotonic()
                if self._waiting is None and self._room_waiting is None:
                    self._changed.wait()
                elif rest_s > 0 and self._is_busy():
                    self._changed.wait(rest_s)
                elif self._waiting is not None:
                    question, self._waiting = self._waiting, None
                    return question
                else:
                    search, self._room_waiting = self._room_waiting, None
                    return search
        return None

    def _is_outdated(self) -> bool:
        """Whether a newer question waits, so that a long search for this one is given up."""
        is_plan_waiting = self._waiting is not None
        is_newer_waiting = self._is_searching and self._room_waiting is not None
        return self._is_stopping or is_plan_waiting or is_newer_waiting

    def _pause(self) -> None:
        """Before a dry run of a search: while streams run as seldom as plans."""
        with self._changed:
            while not self._is_outdated() and self._is_busy():
                rest_s = self._run_s + _LEAST_INTERVAL_S - time.monotonic()
                if rest_s <= 0:
                    break
                self._changed.wait(rest_s)
            self._run_s = time.monotonic()

    def _answer(self, planner: Planner, question: Plan | AskRoom) -> Event | None:
        try:
            if isinstance(question, AskRoom):
                return RoomFound(question.room_id, self._room(planner, question.config))
            return PlanReady(question.plan_id, self._plan(planner, question.config))
        except OutdatedError:
            self._take_up_later(question)
            return None
        except PlanRefusedError as refused:
            problem = refused.problem
        except Exception as error:  # a mistake of ours must not end all planning
            traceback.print_exc()
            problem = Problem((), f"Planning failed by a mistake in TuneDeck: {error!r}.")
        if isinstance(question, AskRoom):
            return RoomFound(question.room_id, problem=problem)
        return Refused("plan", question.plan_id, problem)

    def _plan(self, planner: Planner, config: EngineConfig) -> MemoryPlan:
        running = self._running()
        keeps = running.config is not None and keeps_model(running.config, config)
        if self._may_be_planned_here(config, running):
            return planner.plan(config, running.memory, keeps_model=keeps)
        return self._plan_stranger(Request(config, running.memory, keeps_model=keeps))

    def _room(self, planner: Planner, config: EngineConfig) -> RoomFigures:
        running = self._running()
        keeps = running.config is not None and keeps_model(running.config, config)
        if not self._may_be_planned_here(config, running):
            raise PlanRefusedError(_NOT_HERE)
        return planner.room(config, running.memory, keeps_model=keeps, pause=self._pause)

    def _take_up_later(self, question: Plan | AskRoom) -> None:
        """A search that made way for a plan begins anew, unless a newer one waits."""
        with self._changed:
            is_wanted = not self._is_stopping and self._room_waiting is None
            if is_wanted and isinstance(question, AskRoom):
                self._room_waiting = question

    def _may_be_planned_here(self, config: EngineConfig, running: Running) -> bool:
        """Whether nothing of ``config`` is new to this process; a stranger on workers is looked at.

        A worker serves one connection at a time: what lies on one that the engine holds can be
        planned nowhere else.

        Raises:
            PlanRefusedError: If the look ends badly.
        """
        known = running.config
        is_known = known is not None and all(
            getattr(config, key) == getattr(known, key) for key in _NEVER_NEW_HERE
        )
        if is_known and _files_of(config) <= set(running.paths):
            return True
        if not GGML.holds_any(config.rpc_servers):
            return False
        with self._changed:
            self._look = Look()
        if self._is_stopping:
            raise OutdatedError
        problem = self._look.problem_of(config)
        if problem is not None:
            raise PlanRefusedError(problem)
        return True

    def _plan_stranger(self, question: Request) -> MemoryPlan:
        name = shown_name(question.config.model_path)
        with tempfile.TemporaryFile() as errors:
            process = self._start_stranger(errors)
            if process is None:
                raise PlanRefusedError(_stranger_problem("The engine is ending."))
            request = msgspec.json.encode(question)
            try:
                answer, _ = process.communicate(request, timeout=_THROWAWAY_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise PlanRefusedError(_stranger_problem(overdue_sentence(name))) from None
            finally:
                with self._changed:
                    self._stranger = None
            innocent = innocent_sentence(process.returncode, end_of(errors), name)
        return _plan_in(answer, process.returncode, innocent, question.config)

    def _start_stranger(self, errors: IO[bytes]) -> subprocess.Popen[bytes] | None:
        """The throwaway process, where ``stop`` can find it; None once stopping."""
        with self._changed:
            if self._is_stopping:
                return None
            self._stranger = subprocess.Popen(
                [sys.executable, "-m", "engine_bridge.child.plan_once"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"GGML_NO_BACKTRACE": "1"},
                cwd=Path(engine_bridge.__file__).parent.parent,
            )
            return self._stranger


def _files_of(config: EngineConfig) -> set[str]:
    """The files a plan of ``config`` reads."""
    draft = config.draft
    return {config.model_path} if draft is None else {config.model_path, draft.model_path}


def _plan_in(answer: bytes, status: int, innocent: str, config: EngineConfig) -> MemoryPlan:
    try:
        read = read_answer(answer)
    except msgspec.ValidationError:
        # A whole answer, of another make: that process runs what lies on the disk now.
        raise PlanRefusedError(Problem((), _CHANGED)) from None
    except msgspec.DecodeError:
        if innocent:
            raise PlanRefusedError(Problem((), innocent)) from None
        if config.override_kv:
            raise PlanRefusedError(of_overrides(config, status)) from None
        raise PlanRefusedError(
            _stranger_problem(
                f"llama.cpp ended (status {status}) while it looked at "
                f"{shown_name(config.model_path)}; the file may be damaged or of a kind it does "
                "not support. Choose another file."
            )
        ) from None
    if isinstance(read, Refusal):
        raise PlanRefusedError(_stranger_problem(read.error))
    return read.plan


def _stranger_problem(message: str) -> Problem:
    return Problem(("model_path",), message)


def _step_back() -> None:
    """Give this thread a lower priority than the process's, where threads have one (Linux)."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        own = os.getpriority(os.PRIO_PROCESS, thread)
        # Never a higher one, which the system refuses: the whole program may run at a low one.
        os.setpriority(os.PRIO_PROCESS, thread, max(own, min(own + _STEPS_BACK, _NEAR_THE_LOWEST)))
