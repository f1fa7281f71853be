"""Slot arithmetic as llama.cpp does it, and what a change costs."""

from __future__ import annotations

import pytest

from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.cost import cost_of_change, cost_of_key
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
)
from engine_bridge.settings.row import Applies, Setting
from engine_bridge.settings.table import SETTINGS


def test_that_8192_over_3_slots_becomes_three_times_2816() -> None:
    config = EngineConfig(ctx_per_slot_tok=8192 // 3, slots=3)
    assert config.slot_cap_tok == 2816
    assert config.pool_tok == 8448


@pytest.mark.parametrize(
    ("tokens", "padded"), [(1, 256), (256, 256), (257, 512), (2730, 2816), (32_768, 32_768)]
)
def test_that_contexts_are_padded_up_to_256(tokens: int, padded: int) -> None:
    assert pad_context_tok(tokens) == padded


def test_that_a_shared_pool_is_what_was_asked_or_the_product() -> None:
    shared = EngineConfig(ctx_per_slot_tok=4096, slots=4, kv_unified=True)
    assert (shared.pool_tok, shared.slot_cap_tok) == (16_384, 4096)
    overcommitted = EngineConfig(
        ctx_per_slot_tok=4096, slots=4, kv_unified=True, ctx_total_tok=6000
    )
    assert (overcommitted.pool_tok, overcommitted.slot_cap_tok) == (6144, 4096)
    small = EngineConfig(ctx_per_slot_tok=4096, slots=4, kv_unified=True, ctx_total_tok=2048)
    assert (small.pool_tok, small.slot_cap_tok) == (2048, 2048)


def test_that_the_pool_size_means_nothing_without_a_shared_pool() -> None:
    assert EngineConfig(ctx_total_tok=512).pool_tok == EngineConfig().pool_tok


def test_that_output_rows_are_bounded_as_llama_server_bounds_them() -> None:
    assert EngineConfig().outputs_max == 4
    drafting = EngineConfig(spec_types=("ngram-simple",), ngram_size_m=16)
    assert (drafting.outputs_max, drafting.outputs_per_slot) == (4 * 17, 17)
    assert EngineConfig(slots=64, batch_tok=32).outputs_max == 32
    crowded = EngineConfig(spec_types=("ngram-simple",), slots=64, batch_tok=512)
    assert crowded.outputs_max == 512


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.key)
def test_that_a_configuration_tells_what_changed(row: Setting) -> None:
    config = EngineConfig()
    changed = config.with_values({row.key: _another_value(row)})
    assert changed.changed_from(config) == (row.key,)
    assert config.changed_from(config) == ()
    assert cost_of_change(config, config) is None


def _another_value(row: Setting) -> object:
    domain = row.domain
    candidates: list[object]
    if isinstance(domain, IntDomain | FloatDomain):
        candidates = [domain.minimum, domain.maximum]
    elif isinstance(domain, ChoiceDomain):
        candidates = list(domain.choices)
    elif isinstance(domain, ListDomain):
        candidates = [domain.choices]
    else:
        candidates = [True, False] if isinstance(domain, FlagDomain) else ["other.gguf"]
    return next(value for value in candidates if value != row.default)


@pytest.mark.parametrize(
    ("before", "after", "cost"),
    [
        ({}, {"temperature": 0.2}, Applies.LIVE),
        ({}, {"threads": 2}, Applies.LIVE),
        ({}, {"ctx_per_slot_tok": 8192}, Applies.CONTEXT),
        ({}, {"n_gpu_layers": 0}, Applies.RELOAD),
        ({}, {"temperature": 0.2, "slots": 2, "n_gpu_layers": 0}, Applies.RELOAD),
        ({}, {"temperature": 0.2, "slots": 2}, Applies.CONTEXT),
        # 4000 and 4096 are the same padded context.
        ({}, {"ctx_per_slot_tok": 4000}, Applies.LIVE),
        # The pool size without a shared pool changes nothing.
        ({}, {"ctx_total_tok": 512}, Applies.LIVE),
        # The cap of a slot in a pool of fixed size is the scheduler's business.
        (
            {"kv_unified": True, "ctx_total_tok": 16_384},
            {"kv_unified": True, "ctx_total_tok": 16_384, "ctx_per_slot_tok": 8192},
            Applies.LIVE,
        ),
        # Twice the slots, half the context: the same cells, but other sequences.
        ({}, {"slots": 8, "ctx_per_slot_tok": 2048}, Applies.CONTEXT),
        ({}, {"ngram_size_m": 16}, Applies.LIVE),
        ({}, {"spec_types": ("ngram-simple",)}, Applies.CONTEXT),
        (
            {"spec_types": ("ngram-simple",)},
            {"spec_types": ("ngram-simple",), "ngram_size_m": 64},
            Applies.CONTEXT,
        ),
    ],
)
def test_that_a_change_costs_the_dearest_step_it_needs(
    before: dict[str, object], after: dict[str, object], cost: Applies
) -> None:
    applied, wanted = EngineConfig.from_values(before), EngineConfig.from_values(after)
    assert cost_of_change(applied, wanted) is cost
    costs = [cost_of_key(key, applied, wanted) for key in wanted.changed_from(applied)]
    assert max(costs, key=lambda one: one.rank) is cost
