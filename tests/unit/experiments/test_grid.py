"""Combinations from words, and why some are not measured."""

from __future__ import annotations

import pytest

from app.experiments.grid import MOST_CELLS, axis_of, grid_of, title_of, with_reasons
from app.planning import PlanAnswer, PlanningError
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.unit.experiments.made_up import plan_that_fits, plan_up_to

_BASE = EngineConfig(model_path="/m.gguf")


def fits(slot_tok: int) -> str:
    return ""


def test_that_all_combinations_come_with_the_last_setting_moving_fastest() -> None:
    cells = grid_of(_BASE, ["slots=1,4", "cache_type_k=f16,q8_0"])
    assert [cell.name for cell in cells] == [
        "slots=1, cache_type_k=f16",
        "slots=1, cache_type_k=q8_0",
        "slots=4, cache_type_k=f16",
        "slots=4, cache_type_k=q8_0",
    ]
    assert (cells[1].config.slots, cells[1].config.cache_type_k) == (1, "q8_0")
    assert cells[1].config.model_path == "/m.gguf"


def test_that_settings_joined_by_a_plus_change_together() -> None:
    cells = grid_of(_BASE, ["cache_type_k+cache_type_v=f16,q8_0"])
    assert [cell.name for cell in cells] == [
        "cache_type_k+cache_type_v=f16",
        "cache_type_k+cache_type_v=q8_0",
    ]
    assert (cells[1].config.cache_type_k, cells[1].config.cache_type_v) == ("q8_0", "q8_0")


def test_that_values_with_commas_of_their_own_are_parted_by_semicolons() -> None:
    axis = axis_of("spec_types=none;ngram-simple,ngram-mod")
    assert axis.values == ((), ("ngram-simple", "ngram-mod"))
    assert [axis.words(value) for value in axis.values] == [
        "spec_types=none", "spec_types=ngram-simple,ngram-mod",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (["slots=1,2"], "slots 1/2"),
        (["slots=1,2", "cache_type_k+cache_type_v=f16,q8_0"],
         "slots 1/2 × cache_type_k+cache_type_v f16/q8_0"),
        (["threads=1,2,3,4,5,6,7"], "threads 1/2/…/7 (7 values)"),
        (["kv_unified=on,off"], "kv_unified on/off"),
    ],
)  # fmt: skip
def test_that_a_title_tells_what_is_varied(words: list[str], title: str) -> None:
    assert title_of(words) == title


def test_that_numbers_are_read_as_on_a_fader() -> None:
    assert axis_of("ctx_per_slot_tok=4k, 8k").values == (4096, 8192)
    assert axis_of("threads=auto,2").values == ("auto", 2)
    assert axis_of("kv_unified=on,off").values == (True, False)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "A sweep needs at least one --vary"),
        (["slots"], "has no '='"),
        (["slots="], "has no values to try"),
        (["slotz=1,2"], "Did you mean 'slots'?"),
        (["slots=0,1"], "Parallel slots (slots): 0 is outside 1 to 256."),
        (["slots=1,,2"], "Parallel slots (slots): '' is not"),
        (["slots=4,4"], "has the value 4 twice"),
        (["slots+slots=1,2"], "names slots twice"),
        (["slots=1", "slots=2"], "slots stands in two --vary"),
        (["slots=1", "cache_type_k+slots=2"], "(cache_type_k): '2' is not one of"),
        (["model_path=a.gguf,b.gguf"], "A sweep measures one model"),
        (["slots=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21",
          "threads=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20"],
         f"These values make 420 combinations; a sweep takes {MOST_CELLS} at most."),
    ],
)  # fmt: skip
def test_that_wrong_words_are_refused_in_a_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(DomainError) as refused:
        grid_of(_BASE, words)
    assert sentence in str(refused.value)
    assert str(refused.value).endswith((".", "?"))


def test_that_what_breaks_a_rule_is_skipped_with_the_rules_own_reason() -> None:
    cells = grid_of(_BASE, ["flash_attn=auto,off", "cache_type_v=f16,q8_0"])
    judged = with_reasons(cells, fits, plan_that_fits)
    assert [bool(cell.skipped) for cell in judged] == [False, False, False, True]
    assert "A q8_0 V cache needs flash attention, which is off" in judged[3].skipped


def test_that_what_does_not_fit_is_skipped_with_the_device_and_by_how_much() -> None:
    judged = with_reasons(grid_of(_BASE, ["slots=2,4,8"]), fits, plan_up_to(4))
    assert [cell.skipped for cell in judged] == [
        "", "", "CUDA0 does not suffice: 9.0 GiB are needed, so 1.0 GiB are missing.",
    ]  # fmt: skip


def test_that_a_slot_too_small_for_the_work_is_skipped() -> None:
    def too_long(slot_tok: int) -> str:
        return "" if slot_tok >= 1024 else f"It does not fit into {slot_tok}."

    judged = with_reasons(grid_of(_BASE, ["ctx_per_slot_tok=512,1k"]), too_long, plan_that_fits)
    assert [cell.skipped for cell in judged] == ["It does not fit into 512.", ""]


def test_that_a_plan_that_cannot_be_had_is_the_reason() -> None:
    def plan(config: EngineConfig) -> PlanAnswer:
        raise PlanningError("llama.cpp ended while it looked at the file.")

    judged = with_reasons(grid_of(_BASE, ["slots=1,2"]), fits, plan)
    assert {cell.skipped for cell in judged} == {"llama.cpp ended while it looked at the file."}


def test_that_what_takes_the_same_memory_is_planned_once() -> None:
    planned: list[EngineConfig] = []

    def plan(config: EngineConfig) -> PlanAnswer:
        planned.append(config)
        return plan_that_fits(config)

    told: list[tuple[int, int]] = []
    with_reasons(
        grid_of(_BASE, ["threads=1,2,3", "slots=1,2"]),
        fits,
        plan,
        progressed=lambda done, total: told.append((done, total)),
    )
    assert [config.slots for config in planned] == [1, 2]
    assert told[-1] == (6, 6)
