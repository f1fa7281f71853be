"""The tuner on made-up engines: what it settles, tries, keeps, drops and says."""

from __future__ import annotations

import msgspec

from app.experiments.experiment import Figures, Kind, State
from app.experiments.port import ConfigRefusedError, EngineGoneError, PortError
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.tune_result import changes_between
from app.experiments.tune_table import tune_lines
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from tests.unit.experiments.made_up import Listener, plan_that_fits
from tests.unit.experiments.made_up_speeds import (
    PLAIN,
    WORK,
    SpeedBench,
    best_of,
    by_threads,
    said_of,
    tuned,
)  # fmt: skip
from tests.unit.experiments.made_up_tables import figures


def test_that_one_person_gets_one_slot_and_what_measures_faster() -> None:
    bench = SpeedBench(by_threads)
    experiment = tuned(bench)
    best = best_of(experiment)
    assert (experiment.kind, experiment.state) == (Kind.TUNE, State.DONE)
    assert (best.slots, best.threads) == (1, 1)
    # Nothing else brought anything.
    assert set(changes_between(PLAIN, best)) == {"slots", "threads"}
    notes = said_of(experiment)
    assert "Parallel slots: 1 in place of 4." in notes
    assert "Threads, decode: tried threads=1 in place of auto. Saw" in notes
    assert "Kept, for the gain is clear." in notes
    assert "Dropped, for the difference is no larger than what runs differ by." in notes
    assert "threads=1 in place of auto" in experiment.conclusion[0]
    assert any("% faster than the settings before" in said for said in experiment.conclusion)


def test_that_no_more_is_measured_than_the_budget_and_each_part_is_handed_on() -> None:
    bench, listener = SpeedBench(by_threads), Listener()
    experiment = tuned(bench, listener=listener, measurements=12)
    assert len(bench.measured) <= 12
    assert sum(len(cell.runs) for cell in experiment.cells) == len(bench.measured)
    counts = [sum(len(cell.runs) for cell in one.cells) for one in listener.kept_ones]
    assert sorted(set(counts)) == list(range(1, len(bench.measured) + 1))
    assert all(0 <= share <= 1 for share, _, _ in listener.told)


def test_that_what_is_clearly_worse_gets_a_single_run() -> None:
    bench = SpeedBench(lambda config: 3.0 if config.spec_types else 10.0)
    tuned(bench)
    drafting = [config for config in bench.measured if config.spec_types]
    assert len(drafting) == len(set(drafting)) == 5


def test_that_drafts_that_pay_are_found_with_their_length_and_a_slow_draft_model_is_not() -> None:
    def speed(config: EngineConfig) -> float:
        if "draft-simple" in config.spec_types:
            return 7.0
        if "ngram-simple" in config.spec_types:
            return 14.0 + (4.0 if config.ngram_size_m == 64 else 0.0)
        return 10.0

    bench = SpeedBench(speed)
    experiment = tuned(bench, drafts=("/draft.gguf",), measurements=120)
    best = best_of(experiment)
    assert best.spec_types == ("ngram-simple",)
    assert best.ngram_size_m == 64
    assert any("draft-simple" in config.spec_types for config in bench.measured)
    notes = said_of(experiment)
    assert "draft_model_path=draft.gguf in place of none" in notes
    # Drafts learn from texts, so these are not the same again and again.
    assert max(bench.variants) > 0


def test_that_slots_are_doubled_until_the_total_stops_growing() -> None:
    def speed(config: EngineConfig) -> float:
        return {1: 10.0, 2: 19.0, 4: 30.0, 8: 31.0, 16: 31.0}[config.slots]

    bench = SpeedBench(speed)
    experiment = tuned(bench, Purpose.BATCH, users=16, start=PLAIN.with_values({"slots": 1}))
    tried = list(dict.fromkeys(config.slots for config in bench.measured))
    assert tried[:4] == [1, 2, 4, 8]
    assert best_of(experiment).slots in (4, 8)
    assert "slots=2 in place of 1" in said_of(experiment)


def test_that_users_get_what_keeps_the_limits_and_not_the_highest_total() -> None:
    def run(speed: float, config: EngineConfig) -> Figures:
        is_kept = config.slots <= 2
        return msgspec.structs.replace(
            figures(speed),
            kept_share=1.0 if is_kept else 0.3,
            goodput_req_s=1.0 if is_kept else 0.6,
            ttft_p95_s=0.5,
        )

    bench = SpeedBench(lambda config: 10.0 * config.slots, run=run)
    experiment = tuned(bench, Purpose.USERS, users=8)
    assert best_of(experiment).slots <= 2
    assert "requests within the limits" in said_of(experiment)


def test_that_the_kv_cache_is_quantised_where_memory_is_the_limit_and_only_there() -> None:
    def misfit(config: EngineConfig) -> str:
        size = config.slots * (0.53 if config.cache_type_k == "q8_0" else 1.0)
        return "CUDA0 does not suffice." if size > 4.5 else ""

    def speed(config: EngineConfig) -> float:
        return 10.0 * float(config.slots**0.8)

    best = best_of(tuned(SpeedBench(speed, misfit), Purpose.BATCH, users=16))
    assert (best.slots, best.cache_type_k, best.cache_type_v) == (8, "q8_0", "q8_0")
    roomy = SpeedBench(speed)
    tuned(roomy, Purpose.BATCH, users=16)
    assert {config.cache_type_k for config in roomy.measured} == {"f16"}
    floored = SpeedBench(speed, misfit)
    experiment = tuned(floored, Purpose.BATCH, users=16, kv_floor="f16")
    assert {config.cache_type_k for config in floored.measured} == {"f16"}
    assert best_of(experiment).slots == 4
    skipped = [cell for cell in experiment.cells if cell.skipped]
    assert skipped[0].skipped == "CUDA0 does not suffice."
    assert "was not measured. CUDA0 does not suffice." in skipped[0].notes[0]


def test_that_layers_go_onto_the_gpu_as_a_whole_with_a_smaller_cache_if_need_be() -> None:
    def misfit(config: EngineConfig) -> str:
        is_whole, is_small = config.n_gpu_layers == "all", config.cache_type_k == "q8_0"
        return "CUDA0 does not suffice." if is_whole and not is_small else ""

    bench = SpeedBench(lambda config: 10.0, misfit, has_board=True)
    experiment = tuned(bench)
    best = best_of(experiment)
    assert (best.n_gpu_layers, best.cache_type_k) == ("all", "q8_0")
    notes = said_of(experiment)
    assert "Layers: all on the GPU" in notes
    assert "Memory is the limit, and it takes 53% of an f16 cache" in notes
    part = SpeedBench(lambda config: 10.0, misfit, has_board=True)
    experiment = tuned(part, kv_floor="f16")
    assert best_of(experiment).n_gpu_layers == "auto"
    assert "do not fit on the GPU as a whole" in said_of(experiment)


def test_that_settings_to_keep_are_not_touched() -> None:
    kept = ("ctx_per_slot_tok", "slots", "threads", "spec_types")
    bench = SpeedBench(by_threads)
    experiment = tuned(bench, kept=kept)
    assert all(
        getattr(config, key) == getattr(PLAIN, key) for config in bench.measured for key in kept
    )
    assert any(said.startswith("Not touched, as you asked") for said in experiment.conclusion)


def test_that_a_stop_leaves_the_best_so_far() -> None:
    experiment = tuned(SpeedBench(by_threads, stop_after=14))
    assert experiment.state is State.STOPPED
    assert best_of(experiment).threads == 1
    assert experiment.conclusion[0].startswith("Stopped by you; these are the best")
    early = tuned(SpeedBench(by_threads, stop_after=2))
    assert early.state is State.STOPPED
    assert best_of(early).slots == 1


def test_that_a_stop_in_the_middle_of_a_race_tells_what_was_seen() -> None:
    def speed(config: EngineConfig) -> float:
        return 10.4 if config.spec_types else 10.0

    # Two rounds of two, one of the best beside five kinds of drafts, and half of the next.
    kept = ("threads", "threads_batch", "ubatch_tok", "flash_attn")
    experiment = tuned(SpeedBench(speed, stop_after=13), kept=kept)
    drafting = [cell for cell in experiment.cells if cell.config.get("spec_types")]
    assert sum(len(cell.runs) for cell in experiment.cells) == 13
    assert len(drafting) == 5
    assert all("Not decided, for you stopped it." in cell.notes[-1] for cell in drafting)
    early = tuned(SpeedBench(speed, stop_after=6), kept=kept)
    (first,) = [cell for cell in early.cells if cell.config.get("spec_types")]
    assert "Not decided" in first.notes[-1]


def test_that_a_refusal_of_the_engine_is_noted_and_not_the_end() -> None:
    def fails(config: EngineConfig) -> PortError | None:
        if config.flash_attn == "on":
            return ConfigRefusedError(Problem(("flash_attn",), "No kernel for these heads."))
        return EngineGoneError("The engine was ended.") if config.ubatch_tok == 256 else None

    experiment = tuned(SpeedBench(by_threads, fails=fails))
    assert experiment.state is State.DONE
    assert best_of(experiment).threads == 1
    refused = [cell for cell in experiment.cells if cell.skipped == "No kernel for these heads."]
    assert len(refused) == 1
    assert "was not measured. No kernel" in refused[0].notes[0]


def test_that_where_nothing_fits_the_planner_says_why_and_nothing_is_measured() -> None:
    bench = SpeedBench(by_threads, lambda config: "System memory does not suffice.")
    experiment = tuned(bench)
    assert experiment.state is State.FAILED
    assert experiment.failure == "System memory does not suffice."
    assert not bench.measured


def test_that_an_engine_that_is_of_no_use_ends_it_with_a_sentence() -> None:
    experiment = tuned(SpeedBench(by_threads, fails=lambda config: PortError("It is over.")))
    assert (experiment.state, experiment.failure) == (State.FAILED, "It is over.")


def test_that_a_later_step_has_earlier_ones_looked_at_again() -> None:
    def speed(config: EngineConfig) -> float:
        # Without flash attention small micro-batches are best, with it large ones.
        if config.flash_attn == "off":
            return {256: 13.0, 512: 12.0, 1024: 16.0, 2048: 16.0}.get(config.ubatch_tok, 11.0)
        return {256: 10.0, 512: 10.0, 1024: 9.2}.get(config.ubatch_tok, 7.0)

    best = best_of(tuned(SpeedBench(speed), measurements=120))
    assert (best.flash_attn, best.ubatch_tok) == ("off", 1024)


def test_that_the_text_has_the_tries_the_changes_and_the_command_line() -> None:
    goal = TuneGoal(Purpose.CHAT, WORK)
    experiment = tuned(SpeedBench(by_threads))
    text = "\n".join(tune_lines(experiment, PLAIN, goal, explain=True, plan=plan_that_fits))
    assert "+ Threads, decode: tried threads=1" in text
    assert "--set threads=1" in text
    assert "llama-server -m /m.gguf" in text
    assert "-t 1" in text
    assert "TTFT + mean tokens of an answer × TPOT" in " ".join(text.split())
