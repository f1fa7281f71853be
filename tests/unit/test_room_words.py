"""What fits, said so that nobody has to guess what limits it and what the button does."""

from __future__ import annotations

from app.room_words import COARSE, CONTEXT, SLOTS, room_fits, use_values, waiting_fits
from engine_bridge.memory_room import CoarseRoom, Most, RoomFigures
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from tests.unit.fake_client import model_facts
from widgets.fits_view import Fit

CONFIG = EngineConfig.from_values({"ctx_per_slot_tok": 4096, "slots": 4})
Q8_0: dict[str, Value] = {"cache_type_k": "q8_0", "cache_type_v": "q8_0"}
COARSE_ROOM = CoarseRoom(
    saved_bytes=340 * 2**20,
    slots=Most(12, "memory", "CPU", Q8_0 | {"slots": 12}),
    ctx=Most(32_768, "training", "", Q8_0 | {"ctx_per_slot_tok": 32_768}),
    values=dict(Q8_0),
)


def figures(
    slots: Most | None = None, ctx: Most | None = None, coarse: CoarseRoom | None = None
) -> RoomFigures:
    return RoomFigures(
        slots or Most(6, "memory", "CPU", {"slots": 6}),
        ctx or Most(8192, "memory", "CPU", {"ctx_per_slot_tok": 8192}),
        coarse or COARSE_ROOM,
        0.1,
        12,
    )


def fit(key: str, room: RoomFigures, config: EngineConfig = CONFIG) -> Fit:
    return next(one for one in room_fits(room, config, model_facts()) if one.key == key)


def test_that_a_number_of_conversations_says_its_context_and_its_limit() -> None:
    said = fit(SLOTS, figures())
    assert said.value == "6 conversations"
    assert "4,096 tok" in said.detail
    assert "4 set now" in said.detail
    assert "system memory" in said.detail
    assert said.use == "Set 6 slots"
    assert not said.is_short


def test_that_a_board_is_named() -> None:
    room = figures(slots=Most(6, "memory", "CUDA1", {"slots": 6}))
    assert "CUDA1 memory" in fit(SLOTS, room).detail


def test_that_less_than_is_set_is_a_warning() -> None:
    said = fit(SLOTS, figures(slots=Most(2, "memory", "CPU", {"slots": 2})))
    assert said.is_short
    assert said.value == "2 conversations"


def test_that_one_is_singular_and_none_is_a_word() -> None:
    config = CONFIG.with_values({"slots": 1})
    said = fit(SLOTS, figures(slots=Most(1, "memory", "CPU")), config)
    assert (said.value, said.use) == ("1 conversation", "")
    assert "as set now" in said.detail
    none = fit(SLOTS, figures(slots=Most(0, "memory", "CPU")))
    assert (none.value, none.is_short, none.use) == ("none", True, "")
    assert "Not even one" in none.detail
    none = fit(CONTEXT, figures(ctx=Most(0, "memory", "CPU")))
    assert (none.value, none.is_short) == ("none", True)


def test_that_the_training_length_is_said_to_be_the_limit() -> None:
    room = figures(ctx=Most(32_768, "training", "", {"ctx_per_slot_tok": 32_768}))
    said = fit(CONTEXT, room)
    assert said.value == "32,768 tok"
    assert "The training length is the limit, 32,768 tok" in said.detail
    assert said.use == "Set 32,768 tok of context per slot"
    longer = CONFIG.with_values({"ctx_per_slot_tok": 65_536})
    assert not fit(CONTEXT, room, longer).is_short, "what no slot uses is not missing"


def test_that_the_sentence_of_a_rule_is_told() -> None:
    room = figures(slots=Most(8, "rule", "A batch of 8 cannot hold more.", {"slots": 8}))
    assert fit(SLOTS, room).detail.endswith("A batch of 8 cannot hold more.")


def test_that_a_search_that_ended_early_says_at_least() -> None:
    said = fit(SLOTS, figures(slots=Most(64, "search", "", {"slots": 64})))
    assert said.value == "≥ 64 conversations"
    assert "More may fit" in said.detail


def test_that_a_shared_pool_is_said_to_grow_with_it() -> None:
    values: dict[str, Value] = {"slots": 6, "ctx_total_tok": "auto"}
    said = fit(SLOTS, figures(slots=Most(6, "memory", "CPU", dict(values))))
    assert "pool as large as all of them" in said.use


def test_that_q8_0_says_what_it_saves_and_allows() -> None:
    said = fit(COARSE, figures())
    assert said.value == "340\u202fMiB less"
    assert "12 conversations fit" in said.detail
    assert "32,768 tok per slot" in said.detail
    assert said.use == "Set the K and V cache to q8_0"


def test_that_q8_0_does_not_repeat_a_number_that_fits_already() -> None:
    before = Most(64, "search", "", {"slots": 64})
    after = Most(64, "search", "", Q8_0 | {"slots": 64})
    coarse = CoarseRoom("", 5, after, COARSE_ROOM.ctx, dict(Q8_0))
    said = fit(COARSE, figures(slots=before, coarse=coarse))
    assert said.detail == (
        "Instead of f16. With f16 as many conversations as were asked for, 64, fit already. "
        "Then a slot gets 32,768 tok."
    )
    fewer = Most(40, "memory", "CPU", {"slots": 40})
    said = fit(COARSE, figures(slots=fewer, coarse=coarse))
    assert "Then ≥ 64 conversations fit" in said.detail


def test_that_q8_0_says_that_flash_attention_comes_with_it() -> None:
    values = COARSE_ROOM.values | {"flash_attn": "auto"}
    coarse = CoarseRoom("", 5, COARSE_ROOM.slots, COARSE_ROOM.ctx, values)
    said = fit(COARSE, figures(coarse=coarse))
    assert "flash attention to auto" in said.use
    assert "needs it" in said.detail


def test_that_a_rule_that_forbids_q8_0_is_the_answer() -> None:
    said = fit(COARSE, figures(coarse=CoarseRoom("The head dimension 80 is no multiple.")))
    assert (said.value, said.use) == ("not possible", "")
    assert said.detail == "The head dimension 80 is no multiple."


def test_that_a_cache_as_small_says_so() -> None:
    config = CONFIG.with_values({"cache_type_k": "q4_0", "cache_type_v": "q8_0"})
    said = fit(COARSE, figures(coarse=CoarseRoom()), config)
    assert said.use == ""
    assert "q4_0 keys and q8_0 values already" in said.detail


def test_that_each_button_sets_its_own_values() -> None:
    room = figures()
    assert use_values(SLOTS, room) == {"slots": 6}
    assert use_values(CONTEXT, room) == {"ctx_per_slot_tok": 8192}
    assert use_values(COARSE, room) == Q8_0
    assert use_values("another", room) == {}


def test_that_questions_stand_before_their_answers() -> None:
    assert [one.key for one in waiting_fits()] == [SLOTS, CONTEXT, COARSE]
    assert all(one.value == "–" and not one.use for one in waiting_fits())
