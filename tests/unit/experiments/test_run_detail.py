"""What no single figure shows, computed by hand beside it."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Figures, RunDetail
from app.experiments.run_detail import detail_of, length_class
from app.experiments.run_figures import figures_of
from app.experiments.run_record import RunRecord
from engine_bridge.protocol import RequestTiming
from tests.unit.experiments.made_up import NoLimits
from tests.unit.experiments.made_up_requests import request_at

TIMING = RequestTiming(0.0, 0.5, 0.5, 0.02, None, None, prompt_tok=100, reused_tok=0, new_tok=5)


def with_prompt(prompt_tok: int, ttft_s: float | None, reused_tok: int = 0) -> RequestTiming:
    return msgspec.structs.replace(
        TIMING, prompt_tok=prompt_tok, reused_tok=reused_tok, ttft_s=ttft_s
    )


def test_that_prompts_of_about_one_length_are_one_point() -> None:
    detail = detail_of(
        [
            with_prompt(1000, 1.0),
            with_prompt(100, 0.1),
            with_prompt(104, 0.3),
            with_prompt(98, 0.2),
        ]
    )
    assert detail is not None
    assert detail.ttft_by_prompt == ((100.0, 0.2, 3), (1000.0, 1.0, 1))


def test_that_the_length_is_what_was_computed() -> None:
    detail = detail_of([with_prompt(1000, 0.2, reused_tok=900)])
    assert detail is not None
    assert detail.ttft_by_prompt == ((100.0, 0.2, 1),)


def test_that_what_took_no_tokens_or_gave_none_is_no_point() -> None:
    assert detail_of([with_prompt(0, 0.2), with_prompt(9, None), with_prompt(7, 0.1, 7)]) is None
    assert detail_of([]) is None


def test_that_positions_of_drafts_add_up() -> None:
    short = msgspec.structs.replace(TIMING, drafted_at=(4,), accepted_at=())
    long = msgspec.structs.replace(TIMING, drafted_at=(6, 5, 2), accepted_at=(5, 1))
    detail = detail_of([short, long])
    assert detail is not None
    assert detail.drafted_at == (10, 5, 2)
    assert detail.accepted_at == (5, 1)


@pytest.mark.parametrize(("tok", "same", "other"), [(256, 290, 400), (64, 70, 96)])
def test_that_a_class_is_narrower_than_a_factor_of_one_and_a_half(
    tok: int, same: int, other: int
) -> None:
    assert length_class(tok) == length_class(same)
    assert length_class(tok) != length_class(other)


def test_that_a_run_keeps_its_detail() -> None:
    record = RunRecord((request_at(1.0, (1.5, 1.52), prompt_tok=32),), duration_s=2.0)
    assert figures_of(record, NoLimits()).detail == RunDetail(((32.0, 0.5, 1),))


def test_that_a_run_kept_before_has_none() -> None:
    kept = msgspec.json.decode(b'{"ttft_s":0.5,"requests":3}', type=Figures)
    assert kept.detail is None
