"""Which of two configurations a tuner takes for better, from few runs."""

from __future__ import annotations

import math
import random

import pytest

from app.experiments.experiment import Figures
from app.experiments.lengths import Fixed
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.tune_judge import Rounds
from app.experiments.tune_objective import objective_of, strain, turn_s
from app.experiments.verdict import Outcome
from app.experiments.workload import Material, Workload
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.made_up_tables import figures

WORK = Workload(
    "work", Material.PROSE, Fixed(64), Fixed(100), requests=8, users=1, ttft_slo_s=1.0,
    tpot_slo_s=0.1,
)  # fmt: skip
ONE, OTHER, THIRD = (EngineConfig(slots=slots) for slots in (1, 2, 3))


def goal_for(purpose: Purpose, users: int = 4) -> TuneGoal:
    return TuneGoal(purpose, WORK, users=1 if purpose is Purpose.CHAT else users)


def users_run(kept_share: float, goodput: float, ttft_p95_s: float = 2.0) -> Figures:
    return Figures(
        kept_share=kept_share, goodput_req_s=goodput, ttft_p95_s=ttft_p95_s, tpot_s=0.05,
        requests=40,
    )  # fmt: skip


def judged_rounds(purpose: Purpose, *rounds: tuple[Figures, Figures]) -> Rounds:
    objective = objective_of(goal_for(purpose))
    judge = Rounds(objective)
    for one, other in rounds:
        judge.begin()
        for config, run in ((ONE, one), (OTHER, other)):
            judge.note(config, objective.scores(run), run.requests + run.failed, "")
    return judge


def test_that_a_turn_is_the_wait_and_the_whole_answer() -> None:
    assert turn_s(Figures(ttft_s=0.5, tpot_s=0.02), 100) == pytest.approx(2.5)
    assert turn_s(Figures(ttft_s=0.5), 100) is None
    # Twice the text speed outweighs half a second more until the first word.
    judge = judged_rounds(
        Purpose.CHAT,
        *[(Figures(ttft_s=1.0, tpot_s=0.02, requests=8), Figures(ttft_s=0.5, tpot_s=0.04,
           requests=8))] * 2,
    )  # fmt: skip
    assert judge.judge(ONE, OTHER).outcome is Outcome.BETTER


def test_that_a_large_gain_is_clear_after_two_pairs_and_a_small_one_is_not() -> None:
    large = judged_rounds(Purpose.BATCH, *[(figures(14), figures(10))] * 2)
    assert large.judge(ONE, OTHER).outcome is Outcome.BETTER
    assert large.judge(OTHER, ONE).outcome is Outcome.WORSE
    small = judged_rounds(Purpose.BATCH, (figures(10.2), figures(10)), (figures(10), figures(10)))
    judgement = small.judge(ONE, OTHER)
    assert judgement.outcome is Outcome.NONE
    assert judgement.may_gain
    assert small.judge(ONE, THIRD).outcome is Outcome.UNKNOWN


def test_that_equal_settings_are_seldom_told_apart() -> None:
    chance = random.Random(5)
    mistaken = 0
    for _ in range(400):
        runs = [
            (figures(10 * math.exp(chance.gauss(0, 0.03))),
             figures(10 * math.exp(chance.gauss(0, 0.03))))
            for _ in range(3)
        ]  # fmt: skip
        mistaken += judged_rounds(Purpose.BATCH, *runs).judge(ONE, OTHER).outcome is Outcome.BETTER
    assert mistaken <= 400 * 0.08


def test_that_quiet_pairs_elsewhere_make_a_small_gain_clear() -> None:
    small = [(figures(10.4), figures(10)), (figures(10.41), figures(10))]
    assert judged_rounds(Purpose.BATCH, *small).judge(ONE, OTHER).outcome is Outcome.NONE
    judge = judged_rounds(Purpose.BATCH, *small)
    objective = objective_of(goal_for(Purpose.BATCH))
    for _ in range(12):
        judge.begin()
        judge.note(OTHER, objective.scores(figures(10)), 8, "")
        judge.note(THIRD, objective.scores(figures(10.001)), 8, "")
    judge.judge(THIRD, OTHER)
    assert judge.judge(ONE, OTHER).outcome is Outcome.BETTER


def test_that_more_kept_requests_decide_before_goodput() -> None:
    judge = judged_rounds(Purpose.USERS, *[(users_run(1.0, 1.0), users_run(0.5, 1.4))] * 2)
    judgement = judge.judge(ONE, OTHER)
    assert judgement.outcome is Outcome.BETTER
    assert judgement.level == 1


def test_that_goodput_decides_between_alike_shares() -> None:
    judge = judged_rounds(Purpose.USERS, *[(users_run(0.95, 1.3), users_run(0.975, 1.0))] * 2)
    judgement = judge.judge(ONE, OTHER)
    assert judgement.outcome is Outcome.BETTER
    assert judgement.level == 2


def test_that_where_no_request_keeps_the_limits_the_nearer_one_is_better() -> None:
    near, far = users_run(0.0, 0.0, ttft_p95_s=2.0), users_run(0.0, 0.0, ttft_p95_s=6.0)
    assert strain(far, WORK) == 6.0
    judgement = judged_rounds(Purpose.USERS, *[(near, far)] * 2).judge(ONE, OTHER)
    assert judgement.outcome is Outcome.BETTER
    assert judgement.level == 3


def test_that_requests_that_fail_outweigh_any_speed() -> None:
    fast = Figures(total_tok_s=20, requests=20, failed=20)
    slow = Figures(total_tok_s=10, requests=40)
    judge = judged_rounds(Purpose.BATCH, *[(fast, slow)] * 2)
    assert judge.judge(ONE, OTHER).outcome is Outcome.WORSE


def test_that_a_disturbed_run_does_not_count_unless_most_are() -> None:
    objective = objective_of(goal_for(Purpose.BATCH))
    judge = Rounds(objective)
    for number in range(4):
        judge.begin()
        judge.note(ONE, objective.scores(figures(5 if number == 0 else 10)), 8,
                   "Other programs." if number == 0 else "")  # fmt: skip
        judge.note(OTHER, objective.scores(figures(10)), 8, "")
    assert judge.judge(ONE, OTHER).pairs == 3
    for _ in range(6):
        judge.begin()
        judge.note(ONE, objective.scores(figures(10)), 8, "Other programs.")
        judge.note(OTHER, objective.scores(figures(10)), 8, "Other programs.")
    assert judge.is_restless
    assert judge.judge(ONE, OTHER).pairs == 10
