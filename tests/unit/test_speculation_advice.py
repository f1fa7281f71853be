from __future__ import annotations

from dataclasses import replace

import pytest

from app.advisor_words import advice_details, off_words, waiting_words
from engine_bridge.metrics.definitions import expected_tokens_per_pass
from engine_bridge.metrics.speculation import (
    LEAST_PASSES,
    DraftFigures,
    TurnRun,
    baseline_tpots,
    figures_of,
)
from engine_bridge.metrics.speculation_advice import Advice, Verdict, advice_for
from engine_bridge.metrics.turn_details import TurnDetails
from engine_bridge.settings.config import EngineConfig

OFF = EngineConfig()
COPIES = EngineConfig(spec_types=("ngram-simple",))
MODEL = EngineConfig(spec_types=("draft-simple",), draft_model_path="d.gguf")


def run(
    config: EngineConfig, tpot_s: float, *, new_tok: int = 101, passes: int = 100,
    drafted_at: tuple[int, ...] = (), accepted_at: tuple[int, ...] = (), of: str = "a",
) -> TurnRun:  # fmt: skip
    return TurnRun(
        of,
        config,
        TurnDetails(
            queue_s=0.0, prefill_s=0.1, new_tok=new_tok, prompt_tok=9, reused_tok=0,
            steps=passes + 1, tpot_s=tpot_s, drafted_at=drafted_at, accepted_at=accepted_at,
        ),
    )  # fmt: skip


def figures(**changes: object) -> DraftFigures:
    """50 of 100 passes drafted 4 tokens; 40, 32, 16 and 12 of them held: 2 tokens a pass."""
    fields: dict[str, object] = {
        "turns": 2, "passes": 100, "drafted_at": (50,) * 4, "accepted_at": (40, 32, 16, 12),
        "tokens_per_pass": 2.0, "pass_s": 0.030, "tpot_s": 0.015, "tpot_range_s": (0.014, 0.016),
        "baseline_turns": 2, "baseline_tpot_s": 0.020, "baseline_range_s": (0.019, 0.021),
    }  # fmt: skip
    return DraftFigures(**(fields | changes))  # type: ignore[arg-type]


def test_that_turns_of_one_conversation_and_these_settings_are_added_up() -> None:
    runs = [
        run(OFF, 0.020), run(OFF, 0.024), run(OFF, 0.020, of="b"),
        run(COPIES, 0.010, new_tok=201, drafted_at=(60, 40), accepted_at=(55, 30)),
        run(COPIES, 0.012, new_tok=151, drafted_at=(40,), accepted_at=(20,)),
        run(COPIES, 9.9, of="b"),
        run(COPIES.with_values({"ngram_size_m": 5}), 9.9),
        run(COPIES, 9.9, passes=LEAST_PASSES - 1),
    ]  # fmt: skip
    found = figures_of(runs, "a", COPIES)
    assert found is not None
    assert (found.turns, found.passes) == (2, 200)
    assert (found.drafted_at, found.accepted_at) == ((100, 40), (75, 30))
    assert found.tokens_per_pass == pytest.approx(350 / 200)
    assert found.tpot_s == pytest.approx(0.011)
    # 200 tokens in 100 passes at 10 ms a token, 150 at 12 ms.
    assert found.pass_s == pytest.approx((0.020 + 0.018) / 2)
    assert found.baseline_tpot_s == 0.020
    assert found.baseline_turns == 3


def test_that_only_the_settings_of_drafts_may_differ_from_the_baseline_s() -> None:
    other = OFF.with_values({"threads": 7})
    runs = [run(OFF, 0.020), run(other, 0.5), run(MODEL, 0.4), run(OFF, 0.3, passes=3)]
    assert baseline_tpots(runs, MODEL) == [0.020]
    found = figures_of([*runs, run(MODEL, 0.010)], "a", MODEL)
    assert found is not None
    assert found.baseline_tpot_s == 0.020
    # Another model is another baseline.
    moved = MODEL.with_values({"model_path": "other.gguf"})
    assert baseline_tpots(runs, moved) == []


def test_that_a_conversation_without_a_long_enough_turn_has_no_figures() -> None:
    assert figures_of([run(COPIES, 0.01)], "b", COPIES) is None
    assert figures_of([], "a", COPIES) is None
    assert figures_of([run(OFF, 0.01)], "a", OFF) is None


def test_that_acceptance_and_formula_are_those_of_the_definitions() -> None:
    found = figures()
    assert found.alpha == 0.5
    # Reached: 50 first guesses, 40 second ones, 32 third and 16 fourth.
    reached = 100 / (50 + 40 + 32 + 16)
    assert found.reached_alpha == pytest.approx(reached)
    expected = (50 * expected_tokens_per_pass(reached, 4) + 50) / 100
    assert found.expected_per_pass == pytest.approx(expected)


def test_that_a_process_of_independent_guesses_is_expected_as_it_comes() -> None:
    """A true α of 0.8 at every position: formula and measurement agree."""
    drafted, alpha = 100_000, 0.8
    accepted = tuple(round(drafted * alpha**place) for place in range(1, 5))
    found = figures(passes=drafted, drafted_at=(drafted,) * 4, accepted_at=accepted)
    measured = 1 + sum(accepted) / drafted
    assert found.expected_per_pass == pytest.approx(measured, rel=1e-3)


def test_that_drafts_of_different_lengths_are_expected_each_by_its_own() -> None:
    found = figures(passes=10, drafted_at=(10, 4), accepted_at=(10, 4))
    assert found.expected_per_pass == pytest.approx((6 * 2 + 4 * 3) / 10)


def test_that_cost_and_gain_are_held_against_the_baseline() -> None:
    found = figures()
    assert found.cost_share == pytest.approx(1 / 3)
    assert found.gain == pytest.approx(1 / 3)
    alone = figures(baseline_tpot_s=None, baseline_range_s=None, baseline_turns=0)
    assert alone.cost_share is None
    assert alone.gain is None


@pytest.mark.parametrize(
    ("changes", "spec_types", "verdict"),
    [
        ({}, COPIES.spec_types, Verdict.KEEP),
        ({"baseline_tpot_s": None, "baseline_range_s": None}, COPIES.spec_types,
         Verdict.MEASURE_BASELINE),
        ({"drafted_at": (), "accepted_at": ()}, COPIES.spec_types, Verdict.NOTHING_DRAFTED),
        ({"accepted_at": (0, 0, 0, 0)}, COPIES.spec_types, Verdict.SWITCH_OFF),
        ({"accepted_at": (0, 0, 0, 0), "baseline_tpot_s": None, "baseline_range_s": None},
         COPIES.spec_types, Verdict.SWITCH_OFF),
        # The same medians, but the runs overlap: no difference.
        ({"tpot_range_s": (0.014, 0.0195)}, COPIES.spec_types, Verdict.NO_DIFFERENCE),
        ({"tpot_s": 0.0196, "tpot_range_s": (0.0196, 0.0196),
          "baseline_range_s": (0.020, 0.020)}, COPIES.spec_types, Verdict.NO_DIFFERENCE),
        # Guesses that are good, but dearer than what they bring.
        ({"accepted_at": (48, 46, 44, 42), "tpot_s": 0.030, "tpot_range_s": (0.03, 0.03),
          "pass_s": 0.084}, MODEL.spec_types, Verdict.TRY_COPIES),
        ({"accepted_at": (48, 46, 44, 42), "tpot_s": 0.030, "tpot_range_s": (0.03, 0.03),
          "pass_s": 0.084}, COPIES.spec_types, Verdict.SWITCH_OFF),
    ],
)  # fmt: skip
def test_that_the_advice_follows_from_the_figures(
    changes: dict[str, object], spec_types: tuple[str, ...], verdict: Verdict
) -> None:
    found = figures(**changes)
    assert advice_for(found, spec_types).verdict is verdict
    texts = advice_details(found, spec_types)
    assert texts[0].hint.endswith(".")
    assert all(detail.hint for detail in texts)


def test_that_drafts_are_shortened_to_where_their_guesses_still_pay() -> None:
    # A draft of 8 a pass of which the first two hold nearly always and the others never.
    found = figures(
        passes=100, drafted_at=(100,) * 8, accepted_at=(95, 90, 0, 0, 0, 0, 0, 0),
        pass_s=0.040, tpot_s=0.040 / 2.85, tpot_range_s=(0.0140, 0.0141),
    )  # fmt: skip
    advice = advice_for(found, COPIES.spec_types)
    # A guess costs 20 ms / 8; with two of them a pass takes 25 ms.
    speed_then, speed_now = 2.85 / 0.025, 2.85 / 0.040
    assert advice == Advice(Verdict.SHORTEN, 2, advice.estimated_gain, 0.0)
    assert advice.estimated_gain == pytest.approx(speed_then / speed_now - 1)
    [head, *_] = advice_details(found, COPIES.spec_types)
    assert head.title == "Shorten the drafts to 2"
    assert "estimate" in head.hint


def test_that_no_shorter_draft_is_advised_where_the_last_guesses_pay() -> None:
    found = figures(drafted_at=(50,) * 4, accepted_at=(50, 50, 50, 50), tokens_per_pass=3.0)
    assert advice_for(found, COPIES.spec_types).verdict is Verdict.KEEP


def test_that_every_figure_stands_beside_its_meaning() -> None:
    head, alpha, tokens, cost, gain = advice_details(figures(), COPIES.spec_types)
    assert (head.title, head.hint) == (
        "Keep the drafts", "Answers here come 33% faster than without.",
    )  # fmt: skip
    assert alpha.value == "50%"
    assert "100 of 200 drafted tokens" in alpha.hint
    assert tokens.value == f"2.00 measured, {figures().expected_per_pass:.2f} expected"
    assert "(1 − α^(k+1)) / (1 − α)" in tokens.hint
    assert cost.value == "33% of a pass"
    assert gain.value == "+33%"
    assert "2 turns of this session" in gain.hint
    slower = advice_details(replace(figures(), tpot_s=0.025), COPIES.spec_types)[-1]
    assert slower.value == "−20%"


def test_that_nothing_is_said_of_a_gain_that_was_not_measured() -> None:
    alone = figures(baseline_tpot_s=None, baseline_range_s=None, baseline_turns=0)
    for detail in advice_details(alone, COPIES.spec_types)[-2:]:
        assert detail.value == "not known yet"
        assert detail.hint == "No turn without drafts was measured yet."


def test_that_the_empty_states_say_what_will_appear() -> None:
    assert str(LEAST_PASSES) in waiting_words().hint
    assert off_words(0).hint.startswith("The next answer")
    assert off_words(1).hint.startswith("1 turn without drafts")
