"""Complaints of users of such programs that settings alone can answer; numbers as in their list."""

from __future__ import annotations

import pytest

from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.rules import errors_of, problems_of
from engine_bridge.settings.table import BY_KEY


@pytest.mark.parametrize("batch", ["0", "1"])
def test_that_a_batch_that_makes_llama_cpp_abort_cannot_be_set_s07(batch: str) -> None:
    with pytest.raises(DomainError, match="outside 2 to"):
        parse_assignments([f"batch_tok={batch}"])
    assert "2 is the least" in BY_KEY["batch_tok"].help


def test_that_a_batch_below_the_slots_is_an_error_with_a_repair_s07() -> None:
    config = EngineConfig.from_values({"batch_tok": 2, "ubatch_tok": 2, "slots": 4})
    problem = errors_of(config)[0]
    assert problem.keys == ("batch_tok", "slots")
    assert problem.fix == {"batch_tok": 32}


def test_that_more_slots_than_llama_cpp_takes_cannot_be_set_s11() -> None:
    with pytest.raises(DomainError, match="outside 1 to 256"):
        EngineConfig.from_values({"slots": 300})


def test_that_slots_too_small_to_talk_in_are_warned_of_s11() -> None:
    config = EngineConfig.from_values({"slots": 256, "ctx_per_slot_tok": 256})
    assert any("full after a question" in problem.message for problem in problems_of(config))


@pytest.mark.parametrize("limit", [-1, 0])
def test_that_the_special_answer_lengths_are_explained_s43(limit: int) -> None:
    assert EngineConfig.from_values({"max_new_tok": limit}).max_new_tok == limit
    explained = BY_KEY["max_new_tok"].help
    assert "no limit" in explained
    assert "only reads the prompt" in explained


def test_that_an_answer_length_without_meaning_is_refused_s43() -> None:
    with pytest.raises(DomainError, match="outside -1"):
        EngineConfig.from_values({"max_new_tok": -2})
