"""Gaps of short chats beside a long prompt, and otherwise."""

from __future__ import annotations

import pytest

from app.experiments.lengths import Fixed
from app.experiments.long_prompt import PROMPTS, arriving, effect_of, long_workload
from app.experiments.recording import Recording
from app.experiments.run_record import RunRecord
from app.experiments.scripting import scripts_of
from app.experiments.workload import Material, Workload
from tests.unit.experiments.made_up_requests import request_at

CHAT = Workload(name="chat", material=Material.CODE, prompt_tok=Fixed(20), answer_tok=Fixed(4))


def test_that_gaps_that_touch_the_reading_are_told_from_the_others() -> None:
    record = RunRecord(
        (
            # Two gaps of 1.5 s lie beside the reading, or in part; three of 1 s do not.
            request_at(0.0, [1.0, 2.0, 3.5, 5.0, 6.0, 7.0]),
            # Read from 2.2 s, for it waited 0.2 s, to 4.5 s.
            request_at(2.0, [4.5, 8.0], script="long prompt-001", queue_s=0.2, prompt_tok=4000),
        ),
        10.0,
    )
    effect = effect_of(record)
    assert (effect.reading_gaps, effect.other_gaps) == (2, 3)
    assert effect.reading_p99_s == pytest.approx(1.5)
    assert effect.other_p99_s == pytest.approx(1.0)
    assert (effect.prompts, effect.prompt_tok) == (1, 4000)
    assert effect.ttft_s == pytest.approx(2.5)


def test_that_without_a_long_prompt_no_gap_is_beside_one() -> None:
    effect = effect_of(RunRecord((request_at(0.0, [1.0, 2.0]),), 2.0))
    assert (effect.reading_p99_s, effect.reading_gaps, effect.prompts) == (None, 0, 0)
    assert effect.ttft_s is None


def test_that_long_prompts_are_as_long_as_asked_for_and_arrive_one_after_the_other() -> None:
    workload = long_workload(CHAT, 500)
    workload.check()
    scripts = arriving(scripts_of(workload, 0.25), 12.0)
    assert len(scripts) == PROMPTS
    assert [script.start_s for script in scripts] == [2.0, 6.0, 10.0]
    assert all(abs(len(script.turns[0].text) * 0.25 - 500) < 50 for script in scripts)
    # Others' caches hold nothing of them.
    assert len({script.turns[0].text[:40] for script in scripts}) == PROMPTS


def test_that_beside_a_replay_prose_is_read() -> None:
    replay = Workload(
        name="replay", material=Material.CONVERSATION, recording=Recording("Talk", (), "")
    )
    assert long_workload(replay, 100).material is Material.PROSE
