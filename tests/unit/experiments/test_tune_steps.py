"""The order of a tuner's steps and what each may try."""

from __future__ import annotations

import pytest

from app.experiments.cli_tune import PURPOSES, USUAL_BUDGET, USUAL_KV_FLOOR, USUAL_MARGIN_MIB
from app.experiments.cli_tune import USUAL_SECONDS as CLI_SECONDS
from app.experiments.experiment import Cell
from app.experiments.tune_drafts import both_kinds, kind_of_file, uses
from app.experiments.tune_goal import (
    KV_LADDER,
    USUAL_MARGIN_BYTES,
    USUAL_MEASUREMENTS,
    USUAL_SECONDS,
    Purpose,
    TuneGoal,
)
from app.experiments.tune_steps import Cores, Step, cores_here, steps_of
from app.experiments.workload_error import WorkloadError
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.table import BY_KEY
from tests.unit.experiments.made_up import SMALL

TWO_CORES = Cores(2, 2)
CELL = Cell("defaults")


def goal_for(purpose: Purpose = Purpose.CHAT, **values: object) -> TuneGoal:
    users = 1 if purpose is Purpose.CHAT else 6
    return TuneGoal(purpose, SMALL, users=users, **values)  # type: ignore[arg-type]


def steps(goal: TuneGoal, *, has_board: bool = False, cores: Cores = TWO_CORES) -> dict[str, Step]:
    return {step.title: step for step in steps_of(goal, None, has_board=has_board, cores=cores)}


def words(step: Step, best: EngineConfig, cell: Cell = CELL) -> list[str]:
    return [
        ", ".join(f"{key}={BY_KEY[key].domain.format(value)}" for key, value in option.items())
        for option in step.options(best, cell)
    ]


def test_that_steps_come_in_the_practitioners_order() -> None:
    titles = list(steps(goal_for(Purpose.USERS)))
    assert titles[:8] == [
        "Parallel slots", "Threads, decode", "Threads, prefill", "Batch", "Micro-batch",
        "Prefill chunk", "Flash attention", "Drafts",
    ]  # fmt: skip
    assert "Drafted tokens" in titles[8:]


def test_that_a_step_is_called_as_its_setting_in_the_tune_column_with_its_key() -> None:
    own = steps(goal_for(Purpose.USERS))
    assert all(step.title == BY_KEY[step.keys[0]].label for step in own.values())
    assert own["Table: match length"].name == "Table: match length (ngram_mod_n_match)"
    domain = goal_for(Purpose.BATCH, domain={"slots": (1, 2)})
    assert [step.name for step in steps(domain).values()] == ["Parallel slots (slots)"]


def test_that_one_person_gets_no_slots_tried_and_a_gpu_no_threads() -> None:
    assert "Parallel slots" not in steps(goal_for())
    assert not [title for title in steps(goal_for(), has_board=True) if "Threads" in title]


def test_that_what_is_to_be_kept_has_no_step() -> None:
    kept = steps(goal_for(kept=("flash_attn", "spec_types")))
    assert "Flash attention" not in kept
    assert "Drafts" not in kept
    # A micro-batch above the batch would need the batch to change.
    options = words(
        steps(goal_for(kept=("batch_tok",)))["Micro-batch"], EngineConfig(batch_tok=512)
    )
    assert options[-1] == "ubatch_tok=512"


def test_that_slots_are_doubled_up_to_the_users() -> None:
    slots = steps(goal_for(Purpose.USERS))["Parallel slots"]
    assert slots.is_ladder
    assert words(slots, EngineConfig(slots=3)) == [
        "slots=1", "slots=2", "slots=3", "slots=4", "slots=6",
    ]  # fmt: skip


def test_that_threads_are_halves_cores_and_their_threads_without_what_auto_is() -> None:
    assert words(steps(goal_for())["Threads, decode"], EngineConfig()) == [
        "threads=auto", "threads=1",
    ]  # fmt: skip
    wide = steps(goal_for(), cores=Cores(8, 16))
    assert words(wide["Threads, decode"], EngineConfig()) == [
        "threads=auto", "threads=4", "threads=16",
    ]  # fmt: skip
    # Auto prefills with as many as decode.
    assert words(wide["Threads, prefill"], EngineConfig(threads=4)) == [
        "threads_batch=auto", "threads_batch=8", "threads_batch=16",
    ]  # fmt: skip


def test_that_a_larger_micro_batch_takes_the_batch_along() -> None:
    best = EngineConfig(batch_tok=512, ubatch_tok=512, ctx_per_slot_tok=1024, slots=1)
    options = words(steps(goal_for())["Micro-batch"], best)
    assert "ubatch_tok=512" in options
    assert options[-1] == "ubatch_tok=2048, batch_tok=2048"


def test_that_what_flash_attention_auto_came_to_is_not_tried_beside_it() -> None:
    flash = steps(goal_for())["Flash attention"]
    made = Cell("defaults", effective={"flash_attn": "on"})
    assert words(flash, EngineConfig(), made) == ["flash_attn=auto", "flash_attn=off"]
    assert len(words(flash, EngineConfig())) == 3


def test_that_drafts_are_all_kinds_that_need_no_model_and_the_files_given() -> None:
    drafts = steps(goal_for(drafts=("/no/such.gguf",)))["Drafts"]
    options = words(drafts, EngineConfig())
    assert options[0] == "spec_types=none"
    assert "spec_types=ngram-simple" in options
    assert options[-1] == "spec_types=draft-simple, draft_model_path=/no/such.gguf"
    assert len(options) == 7
    kept = goal_for(drafts=("/no/such.gguf",), kept=("draft_model_path",))
    assert len(words(steps(kept)["Drafts"], EngineConfig())) == 6


def test_that_lengths_are_tried_only_of_the_drafts_that_are_used() -> None:
    named = steps(goal_for())
    none, simple = EngineConfig(), EngineConfig(spec_types=("ngram-simple",))
    assert words(named["Draft length"], none) == []
    assert "ngram_size_m=64" in words(named["Draft length"], simple)
    # Shorter than the match it would never draft.
    assert "ngram_size_m=8" not in words(named["Draft length"], simple)
    by_model = EngineConfig(spec_types=("draft-simple",), draft_model_path="/d.gguf")
    assert words(named["Drafted tokens"], none) == []
    assert "draft_n_max=8" in words(named["Drafted tokens"], by_model)
    assert not uses(none, "ngram_mod_n_max")


def test_that_words_draft_before_a_model() -> None:
    by_model = EngineConfig(spec_types=("draft-simple",), draft_model_path="/d.gguf")
    both = both_kinds(EngineConfig(spec_types=("ngram-mod",)), by_model)
    assert both.spec_types == ("ngram-mod", "draft-simple")
    assert both.draft_model_path == "/d.gguf"
    assert kind_of_file("/no/such.gguf") == "draft-simple"


def test_that_a_domain_is_all_that_is_tried_in_the_same_order() -> None:
    domain = {
        "flash_attn": ("on", "off"), "cache_type_k": ("f16", "q8_0", "q4_0"),
        "cache_type_v": ("f16", "q8_0", "q4_0"), "top_k": (20, 40), "slots": (4, 1, 2),
        "threads": (2,),
    }  # fmt: skip
    found = steps_of(goal_for(Purpose.USERS, domain=domain), None, has_board=False)
    assert [step.keys for step in found] == [
        ("slots",), ("cache_type_k", "cache_type_v"), ("flash_attn",), ("top_k",),
    ]  # fmt: skip
    assert found[0].is_ladder
    assert words(found[0], EngineConfig()) == ["slots=1", "slots=2", "slots=4"]
    # Not below the floor, which is q8_0 unless said otherwise.
    assert words(found[1], EngineConfig()) == [
        "cache_type_k=f16, cache_type_v=f16", "cache_type_k=q8_0, cache_type_v=q8_0",
    ]  # fmt: skip


def test_that_the_kv_ladder_goes_from_fine_to_coarse() -> None:
    bits = [CACHE_TYPES[name].bits_per_value for name in KV_LADDER]
    assert bits == sorted(bits, reverse=True)


def test_that_the_command_line_says_what_the_goal_has() -> None:
    assert tuple(Purpose) == PURPOSES
    assert (USUAL_MEASUREMENTS, goal_for().kv_floor) == (USUAL_BUDGET, USUAL_KV_FLOOR)
    assert CLI_SECONDS == USUAL_SECONDS
    assert USUAL_MARGIN_MIB * 2**20 == USUAL_MARGIN_BYTES


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"measurements": 0}, "got 0"),
        ({"measurements": 10**6}, "got 1,000,000"),
        ({"kv_floor": "q9"}, "'q9'"),
        ({"margin_bytes": -1}, "0 or more"),
        ({"ctx_needed_tok": -1}, "0 or more"),
        ({"configurations": -1}, "got -1"),
    ],
)
def test_that_a_goal_with_which_nothing_can_be_tuned_is_refused(
    values: dict[str, object], said: str
) -> None:
    with pytest.raises(DomainError, match=said):
        goal_for(Purpose.CHAT, **values).check()


def test_that_chat_is_for_one_and_users_are_at_least_one() -> None:
    with pytest.raises(DomainError, match="one person"):
        TuneGoal(Purpose.CHAT, SMALL, users=2).check()
    with pytest.raises(DomainError, match="1 or more"):
        TuneGoal(Purpose.USERS, SMALL, users=0).check()
    with pytest.raises(WorkloadError):
        TuneGoal(Purpose.USERS, SMALL, users=100_000).check()


def test_that_the_workload_is_run_with_as_many_users_as_the_goal_has() -> None:
    assert TuneGoal(Purpose.CHAT, SMALL).run_workload.users == 1
    many = TuneGoal(Purpose.BATCH, SMALL, users=9).run_workload
    assert (many.users, many.requests) == (9, 9)
    assert cores_here().logical >= cores_here().physical >= 1
