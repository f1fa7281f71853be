"""Names of programs keep their underscores in Markdown."""

from __future__ import annotations

import pytest

from widgets.markdown_names import with_names_kept


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("__init__", r"\_\_init\_\_"),
        ("def __init__(self):", r"def \_\_init\_\_(self):"),
        ("class A:\n    def __init__(self):", "class A:\n    def \\_\\_init\\_\\_(self):"),
        ("self.__dict__ and x._y_", r"self.\_\_dict\_\_ and x.\_y\_"),
        ("_helper(a_) or _helper(b_)", r"\_helper(a_) or \_helper(b_)"),
        ("__MODULE__.name", r"\_\_MODULE\_\_.name"),
    ],
)
def test_that_a_name_is_literal(written: str, kept: str) -> None:
    assert with_names_kept(written) == kept


@pytest.mark.parametrize(
    "written",
    [
        "snake_case_name",
        "__Important__ and _stressed_.",
        "two __stressed words__ here",
        "`__init__` and ``a ` __init__``",
        "    __init__ = 1",
        "text\n\n\t__init__",
        "https://example.org/__init__.py",
        "[source](https://example.org/__init__.py)",
        "<mailto:__a__.b>",
        "____",
        r"\__init__",
    ],
)
def test_that_emphasis_code_and_addresses_stay(written: str) -> None:
    assert with_names_kept(written) == written


def test_that_an_open_backtick_hides_no_name() -> None:
    assert with_names_kept("a ` b __init__") == r"a ` b \_\_init\_\_"
