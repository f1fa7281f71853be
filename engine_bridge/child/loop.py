"""The engine's loop: commands in, steps between them, events out.

The same loop runs in the engine process and, given a queue, a sink and a clock, inside a test.
Knows commands; computing is ``batcher``'s, loading ``loader``'s.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from engine_bridge.child import llama
from engine_bridge.child.build_facts import system_info
from engine_bridge.child.changes import Changes
from engine_bridge.child.counts_reader import CountsRead
from engine_bridge.child.inbox import Arrived, Inbox
from engine_bridge.child.loader import LoadEnded, RoomWanted
from engine_bridge.child.planner_thread import Running
from engine_bridge.child.prompts import Renderer
from engine_bridge.child.reports import MeasurePeak, Reports
from engine_bridge.child.requests import Requests
from engine_bridge.child.slot_files import SlotFiles, SlotRead
from engine_bridge.child.template_check import TemplateChecker
from engine_bridge.protocol import (
    PROTOCOL_VERSION,
    Apply,
    AskRoom,
    Cancel,
    CancelLoad,
    CheckTemplate,
    Event,
    Forget,
    Generate,
    Hello,
    Load,
    Plan,
    RestoreSlot,
    SaveSlot,
    SetTemplate,
    Shutdown,
)


class PlanTaker(Protocol):
    """What answers plans on a thread of its own; see ``planner_thread``."""

    def request(self, question: Plan | AskRoom) -> None:
        """Answer ``question`` soon; a newer one replaces one not yet begun."""
        ...


class EngineLoop:
    """Runs on one thread; only ``interrupt``, ``is_busy`` and ``running`` are for others.

    Attributes:
        planner: Takes ``Plan`` and ``AskRoom``; without one they are not answered.

    Args:
        inbox: Where commands arrive.
        emit: Takes events; called from worker threads too.
        renderer: Renders chat templates.
        measure_bandwidth: Measures the peak while nothing else happens; None never does.
        clock: Time in nanoseconds.
    """

    def __init__(
        self,
        inbox: Inbox,
        emit: Callable[[Event], None],
        renderer: Renderer,
        measure_bandwidth: MeasurePeak | None = None,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        """Start the worker threads."""
        self._inbox = inbox
        self._emit = emit
        self.planner: PlanTaker | None = None
        self._clock = clock
        self._reports = Reports(emit, clock, measure_bandwidth)
        self._requests = Requests(renderer, inbox.put, emit, clock)
        self._changes = Changes(self._requests, self._reports, inbox.put, emit, clock)
        self._slot_files = SlotFiles(self._requests, inbox.put, emit, clock)
        self._templates = TemplateChecker(self._requests.vocabulary_lock, emit)
        self._is_over = False
        inbox.on_put = self.interrupt

    def greet(self) -> None:
        """Say hello; the first event of a process."""
        self._emit(
            Hello(
                protocol_version=PROTOCOL_VERSION,
                pid=os.getpid(),
                clock_ns=self._clock(),
                binding_version=llama.BINDING_VERSION,
                system_info=system_info(),
                devices=llama.GGML.devices(),
                has_rpc=llama.has_rpc(),
            )
        )

    def run(self) -> None:
        """Work until told to shut down."""
        while not self._is_over:
            self.turn()

    def turn(self) -> None:
        """Take what has arrived, then compute one step, or wait for something to do."""
        if not self._inbox:
            is_busy = self._requests.is_busy
            wait_s = self._requests.gathering_s() if is_busy else self._reports.wait_s()
            if wait_s > 0 or not is_busy:
                self._inbox.wait(wait_s)
        while (arrived := self._inbox.take()) is not None:
            self._requests.settle()
            self._handle(arrived)
        self._requests.turn(self._inbox.__bool__)
        is_quiet = self._requests.is_idle and not self._changes.is_loading
        self._reports.turn(self._requests.engine, is_quiet=is_quiet)

    def is_busy(self) -> bool:
        """Whether streams run."""
        return self._requests.is_busy

    def running(self) -> Running:
        """What the engine runs."""
        engine = self._requests.engine
        if engine is None:
            return Running()
        kept = engine.batcher.reuse.cache.bytes
        memory = msgspec.structs.replace(engine.memory, host_kept=kept)
        return Running(engine.paths, memory, engine.config)

    def close(self) -> None:
        """End the worker threads and free everything."""
        self._templates.close()
        self._changes.close()
        self._slot_files.close()
        while (arrived := self._inbox.take()) is not None:
            if isinstance(arrived.item, LoadEnded) and arrived.item.loaded is not None:
                arrived.item.loaded.close()
        self._requests.close()
        self._reports.close()

    def interrupt(self, item: Any) -> None:  # noqa: ANN401 - whatever was put into the inbox
        """Reach into a running step or load for what must not wait for its end."""
        match item:
            case Cancel(request_id=request_id):
                self._requests.interrupt(request_id)
            case CancelLoad() | Shutdown():
                self._changes.interrupt()
                self._requests.interrupt(None)
            case (Plan() | AskRoom()) as question:
                # A step that reads a prompt may last ten seconds; nobody waits so long for bytes.
                if self.planner is not None:
                    self.planner.request(question)
            case _:
                pass

    def _handle(self, arrived: Arrived) -> None:
        match arrived.item:
            case Generate() as command:
                self._requests.generate(command, arrived.at_ns, is_loading=self._changes.is_loading)
            case Cancel(request_id=request_id):
                self._requests.cancel(request_id)
                self._reports.note_change()  # there may be no step any more that tells it
            case Forget(conversation_id=conversation_id):
                self._requests.forget(conversation_id)
                self._reports.note_change()
            case SaveSlot() | RestoreSlot() | SlotRead() as item:
                self._slot_files.handle(item, arrived.at_ns)
                self._reports.note_change()
            case (
                Load() | Apply() | CancelLoad() | LoadEnded() | RoomWanted() | CountsRead() as item
            ):
                self._changes.handle(item)
            case Plan() | AskRoom():
                pass  # the planner has it since it arrived
            case SetTemplate(template=template):
                self._requests.set_template(template)
            case CheckTemplate() as check:
                engine = self._requests.engine
                self._templates.check(check, None if engine is None else engine.source)
            case Shutdown():
                self._is_over = True
            case ready:
                self._requests.prompt_ready(ready, is_loading=self._changes.is_loading)
