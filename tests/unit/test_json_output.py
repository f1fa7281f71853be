"""JSON on a stream: valid whatever the stream can write, errors as an object."""

from __future__ import annotations

import io
import json

import pytest

from app.cli import main
from app.json_output import json_line, tell_error, write_json

WORDS = "TTFT ≤ 1 s, × 2 → ± 3 · 😀 \x9b31m"


@pytest.mark.parametrize("encoding", [None, "utf-8", "ascii", "latin-1", "cp1252", "no such one"])
def test_that_every_encoding_gets_the_same_object(encoding: str | None) -> None:
    line = json_line({"said": WORDS}, encoding)
    assert json.loads(line) == {"said": WORDS}
    assert "\x9b" not in line
    assert "\n" not in line
    if encoding in ("ascii", "latin-1", "cp1252"):
        line.encode(encoding)


def test_that_what_the_stream_has_is_written_as_it_is() -> None:
    assert "≤" in json_line("≤", "utf-8")
    assert json_line("≤😀", "ascii") == '"\\u2264\\ud83d\\ude00"'


def test_that_an_object_is_a_line_of_its_own() -> None:
    out = io.StringIO()
    write_json({"a": 1}, out)
    write_json({"b": 2}, out)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [{"a": 1}, {"b": 2}]


def test_that_an_error_is_a_sentence_and_an_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    tell_error("It is “full”.", as_json=False)
    assert capsys.readouterr() == ("", "It is “full”.\n")
    tell_error("It is “full”.", as_json=True)
    said = capsys.readouterr()
    assert json.loads(said.out) == {"error": "It is “full”."}
    assert said.err == "It is “full”.\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["bench", "m.gguf", "--runs", "0", "--json"], 1, "A bench takes 1 to 1,000 runs"),
        (["sweep", "m.gguf", "--json"], 1, "A sweep needs at least one --vary"),
        (["compare", "m.gguf", "--json"], 1, "A and B are the same settings"),
        (["users", "m.gguf", "--users", "x", "--json"], 1, "--users takes numbers"),
        (["quality", "m.gguf", "--chunks", "0", "--json"], 1, "--chunks takes 1 to"),
        (["probe", "http://", "--json"], 1, "http"),
        (["plan", "no-such.gguf", "--json"], 1, "no-such.gguf"),
        (["plan", "m.gguf", "--set", "slot=1", "--json"], 1, "Did you mean 'slots'?"),
        (["history", "show", "19990101", "--json"], 1, "19990101"),
        (["bench", "--json"], 2, "required"),
        (["bensh", "m.gguf", "--json"], 2, "Did you mean 'bench'?"),
    ],
)
def test_that_every_command_tells_a_fault_as_an_object(
    words: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        ended: object = main(words)
    except SystemExit as error:  # the words themselves could not be read
        ended = error.code
    printed = capsys.readouterr()
    assert ended == status, printed.err
    told = json.loads(printed.out)
    assert list(told) == ["error"]
    assert said in told["error"]
    assert told["error"] == printed.err.removesuffix("\n")
