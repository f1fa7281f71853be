"""Changing settings while a model runs: live, by a new context, by a reload; and back."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine_bridge.child import llama, loader
from engine_bridge.child.memory_check import Checked
from engine_bridge.hardware.read_bandwidth import PeakRead
from engine_bridge.protocol import (
    Applied,
    BandwidthMeasured,
    CancelLoad,
    Forget,
    Load,
    LoadProgressed,
    Refused,
    RequestFinished,
    StepsMeasured,
    TokensDelivered,
    Unloaded,
)
from engine_bridge.settings.rules import Problem
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine

_EXACT = {"cache_type_k": "f32", "cache_type_v": "f32", "flash_attn": "off"}


def test_that_a_load_reports_what_became_of_it(desk: InProcess, tiny_path: Path) -> None:
    applied = desk.load(tiny_config(tiny_path, slots=3, ctx_per_slot_tok=300))
    effective = applied.effective
    assert (effective.ctx_per_slot_tok, effective.slots, effective.ctx_total_tok) == (512, 3, 1536)
    assert effective.flash_attn == "on"
    assert (effective.threads, effective.outputs_max) == (1, 3)
    assert applied.cost == "reload"
    assert applied.model is not None
    assert applied.model.layers == 2
    memory = applied.memory.bytes
    # 2 layers × 2 heads × 32 values × 2 bytes × K and V, for 1,536 cells.
    assert memory.kv == 2 * 2 * 32 * 2 * 2 * 1536
    assert memory.output == 32_000 * 4 * 3
    assert memory.weights + memory.weights_mapped >= applied.model.tensor_bytes
    fractions = [event.fraction for event in desk.all_of(LoadProgressed)]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_that_sampling_and_threads_change_live(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, ctx_per_slot_tok=1024)
    desk.load(config)
    context = desk.batcher.context
    request_id = desk.ask(random_tokens(8), max_new_tok=200, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    answer = desk.apply(config.with_values({"temperature": 1.0, "threads": 2}))
    assert isinstance(answer, Applied)
    assert answer.cost == "live"
    assert answer.effective.threads == 2
    assert desk.batcher.context is context
    assert context.threads == (2, 1)
    assert desk.finished(request_id).timing.new_tok == 200


def test_that_a_new_context_keeps_running_answers(desk: InProcess, few_words_path: Path) -> None:
    """The text is computed again in the new context, and the answer goes on."""
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=256, **_EXACT)
    desk.load(config)
    prompt = random_tokens(30)
    whole, _ = desk.answer(prompt, max_new_tok=100, ignore_eog=True)
    request_id = desk.ask(prompt, max_new_tok=100, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    model = desk.batcher.context.model
    answer = desk.apply(config.with_values({"ctx_per_slot_tok": 1024, "slots": 4}))
    assert isinstance(answer, Applied)
    assert answer.cost == "new context"
    assert answer.model is None
    assert answer.effective.ctx_total_tok == 4096
    assert desk.batcher.context.model is model
    finished = desk.finished(request_id)
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 100)
    assert desk.text(request_id) == whole


def test_that_answers_without_a_slot_any_more_say_so(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=512)
    desk.load(config)
    ids = [desk.ask(random_tokens(300, seed=n), ignore_eog=True, max_new_tok=150) for n in range(2)]
    desk.until(lambda: all(desk.all_of(TokensDelivered, request_id) for request_id in ids))
    assert isinstance(desk.apply(config.with_values({"slots": 1})), Applied)
    assert desk.finished(ids[1]).reason == "failed"
    assert "reduced to 1" in desk.finished(ids[1]).detail
    assert isinstance(desk.apply(config.with_values({"ctx_per_slot_tok": 256})), Applied)
    assert desk.finished(ids[0]).reason == "context_full"


def test_that_a_refused_context_leaves_things_as_they_were(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path, **_EXACT)
    desk.load(config)
    whole, _ = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)
    broken = desk.apply(config.with_values({"cache_type_v": "q8_0"}))
    assert isinstance(broken, Refused)
    assert "flash attention" in broken.problem.message
    assert broken.problem.fix == {"flash_attn": "auto"}

    create = llama.Context.create

    def out_of_memory(model: llama.Model, wanted: object, *, quiet: bool = False) -> llama.Context:
        if wanted != config:
            raise llama.LlamaError("failed to allocate buffer for kv cache")
        return create(model, config, quiet=quiet)

    monkeypatch.setattr(llama.Context, "create", out_of_memory)
    refused = desk.apply(config.with_values({"ctx_per_slot_tok": 2048}))
    assert isinstance(refused, Refused)
    assert "failed to allocate buffer for kv cache" in refused.problem.message
    assert desk.batcher.slots[0].cap_tok == 512
    assert desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)[0] == whole


def test_that_an_engine_without_any_context_says_so(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    request_id = desk.ask(random_tokens(8), ignore_eog=True, max_new_tok=300)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))

    def out_of_memory(*_: object, **__: object) -> llama.Context:
        raise llama.LlamaError("failed to allocate buffer for kv cache")

    with monkeypatch.context() as patch:
        patch.setattr(llama.Context, "create", out_of_memory)
        refused = desk.apply(config.with_values({"ctx_per_slot_tok": 2048}))
    assert isinstance(refused, Refused)
    assert "neither could the old one" in refused.problem.message
    assert desk.finished(request_id).reason == "failed"
    assert "No model" in desk.refused(desk.ask(random_tokens(8))).problem.message
    (lost,) = desk.all_of(Unloaded)
    assert lost.sentence == refused.problem.message
    desk.load(config)
    assert desk.answer(random_tokens(8), max_new_tok=2)[1].timing.new_tok >= 1


def test_that_a_reload_of_the_same_file_is_a_reload(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    model = desk.batcher.context.model
    answer = desk.apply(config.with_values({"load_mode": "none"}))
    assert isinstance(answer, Applied)
    assert answer.cost == "reload"
    assert desk.batcher.context.model is not model
    assert answer.memory.bytes.weights_mapped == 0


def test_that_answers_go_on_until_another_model_stands(
    desk: InProcess, few_words_path: Path
) -> None:
    path = models.gemma_path()
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=4096))
    running = desk.ask(random_tokens(8), ignore_eog=True)
    waiting = desk.ask(random_tokens(8), max_new_tok=2)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, running)))
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(path)))
    desk.until(lambda: len(desk.all_of(LoadProgressed, request_id)) > 2)
    before = len(desk.all_of(TokensDelivered, running))
    assert isinstance(desk.answer_to(request_id), Applied)
    finished = desk.finished(running)
    if finished.reason != "context_full":  # a slow load lets it come to its end
        assert finished.reason == "failed"
        assert "Another model" in finished.detail
        assert len(desk.all_of(TokensDelivered, running)) > before
    assert desk.finished(waiting).timing.new_tok >= 1, "who waits is served by the new model"


def test_that_a_model_that_had_to_make_room_comes_back(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    whole, _ = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)
    gate = _Gate(monkeypatch, _broken_file)
    request_id = desk.number()
    desk.send(Load(request_id, config))
    gate.next_one()
    assert isinstance(desk.answer_to(request_id), Refused)
    assert len(desk.all_of(Unloaded)) == 1
    held = desk.ask(random_tokens(8), max_new_tok=20, ignore_eog=True)
    gate.next_one()
    desk.finished(held)
    assert desk.text(held) == whole
    back = desk.all_of(Applied)[-1]
    assert (back.request_id, back.config) == (0, config)
    assert back.model is not None


def test_that_a_load_takes_the_place_of_a_model_on_its_way_back(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One load at a time, every one answered, and the old model is not forgotten."""
    config = tiny_config(few_words_path)
    desk.load(config)
    gate = _Gate(monkeypatch, None, _broken_file)
    first, second = desk.number(), desk.number()
    desk.send(Load(first, config.with_values({"slots": 2})))
    desk.until(lambda: gate.waiting == 1)
    desk.send(CancelLoad())
    assert desk.refused(first).is_cancelled
    desk.send(Load(second, config.with_values({"slots": 3})))
    for _ in range(20):
        desk.inbox.put(Forget("nobody"))
        desk.loop.turn()
    assert gate.waiting == 1, "the next load waits for the end of the one given up"
    gate.next_one()
    gate.next_one()
    assert not desk.refused(second).is_cancelled
    gate.next_one()
    desk.until(lambda: desk.all_of(Applied)[-1].request_id == 0)
    assert desk.all_of(Applied)[-1].config == config
    assert gate.most_at_once == 1
    assert len(desk.all_of(Refused)) == 2


def test_that_the_return_of_a_model_can_be_cancelled(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    gate = _Gate(monkeypatch, _broken_file)
    request_id = desk.number()
    desk.send(Load(request_id, config))
    gate.next_one()
    desk.refused(request_id)
    held = desk.ask(random_tokens(8))
    desk.until(lambda: gate.waiting == 1)
    desk.send(CancelLoad())
    desk.until(lambda: len(desk.all_of(Unloaded)) == 2)
    assert "cancelled" in desk.all_of(Unloaded)[1].sentence
    assert desk.refused(held).command == "generate"
    gate.next_one()
    monkeypatch.undo()
    desk.load(config)
    assert desk.answer(random_tokens(8), max_new_tok=2)[1].timing.new_tok >= 1


def test_that_a_model_that_does_not_come_back_is_told(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.load(tiny_config(few_words_path))
    gate = _Gate(monkeypatch, _broken_file, _broken_file)
    request_id = desk.number()
    desk.send(Load(request_id, tiny_config(few_words_path)))
    gate.next_one()
    gate.next_one()
    desk.until(lambda: len(desk.all_of(Unloaded)) == 2)
    assert "file bounds" in desk.all_of(Unloaded)[1].sentence
    assert "No model" in desk.refused(desk.ask(random_tokens(8))).problem.message


def test_that_a_load_that_fails_by_our_fault_is_answered(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    with monkeypatch.context() as patch:

        def closing(kind: type[llama.Model] | type[llama.Context], name: str) -> None:
            close = kind.close

            def noted(self: Any) -> None:
                closed.append(name)
                close(self)

            patch.setattr(kind, "close", noted)

        def mistaken(_: object) -> object:
            raise KeyError("a mistake")

        closing(llama.Context, "context")
        closing(llama.Model, "model")
        patch.setattr(loader, "PromptSource", mistaken)
        request_id = desk.number()
        desk.send(Load(request_id, tiny_config(few_words_path)))
        assert "a mistake" in desk.refused(request_id).problem.message
    assert closed == ["context", "model"]
    desk.load(tiny_config(few_words_path))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"threads": 10_000}, "outside 1 to 512"),
        ({"threads": 4 * (os.cpu_count() or 1) + 1}, "processors"),
        ({"threads_batch": 4 * (os.cpu_count() or 1) + 1}, "processors"),
        ({"repeat_last_n_tok": 10**9}, "65,536"),
        ({"prefill_chunk_tok": 0}, "outside"),
        ({"top_k": -7}, "outside"),
    ],
)
def test_that_a_live_change_that_breaks_a_rule_is_refused(
    desk: InProcess, few_words_path: Path, values: dict[str, int], says: str
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    refused = desk.apply(msgspec.structs.replace(config, **values))
    assert isinstance(refused, Refused)
    assert says in refused.problem.message
    assert desk.batcher.config == config
    assert desk.answer(random_tokens(8), max_new_tok=2)[1].timing.new_tok >= 1


@pytest.mark.parametrize("values", [{"prefill_chunk_tok": 64}, {"ctx_per_slot_tok": 1024}])
def test_that_other_changes_leave_the_random_numbers_alone(
    desk: InProcess, few_words_path: Path, values: dict[str, object]
) -> None:
    config = tiny_config(few_words_path, temperature=1.0, seed=42, **_EXACT)
    desk.load(config)
    whole, _ = desk.answer(random_tokens(8), max_new_tok=100, ignore_eog=True)
    request_id = desk.ask(random_tokens(8), max_new_tok=100, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    assert isinstance(desk.apply(config.with_values(values)), Applied)
    assert not desk.all_of(RequestFinished, request_id)
    desk.finished(request_id)
    assert desk.text(request_id) == whole


def test_that_slots_are_reported_after_a_change(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    desk.apply(config.with_values({"slots": 3}))
    desk.until(lambda: any(len(e.slots) == 3 for e in desk.all_of(StepsMeasured)))


class _Gate:
    """Loads that wait to be let through, and fail if told to; two models never fit at once."""

    def __init__(self, patch: pytest.MonkeyPatch, *faults: Callable[[], None] | None) -> None:
        self.waiting = self.most_at_once = 0
        self._faults = list(faults)
        self._open = threading.Semaphore(0)
        self._load = llama.Model.load
        self._beside = set[int]()
        patch.setattr(loader, "check_memory", self._check_memory)
        patch.setattr(llama.Model, "load", self._wait)

    def next_one(self) -> None:
        """Let the next load through, whether it is there or comes later."""
        self._open.release()

    def _check_memory(
        self, _: object, __: object, running: object, ___: object = None, **____: object
    ) -> Checked:
        """A job beside a running model asks twice: whether it fits instead of it, and beside it."""
        me = threading.get_ident()
        if running is not None:
            self._beside.add(me)
        elif me in self._beside:
            self._beside.remove(me)
            return Checked(Problem((), "not both"))
        return Checked()

    def _wait(self, *args: Any, **rest: Any) -> llama.Model:
        self.waiting += 1
        self.most_at_once = max(self.most_at_once, self.waiting)
        self._open.acquire()
        self.waiting -= 1
        fault = self._faults.pop(0) if self._faults else None
        if fault is not None:
            fault()
        return self._load(*args, **rest)


def _broken_file() -> None:
    raise llama.LlamaError("tensor 'blk.0.attn_q.weight' data is not within the file bounds")


def _read(gb_per_s: float, core_share: float = 0.5) -> PeakRead:
    return PeakRead(gb_per_s * 1e9, 5, 0.04, core_share)


class _Peaks:
    """A clock that is put forward, and a machine that reads faster and slower."""

    def __init__(self, *reads: PeakRead | None) -> None:
        self.ahead_ns = 0
        self.asked: list[int] = []
        self.stops: list[threading.Event] = []
        self._reads = list(reads)

    def clock(self) -> int:
        return time.perf_counter_ns() + self.ahead_ns

    def measure(self, threads: int, stop: threading.Event) -> PeakRead | None:
        self.asked.append(threads)
        self.stops.append(stop)
        return self._reads.pop(0)

    def wait(self, desk: InProcess, seconds: float, runs: int) -> None:
        """Let ``seconds`` pass; until then ``runs`` measurements were to be made."""
        self.ahead_ns += round(seconds * 1e9)
        desk.until(lambda: len(self.asked) >= runs)
        peak = next((t for t in threading.enumerate() if t.name == "bandwidth"), None)
        if peak is not None:
            peak.join()


def test_that_a_busy_machine_is_measured_again_in_quiet_moments_and_the_best_counts(
    few_words_path: Path,
) -> None:
    # 7.2 is less than the spread above 7.
    peaks = _Peaks(*map(_read, (5, 4, 7, 7.2, 3)), _read(9, 1.0))
    with InProcess(measure_bandwidth=peaks.measure, clock=peaks.clock) as desk:
        config = tiny_config(few_words_path)
        desk.load(config)
        desk.answer(random_tokens(8), max_new_tok=2)
        for tries in range(1, 6):
            peaks.wait(desk, 21, tries)
        told = desk.all_of(BandwidthMeasured)
        assert [(e.peak_bytes_per_s, e.runs) for e in told] == [(5e9, 5), (7e9, 15)]
        assert all(event.is_lower_bound for event in told)
        peaks.ahead_ns += 100 * 10**9
        for _ in range(3):
            desk.inbox.put(Forget("nobody"))
            desk.loop.turn()
        assert peaks.asked == [1] * 5, "often enough"
        desk.apply(config.with_values({"threads": 2}))
        peaks.wait(desk, 2, 6)
        two = desk.all_of(BandwidthMeasured)[2]
        assert (two.peak_bytes_per_s, two.threads, two.is_lower_bound) == (9e9, 2, False)
        desk.apply(config)
        desk.until(lambda: len(desk.all_of(BandwidthMeasured)) == 4)
        assert desk.all_of(BandwidthMeasured)[3].peak_bytes_per_s == 7e9
        assert len(peaks.asked) == 6


def test_that_a_peak_of_an_idle_machine_stays_as_it_is(few_words_path: Path) -> None:
    """Newcomer 11: it rose by itself, from 17.7 to 60.4 GB/s within an hour."""
    peaks = _Peaks(_read(5, 0.5), _read(20, 0.99))
    with InProcess(measure_bandwidth=peaks.measure, clock=peaks.clock) as desk:
        desk.load(tiny_config(few_words_path))
        for tries in (1, 2):
            peaks.wait(desk, 21, tries)
        for _ in range(4):
            peaks.ahead_ns += 100 * 10**9
            desk.inbox.put(Forget("nobody"))
            desk.loop.turn()
        told = [(e.peak_bytes_per_s, e.is_lower_bound) for e in desk.all_of(BandwidthMeasured)]
        assert told == [(5e9, True), (20e9, False)]
        assert len(peaks.asked) == 2


def test_that_a_peak_of_the_caches_says_so_and_gives_way_to_one_of_memory(
    few_words_path: Path,
) -> None:
    of_cache = replace(_read(50), is_of_cache=True)
    peaks = _Peaks(of_cache, _read(20), of_cache)
    with InProcess(measure_bandwidth=peaks.measure, clock=peaks.clock) as desk:
        desk.load(tiny_config(few_words_path))
        for tries in (1, 2, 3):
            peaks.wait(desk, 21, tries)
        told = [(e.peak_bytes_per_s, e.is_of_cache) for e in desk.all_of(BandwidthMeasured)]
        assert told == [(50e9, True), (20e9, False)]
        how = [event.how for event in desk.all_of(BandwidthMeasured)]
        assert how == ["read by one thread, in part from the caches", "read by one thread"]


def test_that_a_request_ends_the_measurement(few_words_path: Path) -> None:
    peaks = _Peaks(None, _read(20, 0.99))
    with InProcess(measure_bandwidth=peaks.measure, clock=peaks.clock) as desk:
        desk.load(tiny_config(few_words_path))
        peaks.wait(desk, 0, 1)
        assert not peaks.stops[0].is_set()
        desk.answer(random_tokens(8), max_new_tok=2)
        assert peaks.stops[0].is_set()
        assert not desk.all_of(BandwidthMeasured)
        peaks.wait(desk, 21, 2)
        assert not peaks.stops[1].is_set()
        assert len(desk.all_of(BandwidthMeasured)) == 1


def test_that_the_peak_is_never_measured_beside_an_answer(few_words_path: Path) -> None:
    peaks = _Peaks(_read(5), _read(6))
    with InProcess(measure_bandwidth=peaks.measure, clock=peaks.clock) as desk:
        desk.load(tiny_config(few_words_path, ctx_per_slot_tok=4096))
        peaks.wait(desk, 0, 1)  # at the end of the load
        request_id = desk.ask(random_tokens(8), ignore_eog=True, max_new_tok=50)
        while not desk.all_of(RequestFinished, request_id):
            peaks.ahead_ns += 5 * 10**9
            desk.loop.turn()
        desk.inbox.put(Forget("nobody"))
        desk.loop.turn()
        assert len(peaks.asked) == 1
        peaks.wait(desk, 21, 2)


def test_that_the_pause_of_a_change_is_not_in_the_figures_of_an_answer(
    few_words_path: Path,
) -> None:
    """Newcomer 13: the footer said TPOT 289 ms after a pause of 40 s."""
    peaks = _Peaks()
    with InProcess(clock=peaks.clock) as desk:
        config = tiny_config(few_words_path)
        desk.load(config)
        request_id = desk.ask(random_tokens(8), ignore_eog=True, max_new_tok=40)
        desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
        assert not desk.all_of(RequestFinished, request_id)
        pause_s = 1e6
        peaks.ahead_ns += round(pause_s * 1e9)  # passes between two steps, as the change comes
        desk.apply(config.with_values({"ctx_per_slot_tok": config.ctx_per_slot_tok * 2}))
        desk.until(lambda: bool(desk.all_of(RequestFinished, request_id)))
        timing = desk.all_of(RequestFinished, request_id)[0].timing
        assert timing.new_tok == 40
        assert timing.tpot_s is not None
        assert timing.itl_p99_s is not None
        assert timing.tpot_s < pause_s / 100
        assert timing.itl_p99_s < pause_s / 100
