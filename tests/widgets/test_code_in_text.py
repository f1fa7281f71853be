from __future__ import annotations

import pytest

from widgets.code_in_text import last_code_block

TWO = "First:\n\n```python\na = 1\n```\n\nthen\n\n```sh\nls -l\nls\n```\n\nDone."


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        (TWO, "ls -l\nls"),
        ("```\nx = 1\ny", "x = 1\ny"),  # the answer was cut off inside
        ("No code, only `words`.", None),
        ("", None),
    ],
)
def test_that_the_last_block_is_found_whole(markdown: str, code: str | None) -> None:
    found = last_code_block(markdown)
    assert (found.rstrip("\n") if found is not None else None) == code
