"""Cutting a stream of Markdown into blocks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.markdown_blocks import (
    MAX_BLOCK_CHARS,
    MAX_LIST_CHARS,
    BlockSplitter,
    CodeEnd,
    CodeStart,
    CodeText,
    Piece,
    Prose,
    mended,
)

MIXED = """# Title
Intro with **bold** text
- a
- b

- c

   more of c
1. one
   ```bash
   ls -l
     x
   ```
   then
2. two

Para `code` and
more
===
---
| a | b |
|---|---|
| 1 | 2 |

~~~python
def f():
    return "```"
x
~~~
end **bo"""


def pieces(text: str, size: int) -> tuple[list[Piece], str]:
    """What comes out of ``text`` fed in parts of ``size``, code joined; and the final tail."""
    splitter = BlockSplitter()
    found: list[Piece] = []
    for start in range(0, len(text), size):
        for piece in splitter.feed(text[start : start + size]):
            last = found[-1] if found else None
            if isinstance(piece, CodeText) and isinstance(last, CodeText):
                found[-1] = CodeText(last.text + piece.text)
            else:
                found.append(piece)
    held = splitter.take_held_code()
    if held and isinstance(found[-1], CodeText):
        found[-1] = CodeText(found[-1].text + held)
    elif held:
        found.append(CodeText(held))
    return found, splitter.tail(is_final=True)


def test_that_blocks_end_where_markdown_ends_them() -> None:
    found, tail = pieces(MIXED, len(MIXED))
    assert found == [
        Prose("# Title"),
        Prose("Intro with **bold** text"),
        Prose("- a\n- b\n\n- c\n\n   more of c\n1. one"),
        CodeStart("bash", 3),
        CodeText("ls -l\n  x"),
        CodeEnd(),
        Prose("then"),
        Prose("2. two"),
        Prose("Para `code` and\nmore\n==="),
        Prose("---"),
        Prose("| a | b |\n|---|---|\n| 1 | 2 |"),
        CodeStart("python", 0),
        CodeText('def f():\n    return "```"\nx'),
        CodeEnd(),
    ]
    assert tail == "end **bo"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64])
def test_that_it_does_not_matter_where_the_stream_is_cut(size: int) -> None:
    assert pieces(MIXED, size) == pieces(MIXED, len(MIXED))


WORDS = st.sampled_from(
    [
        "a",
        " ",
        "\n",
        "\n\n",
        "```",
        "`",
        "~~~",
        "- x",
        "1. y",
        "   ",
        "#",
        "|",
        "---",
        "**",
        "é",
        "漢",
        "\r\n",
    ]
)


@given(st.lists(WORDS, max_size=60), st.integers(1, 9))
def test_that_any_stream_cut_anywhere_gives_the_same_pieces(words: list[str], size: int) -> None:
    text = "".join(words)
    assert pieces(text, size) == pieces(text, max(1, len(text)))


# Behind the first word after a fence stand attributes, which are not shown.
FENCELESS = WORDS.filter(lambda word: word not in {"```", "~~~", "`"})


@given(st.lists(FENCELESS, max_size=60))
def test_that_no_letter_of_the_text_is_lost(words: list[str]) -> None:
    text = "".join(words)
    found, tail = pieces(text, 3)
    shown = "".join(piece.markdown for piece in found if isinstance(piece, Prose)) + tail
    for letter in "axyé漢":
        assert shown.count(letter) == text.count(letter)


def test_that_code_comes_before_its_line_is_complete() -> None:
    splitter = BlockSplitter()
    assert splitter.feed("```py\nx = ") == [CodeStart("py", 0), CodeText("x = ")]
    assert splitter.feed("1\ny") == [CodeText("1\ny")]
    assert splitter.feed("\n``") == []  # may become the closing fence
    assert splitter.feed("`\n") == [CodeEnd()]


def test_that_a_line_that_may_become_a_heading_is_held_back() -> None:
    splitter = BlockSplitter()
    splitter.feed("Some words\n--")
    assert splitter.tail() == "Some words"
    splitter.feed("- not a rule")
    assert splitter.tail() == "Some words\n--- not a rule"


@pytest.mark.parametrize(
    ("open_", "closed"),
    [
        ("a **b", "a **b**"),
        ("a `c", "a `c`"),
        ("**u `c", "**u `c`**"),
        ("2 ** 3", "2 ** 3"),
        ("**a** b", "**a** b"),
        ("a `", "a `"),
        ("`a` **", "`a` **"),
        ("x ``a` b", "x ``a` b``"),
    ],
)
def test_that_an_open_span_is_closed_for_now(open_: str, closed: str) -> None:
    assert mended(open_) == closed


@pytest.mark.parametrize("text", ["x" * 200_000, "lorem ipsum " * 16_667, "é́" * 50_000])
def test_that_a_line_without_end_is_cut_into_blocks(text: str) -> None:
    found, tail = pieces(text, 512)
    parts = [piece.markdown for piece in found if isinstance(piece, Prose)]
    assert max(map(len, parts)) <= MAX_BLOCK_CHARS
    assert "".join(parts) + tail == text
    assert all(part[0] != "\u0301" for part in parts)


def test_that_a_long_list_is_cut_between_items_and_keeps_its_numbers() -> None:
    found, tail = pieces("".join(f"{n}. item\n" for n in range(1, 1001)), 40)
    parts = [piece.markdown for piece in found if isinstance(piece, Prose)]
    assert len(parts) > 3
    assert max(map(len, parts)) <= MAX_LIST_CHARS + 20
    numbers = [line.split(".")[0] for line in "\n".join([*parts, tail]).split("\n")]
    assert numbers == [str(n) for n in range(1, 1001)]


def test_that_a_long_table_goes_on_as_a_table() -> None:
    head = "| a | b |\n|---|---|\n"
    found, _ = pieces(head + "| 1 | 2 |\n" * 200 + "\n", 64)
    parts = [piece.markdown for piece in found if isinstance(piece, Prose)]
    assert len(parts) > 2
    assert all(part.startswith(head) for part in parts)
    assert sum(part.count("| 1 | 2 |") for part in parts) == 200


@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000 + "x",
        "```" + " " * 200_000 + "`",
        "~" * 200_000 + "`",
        "`" * 4_000,
        "".join("`" * (n % 60 + 1) + "a" for n in range(2_000)),
        "- " * 100_000,
        "|-" * 100_000,
        "**" * 100_000,
        "\n" * 200_000,
    ],
)
def test_that_no_text_takes_more_than_linear_time(text: str) -> None:
    splitter = BlockSplitter()
    start_s = time.thread_time()
    for part in (text[at : at + 4096] for at in range(0, len(text), 4096)):
        splitter.feed(part)
        splitter.tail()
    BlockSplitter().feed(text + "\n")
    # Linear work takes about 20 ms here; the quadratic kind takes minutes.
    assert time.thread_time() - start_s < 2
