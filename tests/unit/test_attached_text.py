from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from widgets.attached_text import Attached, message_text, parts_of


def test_that_a_file_is_sent_fenced_under_its_name() -> None:
    sent = message_text([Attached("notes.py", "x = 1\n")], "What is x?")
    assert sent == "File: notes.py\n```py\nx = 1\n```\n\nWhat is x?"


def test_that_a_fence_is_longer_than_any_in_the_file() -> None:
    text = "````\ncode\n````\n"
    sent = Attached("a.md", text).as_sent()
    assert sent.startswith("File: a.md\n`````md\n")
    assert parts_of(sent) == ((Attached("a.md", text.removesuffix("\n")),), "")


def test_that_files_and_words_are_told_apart_again() -> None:
    files = (Attached("a.txt", "one"), Attached("b", ""), Attached("c.x y", "three\n\nfour"))
    found, typed = parts_of(message_text(files, "Compare.\n\nThen sum up."))
    assert found == files
    assert typed == "Compare.\n\nThen sum up."


def test_that_words_which_look_like_a_file_and_are_none_stay_words() -> None:
    for text in ("File: x\n```\nnever closed", "File: x", "Files: a", "```\ncode\n```"):
        assert parts_of(text) == ((), text)


@given(st.text(alphabet="`a\n ", max_size=60), st.text(alphabet="ab `\n", max_size=20))
def test_that_no_content_breaks_out_of_its_fence(content: str, typed: str) -> None:
    found, rest = parts_of(message_text([Attached("f.txt", content)], typed))
    assert found[:1] == (Attached("f.txt", content.removesuffix("\n")),)
    assert len(found) == 1
    assert rest == (typed.lstrip("\n") if typed.strip() else "")
