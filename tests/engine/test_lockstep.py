"""Steps whose tokens are booked together: nobody can tell, but by the time they take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine_bridge.child.bias import Bias
from engine_bridge.child.lockstep import Lockstep
from engine_bridge.protocol import Cancel, StepsMeasured, TokensDelivered
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine


def _spy(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps taken together that are booked at once from now on."""
    steps: list[int] = []
    book = Lockstep.book

    def counted(self: Lockstep, *args: object) -> None:
        steps.append(len(self._brought))
        book(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Lockstep, "book", counted)
    return steps


def _texts(desk: InProcess, path: Path, **settings: object) -> list[str]:
    desk.load(tiny_config(path, slots=4, **settings))
    limits = (40, 33, 25, 40)
    ids = [
        desk.ask(random_tokens(20 + number, seed=number), max_new_tok=limit, ignore_eog=True)
        for number, limit in enumerate(limits)
    ]
    assert [desk.finished(request_id).timing.new_tok for request_id in ids] == list(limits)
    return [desk.text(request_id) for request_id in ids]


@pytest.mark.parametrize("settings", [{}, {"kv_unified": True}, {"logit_bias": ("310+3",)}])
def test_that_answers_are_the_same_as_step_by_step(
    desk: InProcess,
    few_words_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, object],
) -> None:
    steps = _spy(monkeypatch)
    together = _texts(desk, few_words_path, **settings)
    assert sum(steps) > 20, "most steps were taken together"
    monkeypatch.setattr("engine_bridge.child.batcher.steps_together", lambda shares: 0)
    assert _texts(desk, few_words_path, **settings) == together


def test_that_steps_taken_together_are_counted_one_by_one(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = _spy(monkeypatch)
    desk.load(tiny_config(few_words_path, slots=2))
    ids = [desk.ask(random_tokens(9, seed=n), max_new_tok=60, ignore_eog=True) for n in range(2)]
    for request_id in ids:
        timing = desk.finished(request_id).timing
        times = [ns for e in desk.all_of(TokensDelivered, request_id) for ns in e.step_ns]
        assert len(times) == timing.new_tok == 60
        assert np.diff(times).min() > 0
    desk.until(lambda: sum(e.decoded_tok for e in desk.all_of(StepsMeasured)) == 120)
    assert sum(steps) > 20
    assert [slot.cached for slot in desk.batcher.slots] == [9 + 59, 9 + 59]


def test_that_a_cancel_is_heard_between_two_steps(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, slots=2, ctx_per_slot_tok=1024))
    gone, stays = (
        desk.ask(random_tokens(9, seed=n), max_new_tok=limit, ignore_eog=True)
        for n, limit in enumerate((900, 300))
    )
    desk.until(lambda: bool(desk.all_of(TokensDelivered, stays)))
    desk.send(Cancel(gone))
    finished = desk.finished(gone)
    assert finished.reason == "cancelled"
    assert finished.timing.new_tok < 900
    shown = [tok for e in desk.all_of(TokensDelivered, gone) for tok in e.step_tok]
    assert sum(shown) == finished.timing.new_tok, "what was computed is shown"
    assert finished.used_tok == 9 + finished.timing.new_tok - 1
    assert desk.finished(stays).timing.new_tok == 300


def test_that_the_end_of_one_answer_leaves_the_others_theirs(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, slots=3))
    prompts = [random_tokens(12, seed=number) for number in range(3)]
    alone = [desk.answer(prompt, max_new_tok=50) for prompt in prompts]
    ids = [desk.ask(prompt, max_new_tok=50) for prompt in prompts]
    for request_id, (text, finished) in zip(ids, alone, strict=True):
        together = desk.finished(request_id)
        assert (desk.text(request_id), together.reason) == (text, finished.reason)


@pytest.mark.parametrize(
    ("biases", "unbiased", "wanted"),
    [
        ({1: -np.inf}, 2, 2),  # the best token is not touched
        ({2: -np.inf}, 2, 1),
        ({0: 5.0}, 2, 0),
        ({2: -0.5}, 2, 2),  # lowered, but still the best
        ({2: -1.5}, 2, 1),
    ],
)
def test_that_a_bias_gives_what_adding_it_to_all_scores_gives(
    biases: dict[int, float], unbiased: int, wanted: int
) -> None:
    row = np.array([0.0, 2.0, 3.0], np.float32)
    bias = Bias.of(biases)
    assert bias is not None
    assert bias.likeliest(row, unbiased) == wanted
    matters = bias.matters_for
    assert wanted == unbiased or matters is None or unbiased in matters


def test_that_no_bias_is_none() -> None:
    assert Bias.of({}) is None
