"""JSON as it arrives in pastes: whole, without its quotes, with single ones; bounded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.importing.loose_json import LooseJsonError, depth_after, read_json


@pytest.mark.parametrize(
    "text",
    [
        '{"method": "mtp", "n": 3, "sizes": [1, 2.5], "on": true, "off": null}',
        "{method: mtp, n: 3, sizes: [1, 2.5], on: true, off: null}",
        "{'method': 'mtp', 'n': 3, 'sizes': [1, 2.5], 'on': True, 'off': None}",
        "{method:mtp,n:3,sizes:[1,2.5],on:true,off:null}",
    ],
)
def test_that_lost_and_other_quotes_say_the_same(text: str) -> None:
    read = read_json(text)
    assert read == {"method": "mtp", "n": "3", "sizes": ["1", "2.5"], "on": "true", "off": ""}


def test_that_values_may_hold_colons_and_blanks() -> None:
    assert read_json("{model: C:\\m\\a b, url: http://x/y}") == {
        "model": "C:\\m\\a b",
        "url": "http://x/y",
    }


@pytest.mark.parametrize(
    "text", ["", "mtp", "{", "{a}", "{a:1", "[1", "{a:1}}", "{:1}", "{a:1} b", "['x]"]
)
def test_that_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(LooseJsonError):
        read_json(text)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a:" * 30_000, "[" * 60 + "]" * 60, " " * 200_000]
)
def test_that_depth_and_length_are_bounded(text: str) -> None:
    with pytest.raises(LooseJsonError):
        read_json(text)


_leaves = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_leaves, inner, max_size=3),
    max_leaves=8,
)


@given(_values)
def test_that_json_of_texts_comes_back(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@given(st.text(max_size=60))
def test_that_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_json(text)
    except LooseJsonError:
        return


def test_that_braces_in_quotes_do_not_count() -> None:
    assert depth_after('{"a": "}"') == 1
    assert depth_after('"\\"}"}', 1) == 0
