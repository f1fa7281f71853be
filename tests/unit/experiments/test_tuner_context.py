"""How much context the tuner gives each slot: the user's own where it fits and suffices."""

from __future__ import annotations

from collections.abc import Callable

from app.experiments.tune_context import longest_tok
from app.experiments.tune_goal import Purpose, TuneGoal
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from tests.unit.experiments.made_up_speeds import (
    PLAIN,
    WORK,
    SpeedBench,
    best_of,
    by_threads,
    said_of,
    tuned,
)  # fmt: skip
from tests.unit.fake_client import model_facts

TAKES_TOK = longest_tok(TuneGoal(Purpose.CHAT, WORK))
NEEDED_TOK = pad_context_tok(TAKES_TOK)


def trained_for(tokens: int) -> ModelFacts:
    return model_facts(ctx_train_tok=tokens)


def test_that_a_context_that_fits_and_suffices_stays_and_that_is_said() -> None:
    experiment = tuned(SpeedBench(by_threads))
    assert best_of(experiment).ctx_per_slot_tok == 4096 > NEEDED_TOK
    note = f"Context per slot: kept at 4,096 tokens: it fits, and the work takes {TAKES_TOK}."
    assert note in said_of(experiment)
    roomy = tuned(SpeedBench(by_threads, model=trained_for(32_768)))
    assert best_of(roomy).ctx_per_slot_tok == 4096


def test_that_a_context_that_does_not_fit_is_sized_to_the_work_before_the_cache_is_coarser() -> (
    None
):
    def misfit(config: EngineConfig) -> str:
        return "System memory does not suffice." if config.pool_tok > 2048 else ""

    experiment = tuned(SpeedBench(by_threads, misfit))
    best = best_of(experiment)
    assert (best.ctx_per_slot_tok, best.cache_type_k) == (NEEDED_TOK, "f16")
    assert (
        f"Context per slot: {NEEDED_TOK} tokens in place of 4,096, for memory is short, and the "
        f"work takes {TAKES_TOK}."
    ) in said_of(experiment)
    # More slots that fit with less context alone are tried with less.
    many = tuned(
        SpeedBench(lambda config: 10.0 * config.slots, misfit), Purpose.BATCH, users=4,
        start=PLAIN.with_values({"slots": 1, "ctx_per_slot_tok": 2048}),
    )  # fmt: skip
    assert (best_of(many).slots, best_of(many).ctx_per_slot_tok) == (4, NEEDED_TOK)


def test_that_a_context_that_is_too_small_is_raised() -> None:
    experiment = tuned(SpeedBench(by_threads), ctx_needed_tok=6000)
    assert best_of(experiment).ctx_per_slot_tok == 6144
    assert (
        "Context per slot: 6,144 tokens in place of 4,096, for 6,000 were asked for."
    ) in said_of(experiment)


def test_that_the_models_whole_maximum_is_sized_to_the_work() -> None:
    experiment = tuned(SpeedBench(by_threads, model=trained_for(4096)))
    assert best_of(experiment).ctx_per_slot_tok == NEEDED_TOK
    notes = said_of(experiment)
    assert "in place of 4,096, the model's whole maximum, for the work takes" in notes
    assert "sized to the work, not to the model's maximum" in notes
    beyond = tuned(SpeedBench(by_threads, model=trained_for(2048)))
    assert best_of(beyond).ctx_per_slot_tok == NEEDED_TOK
    assert "more than the 2,048 that the model was trained for" in said_of(beyond)


def test_that_a_shared_pool_stays_unless_it_is_too_small_for_all() -> None:
    shared = PLAIN.with_values({"kv_unified": True, "slots": 2, "ctx_total_tok": 8192})
    experiment = tuned(SpeedBench(lambda _: 9.0), Purpose.BATCH, users=2, start=shared)
    assert best_of(experiment).ctx_total_tok == 8192
    small = shared.with_values({"ctx_total_tok": 256, "ctx_per_slot_tok": 4096})
    experiment = tuned(SpeedBench(lambda _: 9.0), Purpose.BATCH, users=2, start=small)
    assert (best_of(experiment).ctx_total_tok, best_of(experiment).ctx_per_slot_tok) == (
        "auto",
        4096,
    )


def test_that_on_a_gpu_the_context_gives_way_only_where_it_brings_all_layers_there() -> None:
    def misfit(most_tok: int) -> Callable[[EngineConfig], str]:
        def why(config: EngineConfig) -> str:
            is_short = config.n_gpu_layers == "all" and config.pool_tok > most_tok
            return "CUDA0 does not suffice." if is_short else ""

        return why

    helped = best_of(tuned(SpeedBench(lambda _: 9.0, misfit(1024), has_board=True)))
    assert (helped.n_gpu_layers, helped.ctx_per_slot_tok) == ("all", NEEDED_TOK)
    hopeless = best_of(tuned(SpeedBench(lambda _: 9.0, misfit(0), has_board=True)))
    assert (hopeless.n_gpu_layers, hopeless.ctx_per_slot_tok) == ("auto", 4096)
