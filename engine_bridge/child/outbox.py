"""Events on their way to the window: bounded, merged while the pipe is full, never in the way.

Knows which events may be merged or replaced; must not know what produces them.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
import time
from collections.abc import Callable, Hashable

import msgspec

from engine_bridge.protocol import (
    Event,
    LoadProgressed,
    Logged,
    MemoryMeasured,
    PlanReady,
    RequestQueued,
    StepProgressed,
    StepsMeasured,
    TokensDelivered,
    encode,
)
from engine_bridge.step_work import merged

# Everything but log lines is bounded by the commands that caused it.
_MOST_LOG_LINES = 256


class Outbox:
    """Writes events to a pipe from a thread of its own.

    What waits for a window that stalls stays small: tokens of one request become one event,
    measurements are added up or replaced. The order of what is left is kept.

    Args:
        descriptor: The pipe's file descriptor, in blocking mode.
        on_broken: Called once nobody reads any more.
    """

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        """Start the thread."""
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._waiting: list[list[Event]] = []  # each becomes one event when it is written
        self._open: dict[Hashable, list[Event]] = {}  # what newer events of a kind merge into
        self._log_lines = 0
        self._is_closing = False
        self._is_waiting = False  # whether the writer has to be woken
        self._changing = threading.Lock()
        # Not a condition: a thread that wakes from one holds its lock while it waits for its turn
        # to run, and the loop would wait at the next event until this one is written.
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="pipe-writer", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Queue ``event``; never blocks on the pipe."""
        with self._changing:
            key = _merge_key(event)
            lying = self._open.get(key)
            if lying is not None:
                _merge(lying, event)
                return
            if isinstance(event, Logged):
                if self._log_lines >= _MOST_LOG_LINES:
                    return
                self._log_lines += 1
            entry = [event]
            if key is None:
                # What follows must not slip in front of this event of the same request.
                request_id = getattr(event, "request_id", None)
                self._open.pop((TokensDelivered, request_id), None)
                self._open.pop((LoadProgressed, request_id), None)
            else:
                self._open[key] = entry
            self._waiting.append(entry)
            self._wake()

    def close(self) -> None:
        """Write what waits and end the thread."""
        with self._changing:
            self._is_closing = True
            self._wake()
        self._thread.join()

    def _wake(self) -> None:
        if self._is_waiting:
            self._is_waiting = False
            self._bell.put(None)

    def _taken(self) -> list[list[Event]]:
        """What waits, as soon as there is something; nothing once it is closed."""
        while True:
            with self._changing:
                entries, self._waiting = self._waiting, []
                self._open.clear()
                self._log_lines = 0
                if entries or self._is_closing:
                    return entries
                self._is_waiting = True
            self._bell.get()

    def _run(self) -> None:
        while entries := self._taken():
            if not self._write(b"".join(_encoded(entry) for entry in entries)):
                self._on_broken()
                return

    def _write(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError:
                return False
        return True


def _encoded(entry: list[Event]) -> bytes:
    event = entry[0]
    if isinstance(event, TokensDelivered):
        event = _joined([part for part in entry if isinstance(part, TokensDelivered)])
    return encode(event)


def _joined(parts: list[TokensDelivered]) -> TokensDelivered:
    """Many as one; joined only here, since adding each to the sum would take quadratic time."""
    return TokensDelivered(
        request_id=parts[0].request_id,
        text="".join([part.text for part in parts]),
        step_ns=tuple(itertools.chain.from_iterable(part.step_ns for part in parts)),
        step_tok=tuple(itertools.chain.from_iterable(part.step_tok for part in parts)),
        sent_ns=time.perf_counter_ns(),
        think_tok=parts[-1].think_tok,
    )


def _merge_key(event: Event) -> Hashable | None:
    match event:
        case TokensDelivered() | RequestQueued() | LoadProgressed():
            return type(event), event.request_id
        case StepsMeasured() | StepProgressed() | MemoryMeasured() | PlanReady():
            return type(event)
        case _:
            return None


def _merge(entry: list[Event], newer: Event) -> None:
    """Add ``newer`` to an entry of its kind, or let it take the place of what lies there."""
    older = entry[0]
    if isinstance(newer, TokensDelivered):
        entry.append(newer)
    elif isinstance(older, StepsMeasured) and isinstance(newer, StepsMeasured):
        entry[0] = _added(older, newer)
    else:
        entry[0] = newer


def _added(older: StepsMeasured, newer: StepsMeasured) -> StepsMeasured:
    """Both spans as one; the state at its end is the newer one's."""
    return msgspec.structs.replace(
        newer,
        begin_ns=older.begin_ns,
        busy_s=older.busy_s + newer.busy_s,
        steps=older.steps + newer.steps,
        decode_steps=older.decode_steps + newer.decode_steps,
        decode_s=older.decode_s + newer.decode_s,
        decode_bytes=older.decode_bytes + newer.decode_bytes,
        decoded_tok=older.decoded_tok + newer.decoded_tok,
        prefilled_tok=older.prefilled_tok + newer.prefilled_tok,
        prefill_s=older.prefill_s + newer.prefill_s,
        longest_step_s=max(older.longest_step_s, newer.longest_step_s),
        work=merged((*older.work, *newer.work)),
    )
