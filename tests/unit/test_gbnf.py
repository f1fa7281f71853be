"""Grammars that can be read, and the place where others cannot."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.settings.gbnf import MOST_DEEP, fault_in

READABLE = [
    "",
    'root ::= "yes" | "no"',
    'root ::= item+\nitem ::= "- " [^\\n]{1,20} "\\n" # a line\n',
    'root ::= (\n  "a" |\n  b{2,}\n)?\nb ::= [a-z0-9_-]',
    'root ::= "1" root | "2"\n',
    'root ::= <[5]> !<[6]> <think> . "\\x41\\u00e9\\U0001F600"',
    "\n# a comment\nroot ::= word\n\nword ::= [^ ]+\r\n",
    'root ::= ("" | "a") "b"',
    'root ::= "a"{2000}',
    'root ::= a b\na ::= "x"?\nb ::= "y"',
    # It comes round to itself, but with nothing behind it.
    'root ::= ("a"?)* ws "b"\nws ::= ([ ]*)*',
]
FAULTY = [
    ("start ::= x", 1, 11, "'x'"),
    ('start ::= "x"', 1, 1, "'root'"),
    ('root ::= "yes', 1, 10, "not closed"),
    ('root ::= [a-z\nb ::= "c"', 1, 10, "not closed"),
    ('root ::= ("a" | "b"', 1, 10, "')'"),
    ("root ::= answer\nanswer ::= no", 2, 12, "'no'"),
    ('root = "a"', 1, 6, "'::='"),
    ('root ::= "a" ) "b"', 1, 14, "')'"),
    ('root ::= "\\q"', 1, 11, "\\q"),
    ('root ::= "\\x4"', 1, 11, "\\x"),
    ("root ::= *", 1, 10, "repeated"),
    ('root ::= "" +', 1, 13, "repeated"),
    ('root ::= "a"{3,2}', 1, 13, "fewer"),
    ('root ::= "a"{x}', 1, 13, "{3}"),
    ('root ::= "a"{2001}', 1, 13, "2,000"),
    ("root ::= <[99999999999]>", 1, 10, "<[123]>"),
    ("root ::= !x", 1, 11, "'<'"),
    ('root ::= root "a" | "b"', 1, 1, "begin with itself"),
    ('root ::= a\na ::= b "x"\nb ::= a | "y"', 2, 1, "begin with itself"),
    ('root ::= root | "a"', 1, 1, "begin with itself"),
    # llama.cpp's own search misses this one and then follows it for ever.
    ('root ::= a? b\na ::= "x"?\nb ::= a root "z"', 1, 1, "begin with itself"),
    ("%llguidance {}", 1, 1, "name"),
]


@pytest.mark.parametrize("text", READABLE)
def test_that_a_grammar_can_be_read(text: str) -> None:
    assert fault_in(text) is None


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        # Each character doubles the ways: what closes it is not known before the end.
        ('root ::= "<" root ")" | "<" root "]" | "x"', 1, "root"),
        ('root ::= s "."\ns ::= "a" s s "x" | "a" s s "y" | "b"', 2, "s"),
        ('root ::= sum\nsum ::= ("(" sum ")" | "(" sum "]" | [0-9])+', 2, "sum"),
        ('root ::= list "."\nlist ::= "[" (list "," | list ";"){2,5} "]" | "0"', 2, "list"),
        # A usual way to write sums: llama.cpp takes 1.6 s for the sixth bracket, 30 s for the next.
        ('root ::= e\ne ::= t "+" e | t\nt ::= f "*" t | f\nf ::= [0-9]+ | "(" e ")"', 4, "f"),
        # Of any length before: what doubles stands behind words.
        ('root ::= word " " (root "a" | root "b") | "."\nword ::= [a-c]{5}', 1, "root"),
    ],
)
def test_that_ways_that_pile_up_are_refused_with_the_rule(text: str, line: int, name: str) -> None:
    fault = fault_in(text)
    assert fault is not None
    assert f"{name!r}" in fault.what
    assert "more than a thousand ways" in fault.what
    assert fault.line == line


@pytest.mark.parametrize(
    "text",
    [
        # Many ways at once, that do not multiply.
        "root ::= " + " | ".join(f'"item {number}"' for number in range(3_000)),
        'root ::= [a-z]* [a-z]* [a-z]* "x"',
        "root ::= [a-z]{0,200} [a-m]{0,200} [a-z]{0,200}",
        'root ::= ("a" | "b")* "c" ("a" | "b")*',
        'root ::= e\ne ::= t ("+" e)?\nt ::= f ("*" t)?\nf ::= [0-9]+ | "(" e ")"',
        'root ::= sum\nsum ::= product (("+" | "-") product)*\n'
        'product ::= one (("*" | "/") one)*\none ::= "(" sum ")" | [0-9]+ | [a-z]+ "(" sum ")"',
        'root ::= value\nvalue ::= "[" (value ("," value)*)? "]" | "{" (pair ("," pair)*)? "}" | '
        'text | "true" | "false"\npair ::= text ":" value\ntext ::= "\\"" [^"\\\\]* "\\""',
        'root ::= (line "\\n")+\nline ::= "# " words | "- " words | words | ""\n'
        'words ::= [^ \\n]+ (" " [^ \\n]+)*',
    ],
)
def test_that_ordinary_grammars_are_not_taken_for_such(text: str) -> None:
    assert fault_in(text) is None


@pytest.mark.parametrize(("text", "line", "column", "words"), FAULTY)
def test_that_a_fault_has_its_place_and_a_sentence(
    text: str, line: int, column: int, words: str
) -> None:
    fault = fault_in(text)
    assert fault is not None
    assert words in fault.what
    if "itself" not in words:  # which of the rules is named first does not matter
        assert (fault.line, fault.column) == (line, column)
    assert str(fault).startswith(f"Line {fault.line}, column {fault.column}: ")


@pytest.mark.parametrize(
    "text",
    [
        "root ::= " + "(" * (MOST_DEEP + 1) + '"a"' + ")" * (MOST_DEEP + 1),
        "root ::= " + '"a"{2000}' * 200,
        # Two ways to each next rule: 2 to the power of 40 paths.
        "root ::= r0\n"
        + "\n".join(f"r{n} ::= r{n + 1} | r{n + 1}" for n in range(40))
        + '\nr40 ::= "a"',
    ],
)  # fmt: skip
def test_that_what_would_bring_llama_cpp_down_is_refused(text: str) -> None:
    fault = fault_in(text)
    assert fault is not None
    assert len(str(fault)) < 200


def test_that_thousands_of_rules_in_a_chain_are_no_recursion_here() -> None:
    chain = "\n".join(f"r{n} ::= r{n + 1}" for n in range(4000)) + '\nr4000 ::= "a"'
    begun = time.process_time()
    assert fault_in(f"root ::= r0\n{chain}") is None
    assert time.process_time() - begun < 60


@given(st.text(alphabet='ab ro=:|"[]()*+?{},0123\\^-.<>!#\n', max_size=60))
def test_that_no_text_makes_the_reader_fail(text: str) -> None:
    fault = fault_in(f"root ::= {text}")
    assert fault is None or fault.line >= 1
