"""Inbox and outbox: nothing lost, nothing unbounded, nobody waits for a stalled window."""

from __future__ import annotations

import json
import os
import threading

from engine_bridge.child.inbox import Inbox, PipeReader
from engine_bridge.child.outbox import Outbox
from engine_bridge.protocol import (
    Cancel,
    Command,
    Event,
    LoadProgressed,
    Logged,
    MemoryMeasured,
    Refused,
    RequestQueued,
    RequestStarted,
    StepsMeasured,
    TokensDelivered,
    decode_event,
    encode,
)
from engine_bridge.settings.rules import Problem


def _tokens(request_id: int, text: str, at: int) -> TokensDelivered:
    return TokensDelivered(request_id, text, (at,), (1,), at)


def _steps(begin: int, steps: int) -> StepsMeasured:
    return StepsMeasured(
        begin_ns=begin,
        end_ns=begin + 10,
        busy_s=0.5,
        steps=steps,
        decode_steps=steps,
        decode_s=0.25,
        decode_bytes=100,
        decoded_tok=steps,
        prefilled_tok=3,
        prefill_s=0.125,
        longest_step_s=0.1 * steps,
        streams=1,
        slots=(),
    )


class _Stalled:
    """An outbox whose reader does not read before it is told to."""

    def __init__(self) -> None:
        self._read_end, write_end = os.pipe()
        self._write_end = write_end
        self.outbox = Outbox(write_end, on_broken=lambda: None)
        # A line longer than the pipe's buffer keeps the writer busy while the test puts events.
        self.outbox.put(Logged("info", "x" * 1_000_000))
        self._first = os.read(self._read_end, 1)

    def all_events(self) -> list[Event]:
        """Let the writer end and read everything but the line that held it up."""
        closer = threading.Thread(target=self._close)
        closer.start()
        data = self._first
        while block := os.read(self._read_end, 1 << 16):
            data += block
        closer.join()
        os.close(self._read_end)
        return [decode_event(line) for line in data.splitlines()][1:]

    def _close(self) -> None:
        self.outbox.close()
        os.close(self._write_end)


def test_that_tokens_of_a_request_become_one_event_while_the_window_stalls() -> None:
    stalled = _Stalled()
    for at in range(1000):
        stalled.outbox.put(_tokens(1, "a", at))
        stalled.outbox.put(_tokens(2, "b", at))
    first, second = stalled.all_events()
    assert isinstance(first, TokensDelivered)
    assert isinstance(second, TokensDelivered)
    assert (first.text, second.text) == ("a" * 1000, "b" * 1000)
    assert first.step_ns == tuple(range(1000))
    assert sum(first.step_tok) == 1000


def test_that_tokens_on_their_way_still_tell_how_many_were_thought() -> None:
    stalled = _Stalled()
    for thought in (1, 2):
        stalled.outbox.put(TokensDelivered(1, "a", (thought,), (1,), thought, think_tok=thought))
    stalled.outbox.put(TokensDelivered(2, "b", (3,), (1,), 3, think_tok=5))
    joined, single = stalled.all_events()
    assert isinstance(joined, TokensDelivered)
    assert isinstance(single, TokensDelivered)
    assert (joined.think_tok, single.think_tok) == (2, 5)


def test_that_tokens_never_slip_in_front_of_other_events_of_their_request() -> None:
    stalled = _Stalled()
    started = RequestStarted(1, 0, 5, 0, "", 0)
    stalled.outbox.put(_tokens(1, "before", 1))
    stalled.outbox.put(started)
    stalled.outbox.put(_tokens(1, "after", 2))
    events = stalled.all_events()
    assert [getattr(event, "text", event) for event in events] == ["before", started, "after"]


def test_that_a_long_stall_costs_no_more_the_longer_it_lasts() -> None:
    stalled = _Stalled()
    many = 200_000
    for at in range(many):
        stalled.outbox.put(_tokens(1, "a", at))
    (joined,) = stalled.all_events()
    assert isinstance(joined, TokensDelivered)
    assert len(joined.step_ns) == len(joined.text) == many


def test_that_progress_of_a_load_stays_behind_the_answer_to_the_one_before() -> None:
    stalled = _Stalled()
    refused = Refused("load", 1, Problem((), "No."))
    stalled.outbox.put(LoadProgressed(1, 0.1, "a"))
    stalled.outbox.put(LoadProgressed(1, 0.2, "a"))
    stalled.outbox.put(refused)
    stalled.outbox.put(LoadProgressed(2, 0.3, "a"))
    stalled.outbox.put(LoadProgressed(2, 0.4, "a"))
    assert stalled.all_events() == [
        LoadProgressed(1, 0.2, "a"),
        refused,
        LoadProgressed(2, 0.4, "a"),
    ]


def test_that_measurements_are_added_up_or_replaced() -> None:
    stalled = _Stalled()
    stalled.outbox.put(_steps(0, 3))
    stalled.outbox.put(MemoryMeasured(1, 1, 1, ()))
    stalled.outbox.put(_steps(10, 4))
    stalled.outbox.put(MemoryMeasured(2, 2, 2, ()))
    steps, memory = stalled.all_events()
    assert isinstance(steps, StepsMeasured)
    assert (steps.begin_ns, steps.end_ns, steps.steps, steps.decode_bytes) == (0, 20, 7, 200)
    assert (steps.busy_s, steps.prefilled_tok, steps.longest_step_s) == (1.0, 6, 0.4)
    assert memory == MemoryMeasured(2, 2, 2, ())


def test_that_places_in_line_are_replaced() -> None:
    stalled = _Stalled()
    stalled.outbox.put(RequestQueued(1, 2))
    stalled.outbox.put(RequestQueued(2, 3))
    stalled.outbox.put(RequestQueued(1, 1))
    assert stalled.all_events() == [RequestQueued(1, 1), RequestQueued(2, 3)]


def test_that_log_lines_cannot_pile_up() -> None:
    stalled = _Stalled()
    for number in range(10_000):
        stalled.outbox.put(Logged("info", str(number)))
    assert len(stalled.all_events()) == 256


def test_that_a_broken_pipe_is_noticed() -> None:
    read_end, write_end = os.pipe()
    broken = threading.Event()
    outbox = Outbox(write_end, on_broken=broken.set)
    os.close(read_end)
    outbox.put(Logged("info", "anyone there?"))
    assert broken.wait(10)
    outbox.close()
    os.close(write_end)


def _read(data: bytes, step: int = 1 << 20) -> tuple[list[Command], list[Event]]:
    """What a reader takes from a pipe, and what it says of lines that it cannot take."""
    read_end, write_end = os.pipe()
    taken: list[Command] = []
    ended = threading.Event()
    complaints: list[Event] = []
    reader = PipeReader(read_end, taken.append, ended.set, complaints.append)
    reader.start()
    for at in range(0, len(data), step):
        os.write(write_end, data[at : at + step])
    os.close(write_end)
    assert ended.wait(10)
    reader.join()
    os.close(read_end)
    return taken, complaints


def test_that_commands_are_read_across_any_cut() -> None:
    data = b"".join(encode(Cancel(number)) for number in range(50)) + b"no json\n"
    taken, complaints = _read(data, 7)
    assert taken == [Cancel(number) for number in range(50)]
    assert len(complaints) == 1


def test_that_a_command_that_cannot_be_read_is_refused_by_its_number() -> None:
    lone = json.dumps({"type": "generate", "request_id": 77, "stop": ["\ud800"]}).encode()
    taken, (surrogate, plan, cancel, deep) = _read(
        lone + b"\n"
        b'{"type": "plan", "plan_id": 5, "config": {"bad": 1}}\n'
        b'{"type": "cancel", "request_id": "seven"}\n' + b"[" * 200_000 + b"\n"
    )
    assert not taken
    assert isinstance(surrogate, Refused)
    assert (surrogate.command, surrogate.request_id) == ("generate", 77)
    assert isinstance(plan, Refused)
    assert (plan.command, plan.request_id) == ("plan", 5)
    assert isinstance(cancel, Logged)
    assert isinstance(deep, Logged)


def test_that_the_inbox_stamps_and_wakes() -> None:
    times = iter(range(100, 200))
    inbox = Inbox(clock=lambda: next(times))
    seen: list[object] = []
    inbox.on_put = seen.append
    assert not inbox
    waker = threading.Timer(0.01, inbox.put, args=("late",))
    waker.start()
    inbox.wait(10)
    arrived = inbox.take()
    waker.join()
    assert arrived is not None
    assert (arrived.item, arrived.at_ns) == ("late", 100)
    assert seen == ["late"]
    assert inbox.take() is None
