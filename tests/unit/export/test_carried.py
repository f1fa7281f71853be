"""The means by which dialects answer for settings."""

from __future__ import annotations

import pytest

from app.export.carried import (
    Manner,
    UnansweredError,
    answers_for_all,
    keys_in,
    left_out,
    not_carried,
    reasons_in,
    said,
    same_for,
    translated,
)
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import BY_KEY, SETTINGS

EVERY_KEY = [setting.key for setting in SETTINGS]


def test_that_later_tables_win_and_the_order_is_that_of_the_settings() -> None:
    table = same_for(reversed(EVERY_KEY), said("-x"))
    answers = answers_for_all(table, {"slots": translated("-np counts them.")})
    assert list(answers) == EVERY_KEY
    assert answers["slots"].manner is Manner.TRANSLATED
    assert answers["top_k"].how == "-x"


def test_that_a_setting_without_an_answer_is_a_fault() -> None:
    table = same_for(EVERY_KEY, said("-x"))
    del table["top_k"]
    with pytest.raises(UnansweredError, match="top_k"):
        answers_for_all(table)


def test_that_what_is_unknown_to_the_table_is_left_away() -> None:
    answers = answers_for_all(same_for([*EVERY_KEY, "no such key"], said("-x")))
    assert list(answers) == EVERY_KEY


def test_that_reasons_are_those_of_what_is_not_carried() -> None:
    reason = not_carried("There is none.")
    answers = {"a": said("-a"), "b": translated("-b, times two."), "c": reason}
    assert reasons_in(answers) == {"c": "There is none."}
    assert left_out({"c": "There is none."}) == {"c": answers["c"]}


def test_that_keys_are_found_by_their_section() -> None:
    keys = keys_in(Group.SAMPLING, Group.NGRAM)
    assert {"temperature", "ngram_size_n"} <= set(keys)
    assert {BY_KEY[key].group for key in keys} == {Group.SAMPLING, Group.NGRAM}
