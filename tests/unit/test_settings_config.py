"""Slot arithmetic as llama.cpp does it, and what a change costs."""

from __future__ import annotations

import pytest

from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.cost import (
    cost_of_change,
    cost_of_key,
    keeps_context,
    keeps_model,
)
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
)
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.row import Applies, Setting
from engine_bridge.settings.spec_kinds import NGRAM_KINDS
from engine_bridge.settings.table import SETTINGS
from engine_bridge.settings.text_domain import TextDomain, WordsDomain

_DRAFTING: dict[str, object] = {
    "spec_types": ("draft-simple",), "draft_model_path": "d.gguf", "draft_n_max": 3,
}  # fmt: skip


def test_that_8192_over_3_slots_becomes_three_times_2816() -> None:
    config = EngineConfig(ctx_per_slot_tok=8192 // 3, slots=3)
    assert config.slot_cap_tok == 2816
    assert config.pool_tok == 8448


def test_that_each_kind_bounds_its_drafts_as_llama_cpp_does() -> None:
    """``common_speculative_n_max``: the longest of the kinds that are on."""
    longest = [
        EngineConfig(spec_types=(kind,), ngram_size_m=20, ngram_mod_n_max=30).drafted_max_tok
        for kind in NGRAM_KINDS
    ]
    assert longest == [20, 20, 20, 30, 8]
    every = EngineConfig(spec_types=(*NGRAM_KINDS, "draft-simple"), ngram_size_m=20, draft_n_max=70)
    assert every.drafted_max_tok == 70


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
    elif isinstance(domain, ItemsDomain):
        candidates = [domain.examples]
    elif isinstance(domain, TextDomain):
        candidates = [domain.example]
    elif isinstance(domain, WordsDomain):
        candidates = [("x", "\n")]
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
            {"spec_types": ("ngram-mod",), "ngram_mod_n_max": 64},
            {"spec_types": ("ngram-mod",), "ngram_mod_n_max": 32},
            Applies.LIVE,
        ),
        (
            {"spec_types": ("ngram-mod",), "ngram_mod_n_max": 32},
            {"spec_types": ("ngram-mod",), "ngram_mod_n_max": 64},
            Applies.CONTEXT,
        ),
        (
            {"spec_types": ("ngram-simple",)},
            {"spec_types": ("ngram-map-k", "ngram-cache")},
            Applies.LIVE,
        ),
        (
            {"spec_types": ("ngram-simple",)},
            {"spec_types": ("ngram-simple",), "ngram_size_m": 64},
            Applies.CONTEXT,
        ),
        # A draft model is a load of its own, and leaves with the old contexts.
        ({}, _DRAFTING, Applies.RELOAD),
        (_DRAFTING, {**_DRAFTING, "draft_model_path": "other.gguf"}, Applies.RELOAD),
        (_DRAFTING, {**_DRAFTING, "draft_n_gpu_layers": 0}, Applies.RELOAD),
        (_DRAFTING, {**_DRAFTING, "spec_types": ()}, Applies.CONTEXT),
        (_DRAFTING, {"spec_types": ("draft-simple",)}, Applies.CONTEXT),
        (_DRAFTING, {**_DRAFTING, "draft_cache_type_k": "q8_0"}, Applies.CONTEXT),
        # Chosen, but nobody asks it.
        ({}, {"draft_model_path": "d.gguf", "draft_cache_type_k": "q8_0"}, Applies.LIVE),
        (_DRAFTING, {**_DRAFTING, "draft_n_min": 2, "draft_p_min": 0.5}, Applies.LIVE),
        # Rows that are there need not be used.
        (_DRAFTING, {**_DRAFTING, "draft_n_max": 2}, Applies.LIVE),
        (_DRAFTING, {**_DRAFTING, "draft_n_max": 4}, Applies.CONTEXT),
        (_DRAFTING, {**_DRAFTING, "spec_types": ("ngram-simple", "draft-simple")}, Applies.CONTEXT),
    ],
)
def test_that_a_change_costs_the_dearest_step_it_needs(
    before: dict[str, object], after: dict[str, object], cost: Applies
) -> None:
    applied, wanted = EngineConfig.from_values(before), EngineConfig.from_values(after)
    assert cost_of_change(applied, wanted) is cost
    costs = [cost_of_key(key, applied, wanted) for key in wanted.changed_from(applied)]
    assert max(costs, key=lambda one: one.rank) is cost


def test_that_a_draft_model_changes_without_its_target() -> None:
    config, drafting = EngineConfig(), EngineConfig.from_values(_DRAFTING)
    assert keeps_model(config, drafting)
    assert keeps_model(config, drafting.with_values({"slots": 2, "temperature": 0.1}))
    assert not keeps_model(config, drafting.with_values({"n_gpu_layers": 3}))
    assert not keeps_model(drafting, config.with_values({"model_path": "m.gguf"}))


def test_that_the_context_stays_where_only_its_draft_model_changes() -> None:
    drafting = EngineConfig.from_values(_DRAFTING)
    stays: list[dict[str, object]] = [
        {"draft_model_path": "other.gguf", "temperature": 0.1},
        {"draft_n_max": 1},
    ]
    for change in stays:
        assert keeps_context(drafting, drafting.with_values(change))
    # Rows for its drafts come and go with it, unless copies need more.
    goes: list[dict[str, object]] = [
        {"spec_types": ()},
        {"draft_n_max": 4},
        {"slots": 2},
        {"cache_type_k": "q8_0"},
    ]
    for change in goes:
        assert not keeps_context(drafting, drafting.with_values(change))
    both = drafting.with_values({"spec_types": ("ngram-simple", "draft-simple")})
    assert keeps_context(both, both.with_values({"spec_types": ("ngram-simple",)}))


def test_that_a_draft_model_is_built_as_llama_server_builds_it() -> None:
    assert EngineConfig(draft_model_path="d.gguf").draft is None
    config = EngineConfig.from_values(
        {**_DRAFTING, "model_path": "m.gguf", "slots": 3, "cache_type_k": "q4_0",
         "draft_cache_type_v": "q8_0", "draft_n_gpu_layers": 7, "n_gpu_layers": 5}
    )  # fmt: skip
    assert (config.drafted_max_tok, config.outputs_max) == (3, 12)
    draft = config.draft
    assert draft is not None
    assert (draft.model_path, draft.n_gpu_layers) == ("d.gguf", 7)
    assert (draft.cache_type_k, draft.cache_type_v) == ("f16", "q8_0")
    assert (draft.pool_tok, draft.outputs_max, draft.outputs_per_slot) == (config.pool_tok, 3, 1)
    assert draft.draft is None
    both = config.with_values({"spec_types": ("draft-simple", "ngram-simple")})
    assert both.drafted_max_tok == 48
