"""Domains refuse what they do not know, in a sentence, and never clip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import (
    ChoiceDomain,
    DomainError,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
    PathDomain,
)
from engine_bridge.settings.table import SETTINGS

_WHOLE = IntDomain(-1, 100_000, (0, 1), ("auto",))
_junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.text()),
    st.dictionaries(st.text(), st.integers()),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        (" 4 096 ", 4096),
        ("4,096", 4096),
        ("65_536", 65_536),
        ("4k", 4096),
        ("4K", 4096),
        ("-1", -1),
        ("−1", -1),
        ("AUTO", "auto"),
        ("4\u202f096", 4096),
    ],
)
def test_that_whole_numbers_are_read_as_people_write_them(text: str, value: object) -> None:
    assert _WHOLE.parse(text) == value


@pytest.mark.parametrize(
    "text", ["", "k", "1,5", "1.5", "10,24", "1e3", "0x10", "all", "9" * 5000, "٣", "--1", "nan"]
)
def test_that_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(DomainError, match=r"\.$"):
        _WHOLE.parse(text)


@pytest.mark.parametrize("value", [-2, 100_001, 1.0, True, "", None])
def test_that_nothing_is_clipped(value: object) -> None:
    with pytest.raises(DomainError, match=r"\.$"):
        _WHOLE.check(value)


@pytest.mark.parametrize("text", ["", "nan", "inf", "-inf", "1e999", "5.1"])
def test_that_what_is_no_number_in_range_is_refused(text: str) -> None:
    with pytest.raises(DomainError, match=r"\.$"):
        FloatDomain(0.0, 5.0, 0.05).parse(text)


def test_that_a_number_too_large_for_a_float_is_refused_in_a_sentence() -> None:
    with pytest.raises(DomainError, match="outside"):
        FloatDomain(0.0, 5.0, 0.05).check(10**400)


@pytest.mark.parametrize(
    ("value", "held"),
    [(1e-185, "0.0"), (-4e-44, "0.0"), (-0.0, "0.0"), (1.2e-38, "1.2e-38"), (-1e-37, "-1e-37")],
)
def test_that_what_32_bits_cannot_hold_is_zero(value: float, held: str) -> None:
    """llama-server refuses such a number on its command line."""
    assert repr(FloatDomain(-2.0, 2.0, 0.05).check(value)) == held


@pytest.mark.parametrize("text", ["true", "ON", "yes", "1"])
def test_that_flags_know_several_words(text: str) -> None:
    assert FlagDomain().parse(text) is True
    with pytest.raises(DomainError):
        FlagDomain().parse(text + "?")


def test_that_a_list_names_each_word_once() -> None:
    domain = ListDomain(("ngram-simple", "draft-simple"))
    assert domain.parse("ngram-simple, draft-simple") == ("ngram-simple", "draft-simple")
    assert domain.parse("none") == domain.parse("") == ()
    for text in ("ngram-simple,ngram-simple", "medusa"):
        with pytest.raises(DomainError):
            domain.parse(text)


def test_that_a_path_holds_no_nul() -> None:
    with pytest.raises(DomainError):
        PathDomain().check("model\0.gguf")


def test_that_a_choice_is_read_in_any_case() -> None:
    assert ChoiceDomain(("auto", "on")).parse(" ON ") == "on"


@given(_junk)
def test_that_no_value_makes_a_check_fail_in_another_way(value: object) -> None:
    for setting in SETTINGS:
        try:
            checked = setting.domain.check(value)
        except DomainError as error:
            assert str(error).endswith(".")  # noqa: PT017 - either outcome is allowed
        else:
            assert setting.domain.check(checked) == checked


@given(st.text())
def test_that_no_text_makes_a_parser_fail_in_another_way(text: str) -> None:
    for setting in SETTINGS:
        try:
            value = setting.domain.parse(text)
        except DomainError as error:
            assert str(error).endswith(".")  # noqa: PT017 - either outcome is allowed
        else:
            assert setting.domain.parse(setting.domain.format(value)) == value


def test_that_assignments_become_values() -> None:
    assert parse_assignments(["slots=8", "kv_unified=on", "spec_types=ngram-simple"]) == {
        "slots": 8,
        "kv_unified": True,
        "spec_types": ("ngram-simple",),
    }


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("slots", "no '='"),
        ("slot=8", "Did you mean 'slots'"),
        ("slots=0", r"Parallel slots \(slots\): 0 is outside 1 to 256"),
        ("qwertz=1", "tunedeck settings"),
    ],
)
def test_that_a_wrong_assignment_is_answered_with_what_to_do(word: str, said: str) -> None:
    with pytest.raises(DomainError, match=said):
        parse_assignments([word])


def test_that_a_configuration_refuses_unknown_keys_and_values() -> None:
    with pytest.raises(DomainError, match="Did you mean 'top_k'"):
        EngineConfig.from_values({"topk": 1})
    with pytest.raises(DomainError, match="Micro-batch"):
        EngineConfig.from_values({"ubatch_tok": 0})


def test_that_a_file_name_that_is_no_text_is_refused_with_the_way_out() -> None:
    with pytest.raises(DomainError, match="rename the file"):
        PathDomain().check("/models/mod\udcff.gguf")


@pytest.mark.parametrize(
    ("text", "number"),
    [("0,8", 0.8), (" 1,25 ", 1.25), (",5", 0.5), ("0,125", 0.125), ("3,125", 3.125)],
)
def test_that_a_comma_that_can_only_be_a_decimal_one_is_taken(text: str, number: float) -> None:
    assert FloatDomain(0.0, 5.0, 0.05).parse(text) == number


def test_that_a_comma_that_may_be_either_is_asked_about() -> None:
    domain = FloatDomain(0.0, 20_000.0, 1.0)
    with pytest.raises(DomainError, match=r"'1,500' may be 1.5 or 1500: write it with a point"):
        domain.parse("1,500")
    assert domain.parse("0,500") == 0.5
    assert domain.parse("1,5") == 1.5


@pytest.mark.parametrize("text", ["0,8,1", "0.8,1", "a,b", ",", "1,", "no"])
def test_that_a_refused_number_says_how_to_write_it(text: str) -> None:
    with pytest.raises(DomainError, match=r"Write it with a point, such as 0\.50\.$"):
        FloatDomain(0.0, 1.0, 0.05).parse(text)


def test_that_a_comma_number_outside_is_called_outside() -> None:
    with pytest.raises(DomainError, match="outside"):
        FloatDomain(0.0, 1.0, 0.05).parse("1,5")


def test_that_a_printed_minus_counts_as_one() -> None:
    assert IntDomain(-1, 8, (0,)).parse("\N{MINUS SIGN}1") == -1
    assert FloatDomain(-1.0, 1.0, 0.1).parse("\N{MINUS SIGN}0.5") == -0.5
