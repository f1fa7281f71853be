"""Continuous batching: many streams in one step, none changes another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine_bridge.protocol import RequestQueued, RequestStarted, StepsMeasured, TokensDelivered
from tests.engine.drafts import EXACT
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_window import write_tiny_window

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("unified", [False, True])
def test_that_streams_do_not_change_each_other(
    desk: InProcess, few_words_path: Path, unified: bool
) -> None:
    desk.load(tiny_config(few_words_path, slots=4, kv_unified=unified))
    prompts = [random_tokens(20 + 7 * number, seed=number) for number in range(4)]
    alone = [desk.answer(prompt, max_new_tok=40, ignore_eog=True)[0] for prompt in prompts]
    desk.load(tiny_config(few_words_path, slots=4, kv_unified=unified))
    together = [desk.ask(prompt, max_new_tok=40, ignore_eog=True) for prompt in prompts]
    for request_id, text in zip(together, alone, strict=True):
        assert desk.finished(request_id).timing.new_tok == 40
        assert desk.text(request_id) == text
    assert {desk.started(request_id).slot for request_id in together} == {0, 1, 2, 3}


def test_that_streams_share_one_decode_a_step(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=4))
    sizes = _spy_on_batches(desk)
    for number in range(4):
        desk.ask(random_tokens(8, seed=number), max_new_tok=10, ignore_eog=True)
    desk.until(lambda: not desk.loop.is_busy() and len(sizes) > 5)
    assert max(sizes) == 32, "four prompts of eight go into one step"
    assert sizes.count(4) >= 8, "four streams take one token each in one step"


def test_that_a_first_step_waits_for_prompts_that_are_being_prepared(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine_bridge.child.requests._GATHER_NS", 60_000_000_000)
    desk.load(tiny_config(few_words_path, slots=4))
    sizes = _spy_on_batches(desk)
    ids = [desk.ask(random_tokens(8, seed=n), max_new_tok=5, ignore_eog=True) for n in range(4)]
    for request_id in ids:
        desk.finished(request_id)
    assert sizes[0] == 32


def test_that_many_prompts_are_read_in_groups_of_whole_ones(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine_bridge.child.requests._GATHER_NS", 60_000_000_000)
    desk.load(tiny_config(few_words_path, slots=8))
    sizes = _spy_on_batches(desk)
    ids = [desk.ask(random_tokens(80, seed=n), max_new_tok=3, ignore_eog=True) for n in range(8)]
    for request_id in ids:
        desk.finished(request_id)
    # A quarter of 640, of 480, of 320, then no less than 96.
    assert sizes[:4] == [160, 160, 160, 160]
    assert sizes[4] == 8, "then all take their second token"


def test_that_nobody_is_waited_for_who_comes_later(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine_bridge.child.requests._GATHER_NS", 60_000_000_000)
    desk.load(tiny_config(few_words_path, slots=4))
    text, finished = desk.answer(random_tokens(8), max_new_tok=5, ignore_eog=True)
    assert text
    assert finished.reason == "token_limit"


def test_that_requests_beyond_the_slots_wait_in_order(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    ids = [desk.ask(random_tokens(8, seed=n), max_new_tok=5, ignore_eog=True) for n in range(4)]
    for request_id in ids:
        desk.finished(request_id)
    assert [event.request_id for event in desk.all_of(RequestStarted)] == ids
    places = [event.position for event in desk.all_of(RequestQueued, ids[3])]
    assert places == [3, 2, 1]
    assert not desk.all_of(RequestQueued, ids[0])


def test_that_a_long_prompt_is_read_in_chunks_while_others_speak(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, slots=2, ctx_per_slot_tok=1024, prefill_chunk_tok=32)
    desk.load(config)
    speaking = desk.ask(random_tokens(8), max_new_tok=200, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, speaking)))
    sizes = _spy_on_batches(desk)
    reading = desk.ask(random_tokens(400, seed=1), max_new_tok=1)
    desk.finished(reading)
    assert max(sizes) == 33
    assert sizes.count(33) == 12  # 400 = 12 × 32 + 16, a token of the other stream in each


def _second_tokens(desk: InProcess, ids: list[int]) -> list[int]:
    """When each of the requests got its second token."""
    for request_id in ids:
        desk.finished(request_id)
    steps = [
        [ns for event in desk.all_of(TokensDelivered, request_id) for ns in event.step_ns]
        for request_id in ids
    ]
    return [times[1] for times in steps]


def _four_at_once(desk: InProcess, path: Path, **settings: object) -> list[int]:
    """Prompts of 50 tokens, of which a step holds 64."""
    desk.load(tiny_config(path, slots=4, batch_tok=64, ubatch_tok=64, **settings))
    return [desk.ask(random_tokens(50, seed=n), max_new_tok=20, ignore_eog=True) for n in range(4)]


def test_that_prompts_that_came_together_are_read_together(
    desk: InProcess, few_words_path: Path
) -> None:
    ids = _four_at_once(desk, few_words_path)
    assert len(set(_second_tokens(desk, ids))) == 1, "whoever was read waits for the others"
    firsts = [desk.all_of(TokensDelivered, request_id)[0].step_ns[0] for request_id in ids]
    assert len(set(firsts)) > 1, "and shows its first token meanwhile"


def test_that_nobody_waits_long_for_those_who_came_with_it(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=4, batch_tok=64, ubatch_tok=64))
    desk.batcher.pace.saw = lambda *_, **__: None  # type: ignore[method-assign]
    desk.batcher.pace.prompt_tok_s = 1.0
    ids = [desk.ask(random_tokens(50, seed=n), max_new_tok=20, ignore_eog=True) for n in range(4)]
    assert len(set(_second_tokens(desk, ids))) > 1


def test_that_a_chunk_the_user_has_set_is_kept_to(desk: InProcess, few_words_path: Path) -> None:
    ids = _four_at_once(desk, few_words_path, prefill_chunk_tok=32)
    assert len(set(_second_tokens(desk, ids))) > 1


def test_that_who_is_writing_never_waits_for_a_whole_prompt(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=4, batch_tok=64, ubatch_tok=64))
    writing = desk.ask(random_tokens(8), max_new_tok=150, ignore_eog=True)
    desk.until(lambda: sum(len(e.step_ns) for e in desk.all_of(TokensDelivered, writing)) > 1)
    ids = [desk.ask(random_tokens(50, seed=n), max_new_tok=5, ignore_eog=True) for n in range(3)]
    for request_id in (writing, *ids):
        desk.finished(request_id)
    delivered = {ns for e in desk.all_of(TokensDelivered, writing) for ns in e.step_ns}
    firsts = {desk.all_of(TokensDelivered, request_id)[0].step_ns[0] for request_id in ids}
    assert firsts <= delivered, "every step that ended a prompt brought a token to it"


def test_that_the_measured_chunk_is_bounded_by_time(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=2))
    pace = desk.batcher.pace
    pace.decode_s, pace.prompt_tok_s = 0.05, 0.001
    chunk = pace.chunk_tok(others_decode=True, batch_tok=2048, ubatch_tok=512)
    assert pace.expected_s(chunk) <= 0.25
    pace.prompt_tok_s = 0.1
    assert pace.chunk_tok(others_decode=True, batch_tok=2048, ubatch_tok=512) == 32
    assert pace.chunk_tok(others_decode=False, batch_tok=2048, ubatch_tok=512) == 512


def test_that_steps_and_their_tokens_are_counted(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=2))
    ids = [desk.ask(random_tokens(50, seed=n), max_new_tok=30, ignore_eog=True) for n in range(2)]
    for request_id in ids:
        desk.finished(request_id)
    desk.until(lambda: sum(e.decoded_tok for e in desk.all_of(StepsMeasured)) == 60)
    reports = desk.all_of(StepsMeasured)
    assert sum(event.prefilled_tok for event in reports) == 100
    decode_steps = sum(event.decode_steps for event in reports)
    assert 29 <= decode_steps <= 60
    weights = desk.batcher.meter.weights.per_step_bytes(1)
    assert sum(event.decode_bytes for event in reports) > decode_steps * weights
    gaps = np.diff([event.end_ns for event in reports])
    assert gaps.size == 0 or gaps.min() >= 99_000_000, "at most ten reports a second"
    delivered = desk.all_of(TokensDelivered, ids[0])
    assert sum(sum(event.step_tok) for event in delivered) == 30


def test_that_the_first_token_is_sent_at_once(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    request_id = desk.ask(random_tokens(8), max_new_tok=50, ignore_eog=True)
    desk.finished(request_id)
    assert len(desk.all_of(TokensDelivered, request_id)[0].step_ns) == 1


def test_that_figures_of_a_request_add_up(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    request_id = desk.ask(random_tokens(30), max_new_tok=20, ignore_eog=True)
    timing = desk.finished(request_id).timing
    steps = [ns for event in desk.all_of(TokensDelivered, request_id) for ns in event.step_ns]
    started = desk.started(request_id)
    assert timing.prefill_s == pytest.approx((steps[0] - started.started_ns) / 1e9)
    assert timing.ttft_s == pytest.approx(timing.queue_s + timing.prefill_s)
    assert timing.tpot_s == pytest.approx((steps[-1] - steps[0]) / 19 / 1e9)
    assert timing.itl_p50_s == pytest.approx(np.median(np.diff(steps)) / 1e9)
    assert (timing.prompt_tok, timing.reused_tok, timing.new_tok) == (30, 0, 20)


def _spy_on_batches(desk: InProcess) -> list[int]:
    """Tokens of every step from now on."""
    sizes: list[int] = []
    context = desk.batcher.context
    decode = context.decode

    def spying(batch: object, count: int) -> int:
        sizes.append(count)
        return decode(batch, count)  # type: ignore[arg-type]

    context.decode = spying  # type: ignore[method-assign]
    return sizes


def test_that_a_step_of_a_window_is_one_micro_batch(desk: InProcess, tmp_path: Path) -> None:
    """Of several, the first would miss cells that llama.cpp gave to the later ones."""
    path = write_tiny_window(tmp_path / "window.gguf")
    config = tiny_config(path, slots=3, kv_unified=True, ubatch_tok=16, **EXACT)
    prompts = [random_tokens(200 + 9 * seed, seed=seed) for seed in range(6)]
    desk.load(config.with_values({"slots": 1, "kv_unified": False, "cache_prompt": False}))
    alone = [desk.answer(prompt, max_new_tok=30, ignore_eog=True)[0] for prompt in prompts]
    desk.load(config)
    sizes = _spy_on_batches(desk)
    ids = [desk.ask(prompt, max_new_tok=30, ignore_eog=True) for prompt in prompts]
    for request_id, text in zip(ids, alone, strict=True):
        desk.finished(request_id)
        assert desk.text(request_id) == text
    assert max(sizes) == 16
