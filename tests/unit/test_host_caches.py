"""What prompt caches may take of host memory: figures by hand, and what a plan says of them."""

from __future__ import annotations

import msgspec
import pytest

from engine_bridge.host_caches import checkpoint_bytes, drafting_bytes, host_caches_bytes
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import model_facts

MIB, GIB = 1 << 20, 1 << 30
PLAIN = model_facts()
# Gemma 3 270M: 15 layers of one head of 256 look back over 512 tokens.
WINDOWED = msgspec.structs.replace(
    PLAIN, window_tok=512, window_k_values=15 * 256, window_v_values=15 * 256
)


def test_that_a_cache_that_can_be_cut_takes_the_budget_alone() -> None:
    assert host_caches_bytes(PLAIN, EngineConfig(), 0, 64 * GIB) == 8 * GIB


def test_that_checkpoints_of_all_slots_count() -> None:
    config = EngineConfig(slots=2, ctx_checkpoints=4, cache_ram_mib=100)
    one = 512 * (2 * 15 * 256 * 2 + 20)
    assert checkpoint_bytes(WINDOWED, config, 0) == one
    assert host_caches_bytes(WINDOWED, config, 0, 64 * GIB) == 100 * MIB + 8 * one
    assert checkpoint_bytes(WINDOWED, config.with_values({"swa_full": True}), 0) == 0
    quantised = config.with_values({"cache_type_k": "q8_0"})
    assert checkpoint_bytes(WINDOWED, quantised, 0) == 512 * (15 * 256 * 34 // 32 + 7680 + 20)


def test_that_a_state_is_a_slot_s_part_of_all() -> None:
    hybrid = msgspec.structs.replace(PLAIN, is_hybrid=True)
    config = EngineConfig(slots=4, ctx_checkpoints=2, cache_ram_mib=0)
    assert host_caches_bytes(hybrid, config, 40 * MIB, 64 * GIB) == 4 * 2 * 10 * MIB


@pytest.mark.parametrize("cache_ram_mib", [-1, 65_536])
def test_that_the_machine_is_the_limit(cache_ram_mib: int) -> None:
    config = EngineConfig(cache_ram_mib=cache_ram_mib)
    assert host_caches_bytes(WINDOWED, config, 0, 15 * GIB) == 15 * GIB


def test_that_nothing_is_kept_where_nothing_may_be() -> None:
    assert host_caches_bytes(WINDOWED, EngineConfig(cache_prompt=False), 0, GIB) == 0
    none = EngineConfig(cache_ram_mib=0, ctx_checkpoints=0)
    assert host_caches_bytes(WINDOWED, none, 0, GIB) == 0


def test_that_drafting_takes_tables_and_copies_of_states() -> None:
    assert drafting_bytes(EngineConfig(slots=2), 40 * MIB) == 0
    simple = EngineConfig(slots=2, spec_types=("ngram-simple",))
    assert drafting_bytes(simple, 40 * MIB) == 40 * MIB
    tables = simple.with_values({"spec_types": ["ngram-mod", "ngram-map-k"]})
    assert drafting_bytes(tables, 0) == (16 + 2) * MIB


def test_that_states_that_the_context_keeps_itself_need_copies_for_several_slots_alone() -> None:
    one = EngineConfig(slots=1, spec_types=("draft-mtp",), draft_n_max=3)
    assert drafting_bytes(one, 40 * MIB) == 0
    assert drafting_bytes(one.with_values({"slots": 2}), 40 * MIB) == 10 * MIB
