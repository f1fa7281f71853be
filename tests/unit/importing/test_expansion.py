"""Texts whose variables or patterns are made to cost memory or time."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import pytest

from app.importing.importer import TextError, import_text

_LONG = "x" * 30_000
_MOST_S = 5.0
_MOST_BYTES = 64 << 20


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A=aaaaaaaaaa\n" + "A=$A$A\n" * 40 + "LLAMA_ARG_MODEL=$A\n", "x.env"),
        ("FROM llama.cpp:server\nENV A=aaaaaaaaaa\n" + "ENV A=$A$A\n" * 40, "Dockerfile"),
        (
            f"[Service]\nEnvironment=A={_LONG}\nExecStart=llama-server {'$A ' * 900}\n",
            "a.service",
        ),
        (f"A={_LONG}\nllama-server -m x {'$A ' * 900}\n", "a.sh"),
        (f"A={_LONG}\nllama-server -m x -c $(({'A+' * 900}A))\n", "a.sh"),
        (f"set A={_LONG}\nllama-server.exe {'%A% ' * 900}\n", "a.bat"),
    ],
)
def test_that_what_variables_put_in_is_bounded_in_every_kind_of_text(text: str, name: str) -> None:
    tracemalloc.start()
    try:
        with contextlib.suppress(TextError):
            import_text(text, name)
        assert tracemalloc.get_traced_memory()[1] < _MOST_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 100_000 + "llama-server -m a.gguf\n",
        f"A={'a' * 1_900}\n" + "B=${A##*a*a*b}\n" * 50 + "llama-server -m a.gguf\n",
    ],
    ids=["blank lines", "patterns"],
)
def test_that_a_text_made_to_cost_time_is_read_soon(text: str) -> None:
    began_s = time.process_time()
    with contextlib.suppress(TextError):
        import_text(text)
    assert time.process_time() - began_s < _MOST_S


def test_that_what_one_text_puts_in_is_not_counted_against_the_next() -> None:
    text = f"A={'a' * 20_000}\nllama-server -m m.gguf --alias $A -c 4096\n"
    for _ in range(60):
        assert import_text(text)


def test_that_loops_in_loops_without_end_are_a_sentence() -> None:
    text = "for a in b; do " * 3_000 + "llama-server -m x" + "; done" * 3_000
    with pytest.raises(TextError, match="Loops lie in each other"):
        import_text(text, "a.sh")
