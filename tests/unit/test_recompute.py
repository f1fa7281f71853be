"""Why a turn computed tokens again: each cause in a sentence, and silence where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child import recompute
from engine_bridge.child.recompute import Recompute
from engine_bridge.child.slot import Slot

TEXT = np.arange(500, dtype=np.int32)
OTHER = np.full(200, 9_999, np.int32)


def remembered(tokens: NDArray[np.int32] = TEXT, conversation: str = "a") -> Recompute:
    slot = Slot(0, 1000, 0)
    slot.tokens[: len(tokens)] = tokens
    slot.known = slot.cached = len(tokens)
    slot.conversation_id = conversation
    told = Recompute()
    told.left(slot)
    return told


def test_that_a_turn_that_goes_on_says_nothing() -> None:
    assert remembered().reason("a", np.append(TEXT, OTHER), 500, "") == ""


def test_that_a_first_turn_says_nothing() -> None:
    assert remembered().reason("b", TEXT, 0, "") == ""
    assert Recompute().reason("a", TEXT, 0, "") == ""


def test_that_the_same_question_again_says_nothing() -> None:
    assert remembered().reason("a", TEXT[:300], 299, "") == ""


def test_that_a_changed_prefix_is_named_by_its_first_token() -> None:
    sentence = remembered().reason("a", np.append(TEXT[:300], OTHER), 300, "")
    assert "from token 301 on" in sentence
    assert "200 computed tokens" in sentence


@pytest.mark.parametrize(
    "cause",
    [
        recompute.OTHER_TOOK_SLOT,
        recompute.POOL_WAS_SHORT,
        recompute.SETTING_CHANGED,
        recompute.CACHING_OFF,
    ],
)
def test_that_what_became_of_the_text_is_said_with_the_tokens_it_costs(cause: str) -> None:
    told = remembered()
    told.lost("a", cause)
    prompt = np.append(TEXT, OTHER)
    assert told.reason("a", prompt, 0, "") == f"500 tokens are computed again: {cause}."
    assert told.reason("a", prompt, 100, "") == f"400 tokens are computed again: {cause}."
    assert told.reason("a", prompt, 490, "") == "", "a few are not worth a word"


def test_that_the_cache_s_own_reason_goes_first() -> None:
    told = remembered()
    told.lost("a", recompute.OTHER_TOOK_SLOT)
    assert told.reason("a", TEXT, 0, "The window moved on.") == "The window moved on."


def test_that_a_new_turn_forgets_the_old_cause() -> None:
    told = remembered()
    told.lost_all(recompute.SETTING_CHANGED)
    slot = Slot(0, 1000, 0)
    slot.tokens[:500] = TEXT
    slot.known = slot.cached = 500
    slot.conversation_id = "a"
    told.left(slot)
    assert recompute.SETTING_CHANGED not in told.reason("a", TEXT, 0, "")


def test_that_closed_and_old_conversations_are_forgotten() -> None:
    told = remembered()
    told.forget("a")
    assert told.reason("a", TEXT, 0, "") == ""
    slot = Slot(0, 1000, 0)
    slot.known = slot.cached = 400
    for number in range(65):
        slot.conversation_id = str(number)
        told.left(slot)
    prompt = np.zeros(500, np.int32)
    assert told.reason("0", prompt, 0, "") == ""
    assert told.reason("1", prompt, 0, "") != ""
