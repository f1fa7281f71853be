"""YAML that is written here, read back by a reader that is not ours."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.export.yaml_text import Block, yaml_text

_texts = st.text(st.characters(codec="utf-8"), max_size=20)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_scalars = st.one_of(_texts, st.integers(), st.booleans(), _floats)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(_scalars, min_size=1, max_size=3),
        st.lists(st.dictionaries(_texts, inner, min_size=1, max_size=2), min_size=1, max_size=2),
        st.dictionaries(_texts, inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(_texts, _values, min_size=1, max_size=4))
def test_that_everything_is_read_back_as_it_was(value: dict[str, object]) -> None:
    assert yaml.safe_load(yaml_text(value)) == value


@given(_texts, st.lists(_texts, max_size=4))
def test_that_a_block_is_read_back_as_it_was(first: str, others: list[str]) -> None:
    text = "\n".join([first, *others])
    assert yaml.safe_load(yaml_text({"cmd": Block(text), "b": 1})) == {"cmd": text, "b": 1}


@pytest.mark.parametrize(
    "text",
    [
        "1e-07", "0o17", "1_000", "on", "null", "~", "2001-01-01", ".5", "12:30", "=", "- x",
        "a: b", "a #b", "", " ", "{}", "*x", "&x", "!x", "%x", "@x", "`x`", "\u0085", "\ufeff",
    ],
)  # fmt: skip
def test_that_a_text_stays_a_text_and_stands_in_quotes(text: str) -> None:
    written = yaml_text({"services": [text]})
    assert yaml.safe_load(written) == {"services": [text]}
    assert written.splitlines()[1].startswith('  - "')


def test_that_it_looks_as_such_files_do() -> None:
    value = {
        "services": {"a.b": {"command": ["-m", "x"], "volumes": [{"type": "bind", "ro": True}]}},
        "cmd": Block("llama-server\n--port ${PORT}\n"), "on": 3,
    }  # fmt: skip
    assert yaml_text(value) == (
        'services:\n  "a.b":\n    command:\n      - "-m"\n      - "x"\n    volumes:\n'
        '      - type: "bind"\n        ro: true\ncmd: |\n  llama-server\n  --port ${PORT}\n'
        '"on": 3\n'
    )
