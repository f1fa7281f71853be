"""Flags of llama.cpp as items of a list: one flag each, quoted as a POSIX shell takes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.extra_flag import checked_flag, flag_item, flag_words
from engine_bridge.settings.table import BY_KEY

_PRINTABLE = st.characters(exclude_categories=["C", "Zl", "Zp", "Zs"], codec="utf-8")
_VALUES = st.text(_PRINTABLE | st.just(" "), max_size=40).filter(
    lambda text: not text.startswith("-")
)


@given(st.lists(_VALUES, max_size=3))
def test_that_values_of_any_kind_come_back(values: list[str]) -> None:
    words = ("--alias", *values)
    assert flag_words(flag_item(words)) == words
    assert flag_words(checked_flag(flag_item(words))) == words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("--alias 'half", "leaves a quote open"),
        ("reviewer", "does not begin with a flag"),
        ("", "does not begin with a flag"),
        ("-1", "does not begin with a flag"),
        ("--alias x --jinja", "--jinja is an item of its own"),
    ],
)
def test_that_what_is_not_one_flag_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(DomainError, match=why):
        flag_words(text)


def test_that_negative_numbers_are_values() -> None:
    assert flag_words("--reasoning-budget -1") == ("--reasoning-budget", "-1")


def test_that_a_list_survives_the_way_through_text_with_commas_and_repeats() -> None:
    domain = BY_KEY["extra_flags"].domain
    value = ("--tools read_file,grep_search", "--log-colors off", "--log-colors off")
    assert domain.parse(domain.format(value)) == value
    assert EngineConfig().with_values({"extra_flags": list(value)}).extra_flags == value
