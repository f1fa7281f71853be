"""When plans are made: the newest question, seldom while streams run, strangers elsewhere."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import psutil
import pytest

from engine_bridge.child import planner, planner_thread
from engine_bridge.child.auto_placement import TryOut
from engine_bridge.child.planner_thread import PlannerThread, Running
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import AskRoom, DeviceFacts, Event, Plan, PlanReady, Refused
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess
from tests.tiny_model import TinyLlama, write_tiny_llama
from tests.unit.gguf_bytes import Gguf, llama_values

pytestmark = pytest.mark.engine
_ANSWER_S = 100.0


class Sink:
    """Keeps events with their times; can be told to hold the thread at the next one."""

    def __init__(self) -> None:
        self.events: queue.Queue[tuple[float, Event]] = queue.Queue()
        self.gate = threading.Event()
        self.gate.set()
        self.reached = threading.Event()

    def __call__(self, event: Event) -> None:
        self.events.put((time.monotonic(), event))
        self.reached.set()
        self.gate.wait(_ANSWER_S)

    def next(self) -> Event:
        return self.events.get(timeout=_ANSWER_S)[1]

    def next_s(self) -> float:
        return self.events.get(timeout=_ANSWER_S)[0]


@contextmanager
def planning(
    sink: Sink,
    loaded: Path | str = "",
    running: MemoryPlan | None = None,
    is_busy: Callable[[], bool] = lambda: False,
) -> Iterator[PlannerThread]:
    config = EngineConfig(model_path=str(loaded))
    runs = Running((str(loaded),), running, config)
    thread = PlannerThread(sink, is_busy=is_busy, running=lambda: runs)
    try:
        yield thread
    finally:
        sink.gate.set()
        thread.stop()


def question(number: int, path: Path | str, **values: object) -> Plan:
    return Plan(number, EngineConfig.from_values({"model_path": str(path)} | values))


@pytest.fixture(scope="module")
def small_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planned")
    return write_tiny_llama(folder / "small.gguf", TinyLlama(vocab_tok=512))


def test_that_a_question_is_answered_with_its_number(small_path: Path) -> None:
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(question(7, small_path, ctx_per_slot_tok=2048))
        event = sink.next()
    assert isinstance(event, PlanReady)
    assert event.plan_id == 7
    assert event.plan.effective is not None
    assert event.plan.effective.ctx_total_tok == 4 * 2048


def test_that_the_newest_question_wins(small_path: Path) -> None:
    sink = Sink()
    with planning(sink, small_path) as thread:
        sink.gate.clear()
        thread.request(question(1, small_path))
        assert sink.reached.wait(_ANSWER_S)
        for number in range(2, 30):
            thread.request(question(number, small_path, ctx_per_slot_tok=256 * number))
        sink.gate.set()
        answers = [sink.next(), sink.next()]
        assert [a.plan_id for a in answers if isinstance(a, PlanReady)] == [1, 29]
        # Nothing of what was replaced comes later.
        thread.request(question(30, small_path))
        last = sink.next()
    assert isinstance(last, PlanReady)
    assert last.plan_id == 30


def test_that_plans_are_ten_a_second_at_most_while_streams_run(small_path: Path) -> None:
    sink = Sink()
    with planning(sink, small_path, is_busy=lambda: True) as thread:
        begin_s = time.monotonic()
        for number in range(5):
            thread.request(question(number, small_path))
            end_s = sink.next_s()
    # Four intervals lie between five beginnings, however long each plan took.
    assert end_s - begin_s >= 4 * 0.1


def test_that_plans_do_not_wait_for_their_time_on_an_idle_engine(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner_thread, "_LEAST_INTERVAL_S", 3600.0)
    sink = Sink()
    with planning(sink, small_path) as thread:
        for number in range(3):
            thread.request(question(number, small_path))
            assert isinstance(sink.next(), PlanReady)


def test_that_the_thread_steps_back_but_is_not_starved(small_path: Path) -> None:
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(question(0, small_path))
        sink.next()
        planner = next(t for t in threading.enumerate() if t.name == "planner")
        assert planner.native_id is not None
        if psutil.LINUX:
            own = psutil.Process().nice()
            assert own < psutil.Process(planner.native_id).nice() < 19


def test_that_a_stranger_is_planned_in_another_process(small_path: Path, tmp_path: Path) -> None:
    other = write_tiny_llama(tmp_path / "other.gguf", TinyLlama(vocab_tok=512, layers=4))
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(question(1, small_path))
        here = sink.next()
        thread.request(question(2, other))
        there = sink.next()
    assert isinstance(here, PlanReady)
    assert isinstance(there, PlanReady)
    assert there.plan.bytes.kv == 2 * here.plan.bytes.kv


def test_that_a_stranger_that_aborts_the_engine_is_a_sentence(
    small_path: Path, tmp_path: Path
) -> None:
    """llama.cpp asserts that there are fewer groups of experts than experts."""
    values = llama_values(expert_count=4, expert_used_count=2, expert_group_count=9)
    harmful = tmp_path / "harmful.gguf"
    harmful.write_bytes(Gguf(values).file())
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(question(1, harmful))
        refused = sink.next()
        thread.request(question(2, small_path))
        after = sink.next()
    assert isinstance(refused, Refused)
    assert (refused.command, refused.request_id) == ("plan", 1)
    assert "llama.cpp ended" in refused.problem.message
    assert "harmful.gguf" in refused.problem.message
    assert isinstance(after, PlanReady)


def test_that_an_answer_of_another_version_does_not_blame_the_file(tmp_path: Path) -> None:
    config = EngineConfig(model_path=str(tmp_path / "fine.gguf"))
    with pytest.raises(planner.PlanRefusedError) as refused:
        planner_thread._plan_in(b'{"plan": {"a_newer_field": 1}}', 0, "", config)
    assert "start it again" in refused.value.problem.message
    assert "fine.gguf" not in refused.value.problem.message


def test_that_a_file_that_is_no_model_is_refused(small_path: Path, tmp_path: Path) -> None:
    sink = Sink()
    with planning(sink, small_path) as thread:
        thread.request(question(1, tmp_path / "gone.gguf"))
        refused = sink.next()
    assert isinstance(refused, Refused)
    assert "no file gone.gguf" in refused.problem.message


def test_that_a_mistake_of_ours_does_not_end_all_planning(small_path: Path) -> None:
    sink = Sink()
    answers = iter([Running((str(small_path),), None, EngineConfig(model_path=str(small_path)))])
    thread = PlannerThread(sink, is_busy=lambda: False, running=lambda: next(answers))
    try:
        thread.request(question(1, small_path))
        assert isinstance(sink.next(), PlanReady)
        thread.request(question(2, small_path))
        refused = sink.next()
    finally:
        thread.stop()
    assert isinstance(refused, Refused)
    assert "mistake in TuneDeck" in refused.problem.message


def test_that_a_search_is_given_up_for_a_newer_question(
    small_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first question does not fit, and what would is never found: the second one waits."""
    sink = Sink()
    with planning(sink, small_path) as thread:
        searching = threading.Event()
        config = question(1, small_path).config

        def search(_: object, __: object, ___: object, try_out: TryOut) -> NoReturn:
            searching.set()
            while True:
                try_out(config)

        monkeypatch.setattr(planner, "nearest_that_fits", search)
        full = DeviceFacts("CPU", "", "cpu", "CPU", 0, 8 * 2**30)
        monkeypatch.setattr(planner, "memory_now", lambda: (full,))
        thread.request(question(1, small_path))
        assert searching.wait(_ANSWER_S)
        monkeypatch.undo()
        thread.request(question(2, small_path))
        first, second = sink.next(), sink.next()
    assert isinstance(first, PlanReady)
    assert isinstance(second, PlanReady)
    assert (first.plan_id, first.plan.fits, first.plan.problems[0].fix) == (1, False, {})
    assert (second.plan_id, second.plan.fits) == (2, True)


def test_that_stopping_does_not_wait_for_a_stranger(small_path: Path, tmp_path: Path) -> None:
    other = write_tiny_llama(tmp_path / "other.gguf", TinyLlama(vocab_tok=512))
    sink = Sink()
    before = set(psutil.Process().children())
    with planning(sink, small_path) as thread:
        thread.request(question(1, other))
        deadline_s = time.monotonic() + _ANSWER_S
        while not set(psutil.Process().children()) - before:
            assert time.monotonic() < deadline_s
            threading.Event().wait(0.001)
        begin_s = time.monotonic()
        thread.stop()
        assert time.monotonic() - begin_s < 5
    assert sink.events.empty()


class Taker:
    """Writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Plan | AskRoom] = []

    def request(self, question: Plan | AskRoom) -> None:
        self.asked.append(question)


def test_that_a_question_does_not_wait_for_the_step_under_way(small_path: Path) -> None:
    with InProcess() as engine:
        taker = engine.loop.planner = Taker()
        asked = question(1, small_path)
        engine.send(asked)  # the loop is not turned: it computes
        assert taker.asked == [asked]
        engine.loop.turn()
        assert taker.asked == [asked]
