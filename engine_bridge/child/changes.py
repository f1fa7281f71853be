"""Loads and changes of settings, by the cheapest step that does them.

Knows what replaces what, and what to go back to; must not know slots or steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine_bridge.child.counts_reader import CountsRead, CountsReader
from engine_bridge.child.draft_model import DraftModel
from engine_bridge.child.engine import Engine, EngineLostError, WeightsMoveError
from engine_bridge.child.handed_on import HandedOn
from engine_bridge.child.heap import give_back
from engine_bridge.child.load_faults import CannotLoadError
from engine_bridge.child.loader import Loaded, LoadEnded, LoadJob, RoomWanted
from engine_bridge.child.reports import Reports
from engine_bridge.child.requests import Requests
from engine_bridge.child.stranger import Stamp
from engine_bridge.protocol import (
    UNASKED,
    Applied,
    Apply,
    CancelLoad,
    Event,
    Load,
    LoadProgressed,
    Logged,
    Refused,
    Unloaded,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import cost_of_change, keeps_model
from engine_bridge.settings.row import Applies
from engine_bridge.settings.rules import Problem

_REPLACED = "Another model took this one's place while the answer was running. Ask again."
_RELOADED = (
    "The model was loaded again with other settings while the answer was running. Ask again."
)
_MADE_ROOM = (
    "There was no memory for two models at once, so this one was unloaded to load the next while "
    "the answer was running. Ask again."
)
_UNLOADED_FOR_ROOM = (
    "There is no memory for two models at once, so the one that ran was unloaded to load the next. "
    "It comes back if that fails."
)


class Changes:
    """Carries out ``Load``, ``CancelLoad`` and ``Apply``.

    A load runs beside the old model, which goes on meanwhile. Where memory does not suffice for
    both, the old one goes first and is loaded again if the new one fails. Never two loads at once:
    what was given up must have ended before the next one begins. A draft model is loaded alone.

    Args:
        requests: Who holds the engine.
        reports: Told when slots change, and when memory is about to be asked for.
        put: Brings a job's messages to the loop; called on the job's thread.
        emit: Takes events.
        clock: Time in nanoseconds.
    """

    def __init__(
        self,
        requests: Requests,
        reports: Reports,
        put: Callable[[Any], None],
        emit: Callable[[Event], None],
        clock: Callable[[], int],
    ) -> None:
        """Nothing is under way."""
        self._requests = requests
        self._reports = reports
        self._put = put
        self._emit = emit
        self._clock = clock
        self._reader = CountsReader(put)
        self._job: LoadJob | None = None
        self._command: Load | Apply | None = None
        self._abandoned: list[LoadJob] = []
        self._fallback: EngineConfig | None = None  # what made room, until a model stands again
        self._handed: HandedOn | None = None  # of what made room
        self._proven: frozenset[Stamp] = frozenset()

    @property
    def is_loading(self) -> bool:
        """Whether a model is on its way."""
        return self._job is not None

    def interrupt(self) -> None:
        """Make a load under way give up; from any thread. The loop answers the command.

        Never the return of an old model: whoever is late here could mean the load before it.
        """
        job = self._job
        if job is not None and self._command is not None:
            job.cancel()

    def handle(self, item: Load | Apply | CancelLoad | LoadEnded | RoomWanted | CountsRead) -> None:
        """Do what ``item`` asks for."""
        match item:
            case Load():
                self._give_up("Another load was asked for.")
                self._start(item)
            case Apply():
                self._apply(item)
            case CancelLoad():
                self._cancel()
            case LoadEnded():
                self._load_ended(item)
            case RoomWanted():
                self._make_room(item.job)
            case CountsRead():
                self._counts_read(item)

    def close(self) -> None:
        """Give up what is under way and wait for its threads."""
        self._give_up("The engine is ending.")
        for job in self._abandoned:
            job.join()
        self._reader.close()

    # --- Loads -----------------------------------------------------------------------------

    def _start(self, command: Load | Apply) -> None:
        request_id = command.request_id

        def progressed(fraction: float, stage: str) -> None:
            self._emit(LoadProgressed(request_id=request_id, fraction=fraction, stage=stage))

        engine = self._requests.engine
        keeps = False
        if engine is not None and isinstance(command, Apply):
            keeps = keeps_model(engine.config, command.config)
        self._command = command
        self._begin(LoadJob(command.config, self._put, progressed, keeps_model=keeps))

    def _begin(self, job: LoadJob) -> None:
        self._job = job
        self._start_once_alone()

    def _start_once_alone(self) -> None:
        job, engine = self._job, self._requests.engine
        if job is not None and not job.is_started and not self._abandoned:
            self._reports.make_way()
            job.start(None if engine is None else engine.memory, self._proven)

    def _give_up(self, sentence: str) -> None:
        """Answer what is under way now; its thread ends by itself."""
        for waiting in self._reader.give_up():
            self._refuse(waiting, Problem((), sentence), is_cancelled=True)
        job, command, self._job, self._command = self._job, self._command, None, None
        if job is None:
            return
        job.cancel()
        if job.is_started:
            self._abandoned.append(job)
        if command is not None:
            self._refuse(command, Problem(("model_path",), sentence), is_cancelled=True)

    def _cancel(self) -> None:
        """Give up the load under way; where the old model is on its way back, that too."""
        if self._job is None:
            return
        is_return = self._command is None
        self._give_up("The load was cancelled.")
        if is_return:
            self._lose("The model that ran before was not loaded again: that was cancelled.")
        else:
            self._restore()

    def _lose(self, sentence: str) -> None:
        """There is no model any more, and none is on its way."""
        self._fallback = self._handed = None
        self._requests.set_engine(None, sentence)
        self._requests.take_up_held()
        self._emit(Unloaded(sentence))

    def _make_room(self, job: LoadJob) -> None:
        engine = self._requests.engine
        if job is self._job and engine is not None:
            self._fallback = engine.config
            self._handed = HandedOn(engine, with_cells=False)
            self._requests.set_engine(None, _MADE_ROOM)
            self._emit(Unloaded(_UNLOADED_FOR_ROOM))
        job.give_room()

    def _load_ended(self, ended: LoadEnded) -> None:
        ended.job.join()
        if ended.job is not self._job:
            if ended.loaded is not None:  # it was done before it noticed
                ended.loaded.close()
            if ended.job in self._abandoned:
                self._abandoned.remove(ended.job)
            self._start_once_alone()
            return
        command, self._job, self._command = self._command, None, None
        if isinstance(ended.loaded, DraftModel):
            assert isinstance(command, Apply)
            self._take_draft(ended.loaded, command)
            return
        if ended.loaded is not None:
            self._stand(ended.loaded, command)
            return
        failure = ended.failure
        assert failure is not None
        if command is None:
            self._lose(f"The model that ran before could not be loaded again: {failure}")
        else:
            self._refuse(command, failure.problem, is_cancelled=failure.is_cancelled)
            self._restore()

    def _stand(self, loaded: Loaded, command: Load | Apply | None) -> None:
        """Run what was loaded."""
        self._fallback = None
        engine = Engine(loaded, self._emit, self._clock)
        self._proven |= {engine.stamp}
        if engine.draft is not None:
            self._proven |= {engine.draft.stamp}
        old = self._requests.engine
        is_same = old is not None and old.facts.path == engine.facts.path
        handed, self._handed = self._handed, None
        if old is not None and isinstance(command, Apply):
            handed = HandedOn(old)
        self._requests.set_engine(engine, _RELOADED if is_same else _REPLACED)
        if handed is not None:
            handed.give_to(engine)
        request_id = UNASKED if command is None else command.request_id
        self._applied(request_id, engine, Applies.RELOAD, has_new_model=True)

    def _take_draft(self, draft: DraftModel, command: Apply) -> None:
        """Give the model that runs its new draft model."""
        engine = self._requests.engine
        assert engine is not None
        self._proven |= {draft.stamp}
        self._try_to_apply(command, engine, Applies.RELOAD, draft)
        if engine.draft is not draft:
            draft.close()
        self._requests.take_up_held()

    def _restore(self) -> None:
        """Load again what had to make room; requests that wait are answered afterwards."""
        config = self._fallback
        if config is not None:
            self._emit(Logged("info", "The model that ran before is loaded again."))
            self._begin(LoadJob(config, self._put, lambda fraction, stage: None))
        else:
            self._requests.take_up_held()

    # --- Changes ---------------------------------------------------------------------------

    def _apply(self, command: Apply, *, has_counts: bool = False) -> None:
        engine = self._requests.engine
        if self._job is not None:
            sentence = "A model is being loaded. Wait for it, or cancel it, before other changes."
            self._refuse(command, Problem(("model_path",), sentence))
            return
        if engine is None:
            sentence = "No model is loaded, so nothing can be applied. Load a model first."
            self._refuse(command, Problem(("model_path",), sentence))
            return
        if not has_counts and self._reader.takes(command, engine.config, engine.facts):
            return
        cost = cost_of_change(engine.config, command.config)
        if cost is Applies.RELOAD:
            self._start(command)
            return
        self._try_to_apply(command, engine, cost or Applies.LIVE)

    def _counts_read(self, read: CountsRead) -> None:
        """Make the change that needed them, and those that came behind it."""
        if not self._reader.done(read):
            return
        if read.checked.problem is not None:
            self._refuse(read.command, read.checked.problem)
        else:
            self._apply(read.command, has_counts=True)
        while (command := self._reader.next_one()) is not None:
            self._apply(command)

    def _try_to_apply(
        self, command: Apply, engine: Engine, cost: Applies, draft: DraftModel | None = None
    ) -> None:
        try:
            self._apply_now(command, engine, cost, draft)
        except WeightsMoveError:
            self._start(command)
        except CannotLoadError as error:
            self._refuse(command, error.problem)
        except EngineLostError as error:
            self._refuse(command, error.problem)
            self._lose(error.problem.message)
        self._reports.note_change()

    def _apply_now(
        self, command: Apply, engine: Engine, cost: Applies, draft: DraftModel | None
    ) -> None:
        if cost is not Applies.LIVE:
            self._reports.make_way()
        begin_ns = self._clock()
        if cost is Applies.LIVE:
            engine.apply_live(command.config, (self._clock() - begin_ns) / 1e9)
        else:
            engine.apply_context(command.config, self._clock, draft)
        self._applied(command.request_id, engine, cost, has_new_model=False)
        self._requests.check_waiting()

    def _applied(
        self, request_id: int, engine: Engine, cost: Applies, *, has_new_model: bool
    ) -> None:
        memory = engine.memory
        assert memory.effective is not None
        self._emit(
            Applied(
                request_id=request_id,
                config=engine.config,
                effective=memory.effective,
                cost=cost.value,
                seconds=memory.seconds,
                memory=memory,
                model=engine.facts if has_new_model else None,
            )
        )
        self._reports.note_change()
        if cost is not Applies.LIVE:
            give_back()

    def _refuse(
        self, command: Load | Apply, problem: Problem, *, is_cancelled: bool = False
    ) -> None:
        name = "load" if isinstance(command, Load) else "apply"
        self._emit(Refused(name, command.request_id, problem, is_cancelled=is_cancelled))
