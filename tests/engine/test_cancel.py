"""Cancelling: felt within 100 ms, in a load and inside a step, and others lose nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine_bridge.protocol import (
    Applied,
    Cancel,
    CancelLoad,
    Forget,
    Load,
    LoadProgressed,
    Refused,
    RequestFinished,
    Shutdown,
    StepsMeasured,
    TokensDelivered,
)
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine


class Running:
    """A desk whose loop runs on a thread of its own, as in the process."""

    def __init__(self, desk: InProcess) -> None:
        self._desk = desk
        self._thread = threading.Thread(target=desk.loop.run, name="loop")

    def __enter__(self) -> Running:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._desk.send(Shutdown())
        self._thread.join()

    def until(self, is_done: Callable[[], bool]) -> float:
        """Watch closely; seconds until something is so."""
        begin = time.perf_counter()
        while not is_done():
            assert time.perf_counter() - begin < 100
            assert self._thread.is_alive()
            threading.Event().wait(0.0005)
        return time.perf_counter() - begin


def test_that_a_long_prompt_can_be_cancelled_inside_its_step(desk: InProcess) -> None:
    path = models.gemma_path()
    desk.load(tiny_config(path, ctx_per_slot_tok=4096, batch_tok=2048))
    words = random_tokens(2000, low=2000, high=3000)
    # What is asked for first makes the speed known; a fresh desk does not know how long it takes.
    with Running(desk) as running:
        latencies = []
        for number in range(3):
            request_id = desk.ask([*words[number:], 5], max_new_tok=1)
            running.until(lambda: desk.batcher._guard._in_step is not None)
            threading.Event().wait(0.05)
            desk.send(Cancel(request_id))
            ended = request_id
            latencies.append(running.until(lambda: bool(desk.all_of(RequestFinished, ended))))  # noqa: B023
            assert desk.all_of(RequestFinished, request_id)[0].reason == "cancelled"
    assert min(latencies) < 0.1, latencies


def test_that_an_ended_step_loses_nothing_of_other_streams(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=3, prefill_chunk_tok=256))
    prompts = [random_tokens(40), random_tokens(300, seed=1)]
    whole = [desk.answer(prompt, max_new_tok=60, ignore_eog=True)[0] for prompt in prompts]
    desk.load(tiny_config(few_words_path, slots=3, prefill_chunk_tok=256))
    speaking = desk.ask(prompts[0], max_new_tok=60, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, speaking)))
    reading = desk.ask(prompts[1], max_new_tok=60, ignore_eog=True)
    desk.until(lambda: len(desk.batcher.streams) == 2)
    context = desk.batcher.context
    decode = context.decode
    codes: list[int] = []

    def aborted_every_other_time(batch: object, count: int) -> int:
        if len(codes) % 2 == 0:
            context.request_abort(True)
        codes.append(decode(batch, count))  # type: ignore[arg-type]
        return codes[-1]

    context.decode = aborted_every_other_time  # type: ignore[method-assign]
    desk.finished(speaking)
    desk.finished(reading)
    assert codes.count(2) > 20
    assert [desk.text(speaking), desk.text(reading)] == whole


def test_that_an_ended_step_costs_a_state_nothing_but_time(
    desk: InProcess, tiny_mamba_path: Path
) -> None:
    """A recurrent model cannot go back within a step: its text is computed again."""
    desk.load(tiny_config(tiny_mamba_path))
    prompt = random_tokens(50)
    whole, _ = desk.answer(prompt, max_new_tok=20, ignore_eog=True)
    desk.load(tiny_config(tiny_mamba_path))
    request_id = desk.ask(prompt, max_new_tok=20, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    context = desk.batcher.context
    decode = context.decode
    codes: list[int] = []

    def aborted_once(batch: object, count: int) -> int:
        if not codes:
            context.request_abort(True)
        codes.append(decode(batch, count))  # type: ignore[arg-type]
        return codes[-1]

    context.decode = aborted_once  # type: ignore[method-assign]
    assert desk.finished(request_id).reason == "token_limit"
    assert codes[0] == 2
    assert desk.text(request_id) == whole


def test_that_requests_without_a_slot_can_be_cancelled(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    first = desk.ask(random_tokens(8), max_new_tok=100, ignore_eog=True)
    second = desk.ask(random_tokens(8), max_new_tok=100, ignore_eog=True)
    desk.started(first)
    desk.send(Cancel(second))
    refused = desk.refused(second)
    assert refused.is_cancelled
    assert desk.finished(first).reason == "token_limit"


def test_that_a_slot_is_told_to_be_free_though_no_step_follows(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    request_id = desk.ask(random_tokens(8), max_new_tok=-1, ignore_eog=True, conversation="a")
    desk.until(lambda: any(e.slots[0].request_id for e in desk.all_of(StepsMeasured)))
    desk.until(lambda: not desk.batcher.has_steps)  # a report has just been sent
    desk.batcher.step = lambda *_: None  # type: ignore[method-assign]
    desk.send(Cancel(request_id))
    desk.until(lambda: desk.all_of(StepsMeasured)[-1].slots[0].request_id is None)
    desk.send(Forget("a"))
    desk.until(lambda: desk.all_of(StepsMeasured)[-1].slots[0].used_tok == 0)


def test_that_cancelling_what_is_over_does_nothing(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    request_id = desk.ask(random_tokens(8), max_new_tok=2, ignore_eog=True)
    desk.finished(request_id)
    count = len(desk.all_of(Refused)) + len(desk.all_of(RequestFinished))
    desk.send(Cancel(request_id))
    desk.answer(random_tokens(8), max_new_tok=2, ignore_eog=True)
    assert len(desk.all_of(Refused)) + len(desk.all_of(RequestFinished)) == count + 1


def test_that_a_load_can_be_cancelled_at_once_and_the_old_model_goes_on(
    desk: InProcess, few_words_path: Path
) -> None:
    path = models.gemma_path()
    desk.load(tiny_config(few_words_path))
    latencies = []
    with Running(desk) as running:
        for stage in ("Reading the header", "Loading weights", "Making the context"):
            request_id = desk.number()
            desk.send(Load(request_id, tiny_config(path, ctx_per_slot_tok=8192)))

            def is_there(number: int = request_id, stage: str = stage) -> bool:
                return any(e.stage == stage for e in desk.all_of(LoadProgressed, number))

            running.until(is_there)
            desk.send(CancelLoad())
            ended = request_id
            latencies.append(running.until(lambda: bool(desk.all_of(Refused, ended))))  # noqa: B023
            assert desk.all_of(Refused, request_id)[0].is_cancelled
        answered = desk.ask(random_tokens(8), max_new_tok=2, ignore_eog=True)
        running.until(lambda: bool(desk.all_of(RequestFinished, answered)))
    assert not [e for e in desk.all_of(Applied) if e.request_id != 1]
    assert sorted(latencies)[1] < 0.1, latencies
