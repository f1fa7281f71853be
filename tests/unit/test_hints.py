from __future__ import annotations

import msgspec
import pytest

from app.hints import Situation, hint_for, ngram_note, room_for_slots, slot_arithmetic
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.memory_room import most_slots_asked
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import SETTINGS
from tests.unit.fake_client import applied


def plan(kv: int, free: int) -> MemoryPlan:
    device = DeviceBytes("CPU", weights=100, kv=kv, compute=50, free=free, total=free)
    return MemoryPlan(BytesByUse(), (device,), None, fits=True, problems=(), seconds=0.0)


def test_that_every_setting_has_a_hint_on_an_empty_desk() -> None:
    for setting in SETTINGS:
        assert hint_for(setting.key, Situation(EngineConfig()))


def test_that_the_slot_arithmetic_tells_of_padding() -> None:
    config = EngineConfig.from_values({"slots": 3, "ctx_per_slot_tok": 2731})
    assert slot_arithmetic(config) == "8,448 = 3 slots × 2,816"


def test_that_a_shared_pool_names_its_cap() -> None:
    config = EngineConfig.from_values(
        {"slots": 4, "ctx_per_slot_tok": 8192, "kv_unified": True, "ctx_total_tok": 16384}
    )
    assert slot_arithmetic(config) == "4 slots share 16,384, each up to 8,192"
    assert "overcommitted" in hint_for("ctx_total_tok", Situation(config))


def test_that_the_room_counts_what_one_slot_takes() -> None:
    assert room_for_slots(plan(kv=400, free=1250), slots=4) == 11


def test_that_a_model_without_cache_has_no_room_to_count() -> None:
    assert room_for_slots(plan(kv=0, free=1250), slots=4) is None


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"slots": 4}, "room for 64+ conversations"),
        ({"slots": 100}, "room for 100+ conversations"),
        ({"slots": 256}, "room for 256 conversations"),
        ({"slots": 4, "ctx_per_slot_tok": 131_072}, "room for 32+ conversations"),
    ],
)
def test_that_the_count_stops_where_the_page_room_stops(
    values: dict[str, object], told: str
) -> None:
    config = EngineConfig(ctx_per_slot_tok=4096).with_values(values)
    situation = Situation(config, plan=plan(kv=config.slots, free=100_000))
    hint = hint_for("slots", situation)
    assert hint.startswith(told)
    assert f"{most_slots_asked(config)}" in hint


def test_that_a_count_below_the_end_is_told_as_it_is() -> None:
    config = EngineConfig.from_values({"slots": 4})
    hint = hint_for("slots", Situation(config, plan=plan(kv=400, free=1250)))
    assert hint == "room for 11 conversations of this length"


def test_that_a_quantised_cache_says_its_share_of_f16() -> None:
    config = EngineConfig.from_values({"cache_type_v": "q8_0"})
    hint = hint_for("cache_type_v", Situation(config))
    assert hint == "8.5 bits a value, 53% of f16 · needs flash attention"


def test_that_values_that_mean_off_say_so() -> None:
    config = EngineConfig.from_values({"temperature": 0, "max_new_tok": 0, "top_k": 0})
    assert "greedy" in hint_for("temperature", Situation(config))
    assert "answers nothing" in hint_for("max_new_tok", Situation(config))
    assert hint_for("max_new_tok", Situation(EngineConfig())) == "no limit but the context"
    assert hint_for("top_k", Situation(config)).startswith("off")
    assert hint_for("temperature", Situation(EngineConfig())) != "off"


def test_that_hints_of_copied_drafts_say_which_kinds_use_a_setting() -> None:
    off = Situation(EngineConfig())
    assert hint_for("ngram_mod_n_max", off) == "takes effect once ngram-mod drafts"
    assert hint_for("ngram_size_n", off).endswith("ngram-simple, -map-k or -map-k4v")
    config = EngineConfig(spec_types=("ngram-mod", "ngram-map-k4v"), ngram_min_hits=3)
    on = Situation(config)
    assert hint_for("ngram_mod_n_max", on) == "up to 65 tokens from one pass"
    assert hint_for("ngram_size_m", on) == "up to 49 tokens from one pass"
    assert hint_for("ngram_mod_n_min", on) == "drafts of fewer than 48 tokens are dropped"
    assert hint_for("ngram_min_hits", on) == "drafts once seen 3 times"
    assert hint_for("spec_types", on).endswith("strong on code edits and quotes")


def test_that_hints_of_a_draft_model_speak_once_it_drafts() -> None:
    alone = Situation(EngineConfig(draft_p_min=0.5))
    drafting = Situation(
        EngineConfig(
            spec_types=("draft-simple",), draft_model_path="d.gguf", draft_p_min=0.5, draft_n_min=2
        ),
        acceptance=0.05,
    )
    for key in ("draft_n_max", "draft_n_min", "draft_p_min", "draft_cache_type_k"):
        assert hint_for(key, alone) == "takes effect once a draft model drafts"
        assert hint_for(key, drafting) != hint_for(key, alone)
    assert hint_for("draft_p_min", drafting) == "stops below 50% confidence"
    assert hint_for("draft_n_max", drafting) == "up to 4 tokens from one pass"
    # S37: a draft that is never accepted slows everything down, and that is said.
    assert hint_for("spec_types", drafting).endswith("so far: drafts slow this work down")
    without = Situation(EngineConfig(spec_types=("draft-simple",)))
    assert "needs a draft model" in hint_for("spec_types", without)


@pytest.mark.parametrize(
    ("values", "can_shift", "words"),
    [
        ({}, True, "off: a full slot ends its answer"),
        ({"context_shift": True}, True, "a full slot drops 2,048 of its 4,096 tokens"),
        ({"context_shift": True}, False, "this model's memory cannot shift"),
    ],
)
def test_that_the_shift_says_what_it_means_here(
    values: dict[str, object], can_shift: bool, words: str
) -> None:
    config = EngineConfig.from_values(values)
    effective = msgspec.structs.replace(applied(config).effective, can_shift=can_shift)
    assert words in hint_for("context_shift", Situation(config, effective=effective))


def test_that_what_the_shift_keeps_waits_for_the_shift() -> None:
    assert "takes effect" in hint_for("keep_tok", Situation(EngineConfig(keep_tok=-1)))
    config = EngineConfig(context_shift=True, keep_tok=-1)
    assert hint_for("keep_tok", Situation(config)) == "the whole prompt stays"


def test_that_settings_of_other_kinds_of_copied_drafts_are_told_apart() -> None:
    note = ngram_note(("ngram-mod",))
    assert note.startswith("ngram-mod drafts with \u201c")
    assert note.endswith("The others are for other kinds.")
    assert ngram_note(()) == ngram_note(("draft-simple",)) == ""
    all_but_files = ngram_note(("ngram-map-k4v", "ngram-mod"))
    assert (
        all_but_files
        == "\u201cStatic counts\u201d and \u201cDynamic counts\u201d are for other kinds."
    )
    assert ngram_note(("ngram-map-k4v", "ngram-mod", "ngram-cache")) == ""
