"""Predictions against synthetic machines whose truth is known."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from engine_bridge.metrics.observations import Observation, RunSettings
from engine_bridge.metrics.prediction import Estimate, Predictor, Unmeasured
from engine_bridge.metrics.step_cost import ModelSize, Streams, decode_cost, prefill_cost

SIZE = ModelSize(weight_bytes=400_000_000, parameters=490_000_000, kv_bytes_per_tok=12_288)
WINDOWED = ModelSize(250_000_000, 270_000_000, 18_432, window_tok=512, window_share=0.8)
PLAIN = RunSettings(2, 2, 512, flash_attn=True)


def with_(**changes: object) -> RunSettings:
    return msgspec.structs.replace(PLAIN, **changes)


def true_decode_s(settings: RunSettings, streams: int, depth_tok: float) -> float:
    """A machine that reads weights in 10 ms, with 2 ms a row and 3 ms for 1,000 cells."""
    cell_s = {"f16": 3e-6, "q8_0": 4.5e-6}[settings.cache_type_k]
    step_s = 0.010 + 0.002 * streams + cell_s * streams * depth_tok
    return float(step_s * (2 / settings.threads) ** 0.7)


def true_prefill_s(settings: RunSettings, tokens: int, depth_tok: int = 0) -> float:
    """3 ms a token, 20 ms a micro-batch, 1 µs for each cell that a token sees."""
    batches = math.ceil(tokens / settings.ubatch_tok)
    cells = tokens * (depth_tok + tokens / 2)
    seconds = 0.004 + 0.020 * batches + 0.003 * tokens + 1e-6 * cells
    return float(seconds * (2 / settings.threads_batch) ** 0.9)


def decoded(settings: RunSettings, streams: int, depth_tok: float, by: float = 1.0) -> Observation:
    seconds = by * true_decode_s(settings, streams, depth_tok)
    return Observation("decode", settings, seconds, 64, depth_tok, streams)


def read(settings: RunSettings, tokens: int, depth_tok: int = 0, by: float = 1.0) -> Observation:
    seconds = by * true_prefill_s(settings, tokens, depth_tok)
    return Observation("prefill", settings, seconds, tokens, depth_tok)


def estimate(found: Estimate | Unmeasured) -> Estimate:
    assert isinstance(found, Estimate), found
    return found


def runs_of(seed: int, noise: float, count: int = 14) -> list[Observation]:
    """Random settings and work on the machine above, both kinds for each setting."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        threads = int(generator.choice([1, 2]))
        cache_type = str(generator.choice(["f16", "q8_0"]))
        settings = with_(
            threads=threads, threads_batch=threads, ubatch_tok=int(generator.choice([128, 512])),
            cache_type_k=cache_type, cache_type_v=cache_type,
        )  # fmt: skip
        streams, depth = int(generator.integers(1, 5)), int(generator.integers(100, 2000))
        tokens = int(generator.integers(100, 2000))
        by = np.exp(noise * generator.standard_normal(2)).tolist()
        found += [decoded(settings, streams, depth, by[0]), read(settings, tokens, 0, by[1])]
    return found


def test_that_a_machine_that_follows_the_formula_is_found_again() -> None:
    predictor = Predictor(runs_of(seed=1, noise=0.0, count=30), SIZE)
    for settings in (PLAIN, with_(threads=1, threads_batch=1), with_(ubatch_tok=128)):
        for streams, depth in ((1, 300), (3, 1200), (4, 1900)):
            found = estimate(predictor.decode(settings, Streams(streams, depth)))
            assert found.seconds == pytest.approx(true_decode_s(settings, streams, depth), rel=0.05)
        for tokens in (200, 700, 1900):
            read_s = estimate(predictor.prefill(settings, tokens)).seconds
            assert read_s == pytest.approx(true_prefill_s(settings, tokens), rel=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_that_noise_of_ten_percent_is_not_made_larger(seed: int) -> None:
    predictor = Predictor(runs_of(seed=seed, noise=0.1), SIZE)
    errors, inside = [], []
    for each in runs_of(seed=100 + seed, noise=0.1, count=40):
        found = estimate(
            predictor.decode(each.settings, Streams(each.streams, each.depth_tok))
            if each.work == "decode"
            else predictor.prefill(each.settings, each.tokens)
        )
        errors.append(abs(found.seconds / each.seconds - 1))
        low, high = found.band_s
        inside.append(low <= each.seconds <= high)
    assert np.median(errors) < 0.12
    assert 0.6 < np.mean(inside) <= 1.0


def test_that_one_run_is_enough_to_begin_with_near_it() -> None:
    predictor = Predictor([read(PLAIN, 800), decoded(PLAIN, 1, 850)], SIZE)
    near = estimate(predictor.prefill(PLAIN, 900))
    assert near.seconds == pytest.approx(true_prefill_s(PLAIN, 900), rel=0.1)
    assert estimate(predictor.decode(PLAIN, Streams(1, 900))).seconds == pytest.approx(
        true_decode_s(PLAIN, 1, 900), rel=0.1
    )


def test_that_the_band_grows_with_the_distance_to_what_was_measured() -> None:
    predictor = Predictor([read(PLAIN, 500), read(PLAIN, 520), decoded(PLAIN, 1, 500)], SIZE)
    by_length = [estimate(predictor.prefill(PLAIN, n)).error for n in (500, 1500, 6000, 24_000)]
    assert by_length == sorted(by_length)
    assert by_length[-1] > 2 * by_length[0]
    by_depth = [estimate(predictor.decode(PLAIN, Streams(1, d))).error for d in (500, 4000, 32_000)]
    assert by_depth == sorted(by_depth)
    by_streams = [estimate(predictor.decode(PLAIN, Streams(b, 500))).error for b in (1, 4, 16)]
    assert by_streams == sorted(by_streams)
    # A choice that was never tried is as good as the others, and less sure.
    known, other = (
        estimate(predictor.decode(s, Streams(1, 500))) for s in (PLAIN, with_(cache_type_k="q8_0"))
    )
    assert other.error > known.error
    fewer = estimate(predictor.prefill(with_(threads_batch=1), 500))
    assert fewer.error > by_length[0]


def test_that_a_choice_is_believed_the_more_the_oftener_it_was_seen() -> None:
    """A single run at half the speed may be a disturbance; ten are none."""
    often = [decoded(PLAIN, 1, 500 + 100 * n) for n in range(8)]
    slow = with_(drafts="ngram-simple 4 tok")
    factors = []
    for count in (1, 10):
        runs = often + [decoded(slow, 1, 500 + 90 * n, by=2.0) for n in range(count)]
        predictor = Predictor(runs, SIZE)
        slow_s, plain_s = (
            estimate(predictor.decode(s, Streams(1, 800))).seconds for s in (slow, PLAIN)
        )
        factors.append(slow_s / plain_s)
    assert 1.0 < factors[0] < factors[1]
    assert factors[1] == pytest.approx(2.0, rel=0.1)


def test_that_one_disturbed_run_among_many_is_no_rule() -> None:
    runs = [read(PLAIN, n) for n in (200, 400, 600, 800, 1000, 1200, 1400)]
    before = estimate(Predictor(runs, SIZE).prefill(PLAIN, 700)).seconds
    disturbed = estimate(Predictor([*runs, read(PLAIN, 701, by=4.0)], SIZE).prefill(PLAIN, 700))
    assert disturbed.seconds == pytest.approx(before, rel=0.2)


def test_that_what_cannot_be_concluded_is_not_predicted() -> None:
    nothing = Predictor([], SIZE)
    assert nothing.prefill(PLAIN, 100) == Unmeasured("no prompt was read by this model here")
    assert nothing.decode(PLAIN, Streams(1, 100)) == Unmeasured(
        "no answer was written by this model here"
    )
    predictor = Predictor([read(PLAIN, 500), decoded(PLAIN, 1, 500)], SIZE, cores=2)
    elsewhere = with_(placement="20 layers")
    found = predictor.prefill(elsewhere, 500)
    assert found == Unmeasured("no prompt was read with the weights placed so")
    assert isinstance(predictor.decode(elsewhere, Streams(1, 500)), Unmeasured)
    assert predictor.decode(with_(threads=3), Streams(1, 500)) == Unmeasured(
        "no answer was written with 3 threads"
    )
    assert isinstance(predictor.decode(with_(threads=1), Streams(1, 500)), Estimate)
    assert isinstance(
        predictor.decode(with_(drafts="ngram-mod 64 tok"), Streams(1, 500)), Unmeasured
    )
    # Once measured, it is.
    more = [read(with_(threads_batch=3), 500), decoded(with_(threads=3), 1, 500)]
    assert isinstance(
        Predictor(more, SIZE, cores=2).decode(with_(threads=3), Streams(1, 500)), Estimate
    )
    assert isinstance(Predictor(more[:1], SIZE).decode(PLAIN, Streams(1, 500)), Unmeasured)


def test_that_a_window_ends_what_a_token_sees_and_plain_attention_reads_it_whole() -> None:
    def cells(settings: RunSettings, depth_tok: float, size: ModelSize = WINDOWED) -> float:
        return decode_cost(settings, size, Streams(2, depth_tok)).parts[-1].amount * 1000

    assert cells(PLAIN, 400) == pytest.approx(800)
    assert cells(PLAIN, 1000) == pytest.approx(2 * (0.2 * 1000 + 0.8 * 512))
    plain = with_(flash_attn=False)
    # Cells come by 256, and the cache of the windowed layers holds a window and a micro-batch.
    assert cells(plain, 1000) == pytest.approx(2 * 1024)
    assert cells(plain, 3000) == pytest.approx(2 * (0.2 * 3072 + 0.8 * 1024))
    assert cells(with_(flash_attn=False, swa_full=True), 3000) == pytest.approx(2 * 3072)
    # In one pool everybody's cells are looked at.
    shared = with_(flash_attn=False, kv_unified=True)
    assert cells(shared, 1000, SIZE) == pytest.approx(2 * 2048)
    assert cells(plain, 1000, SIZE) == pytest.approx(2 * 1024)


def test_that_a_prompt_is_read_in_micro_batches() -> None:
    cost = prefill_cost(with_(ubatch_tok=128), SIZE, 300, 100)
    tokens, _, batches, cells = (part.amount for part in cost.parts)
    assert (tokens, batches) == (300, 3)
    # 128 tokens at 164 in the middle, 128 at 292, 44 at 378.
    assert cells * 1000 == pytest.approx(128 * 164 + 128 * 292 + 44 * 378)
    whole = prefill_cost(with_(ubatch_tok=128, flash_attn=False), SIZE, 300, 100)
    assert whole.parts[-1].amount * 1000 == pytest.approx(128 * 256 + 128 * 512 + 44 * 512)


def test_that_nothing_measured_can_break_the_sums() -> None:
    strange = [
        decoded(PLAIN, 1, 500, by=1e-6), decoded(PLAIN, 1, 500, by=1e6), decoded(PLAIN, 64, 0),
        read(PLAIN, 1), read(with_(threads_batch=512, ubatch_tok=1), 2000),
    ]  # fmt: skip
    predictor = Predictor(strange, ModelSize(0, 0, 0))
    for found in (predictor.decode(PLAIN, Streams(1, 1e6)), predictor.prefill(PLAIN, 1e6, 1e6)):
        low, high = estimate(found).band_s
        assert 0 < low <= estimate(found).seconds <= high < math.inf


@pytest.mark.parametrize("flash_attn", [True, False])
def test_that_a_sum_over_very_many_micro_batches_is_short_and_as_good(flash_attn: bool) -> None:
    settings = with_(ubatch_tok=1, flash_attn=flash_attn)
    exactly = sum(
        to - 0.5 if flash_attn else 256 * math.ceil(to / 256) for to in range(1001, 101_001)
    )
    cells = prefill_cost(settings, SIZE, 100_000, 1000).parts[-1].amount * 1000
    assert cells == pytest.approx(exactly, rel=1e-3)
    # What a stored file may hold: one by one it would take hours, and 16 GiB.
    assert math.isfinite(prefill_cost(settings, SIZE, 2.0**31, 0).parts[-1].amount)
