"""Words become flags as the engine's own parser takes them, and as people paste them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export.engine_words import engine_words
from app.importing.flag_reader import MOST_WORDS, Reading, Said, read_flags

ENGINES = ("vllm", "sglang", "koboldcpp", "tensorrt_llm", "lmstudio")


def read(line: str, engine: str = "vllm", meant: dict[str, str] | None = None) -> Reading:
    return read_flags(shlex.split(line), engine_words(engine), meant)


def one(line: str, engine: str = "vllm") -> Said:
    (said,) = read(line, engine).said
    return said


@pytest.mark.parametrize(
    ("line", "engine", "name", "values"),
    [
        ("--max-model-len 8192", "vllm", "--max-model-len", ("8192",)),
        ("--max_model_len=8192", "vllm", "--max-model-len", ("8192",)),
        ("-tp=4", "vllm", "--tensor-parallel-size", ("4",)),
        ("-O3", "vllm", "--optimization-level", ("3",)),
        ("-O 3", "vllm", "--optimization-level", ("3",)),
        ("--served-model-name a b", "vllm", "--served-model-name", ("a", "b")),
        ("--enforce-eager", "vllm", "--enforce-eager", ()),
        ("--max-model-len -1", "vllm", "--max-model-len", ("-1",)),
        ("--usecublas lowvram 0 mmq", "koboldcpp", "--usecuda", ("lowvram", "0", "mmq")),
        ("--tensor_split 3 1.5", "koboldcpp", "--tensor_split", ("3", "1.5")),
        ("--useclblast 0 0", "koboldcpp", "--useclblast", ("0", "0")),
        ("--gpulayers", "koboldcpp", "--gpulayers", ()),
        ("-c 4096", "lmstudio", "-c", ("4096",)),
    ],
)
def test_that_a_flag_takes_what_belongs_to_it(
    line: str, engine: str, name: str, values: tuple[str, ...]
) -> None:
    said = one(line, engine)
    assert (said.name, said.values) == (name, values)
    assert said.words == tuple(shlex.split(line))


def test_that_a_model_behind_a_list_of_words_is_left_alone() -> None:
    usecuda, model = read("--usecublas lowvram model.gguf", "koboldcpp").said
    assert usecuda.values == ("lowvram",)
    assert (model.name, model.values) == ("", ("model.gguf",))


def test_that_a_contrary_spelling_switches_off() -> None:
    assert one("--no-enable-prefix-caching").off
    assert not one("--enable-prefix-caching").off
    assert one("--enforce-eager=False").off


def test_that_a_switch_with_a_word_of_truth_is_told_of() -> None:
    reading = read("--trust-remote-code True")
    assert len(reading.said) == 1
    assert reading.problems[0].startswith("changed_arity:")


def test_that_an_unambiguous_beginning_is_read_and_told_of() -> None:
    reading = read("--gpu-memory-util 0.9")
    assert reading.said[0].name == "--gpu-memory-utilization"
    assert reading.problems == (
        "abbreviated_flag: --gpu-memory-util stands for --gpu-memory-utilization",
    )


def test_that_an_ambiguous_beginning_is_not_guessed() -> None:
    reading = read("--speculative-num 3", "sglang")
    assert reading.said[0].word is None
    assert "may stand for" in reading.problems[0]


def test_that_what_a_beginning_once_meant_can_be_given() -> None:
    meant = {"--speculative-draft": "--speculative-draft-model-path"}
    reading = read("--speculative-draft a/b", "sglang", meant)
    assert reading.said[0].name == "--speculative-draft-model-path"
    assert reading.said[0].values == ("a/b",)


def test_that_dashes_and_underscores_are_mended_where_the_engine_does_not() -> None:
    reading = read("--max-batch-size 8", "tensorrt_llm")
    assert reading.said[0].name == "--max_batch_size"
    assert reading.problems[0].startswith("broken_flag:")


def test_that_printers_dashes_are_mended_and_told_of() -> None:
    reading = read("—max-model-len 4096")
    assert reading.said[0].name == "--max-model-len"
    assert reading.problems[0].startswith("typographic:")


def test_that_json_that_fell_apart_is_put_together() -> None:
    reading = read_flags(
        [
            "--speculative-config",
            "{method:",
            "mtp,",
            "num_speculative_tokens:",
            "3}",
            "--port",
            "1",
        ],
        engine_words("vllm"),
    )
    assert [said.name for said in reading.said] == ["--speculative-config", "--port"]
    assert reading.said[0].value == "{method: mtp, num_speculative_tokens: 3}"
    assert reading.problems[0].startswith("log_paste:")


def test_that_a_brace_that_never_closes_takes_nothing() -> None:
    reading = read_flags(["--speculative-config", "{method:", "--port", "1"], engine_words("vllm"))
    assert [said.name for said in reading.said] == ["--speculative-config", "--port"]


def test_that_a_part_of_a_json_value_is_named() -> None:
    said = one("--speculative-config.num_speculative_tokens 3")
    assert (said.name, said.part, said.value) == (
        "--speculative-config", "num_speculative_tokens", "3",
    )  # fmt: skip


def test_that_a_missing_value_is_told_of() -> None:
    reading = read("--max-model-len --port 1")
    assert reading.said[0].values == ()
    assert reading.problems == ("bad_value: --max-model-len has no value, and needs one",)


def test_that_an_unknown_flag_keeps_its_value() -> None:
    said, port = read("--frobnicate 7 --port 1").said
    assert said.word is None
    assert said.words == ("--frobnicate", "7")
    assert port.name == "--port"


def test_that_nothing_behind_two_dashes_is_a_flag() -> None:
    assert [said.values for said in read("-- --port 1").said] == [("--port",), ("1",)]


_known = st.sampled_from(
    sorted({name for e in ENGINES for flag in engine_words(e).flags for name in flag.names})
)
_words = st.lists(
    st.one_of(_known, st.text(max_size=8), st.sampled_from(["{", "}", "=", "-", "--", "1", "—x"])),
    max_size=8,
)


@given(_words, st.sampled_from(ENGINES))
def test_that_every_word_is_kept_somewhere(words: list[str], engine: str) -> None:
    reading = read_flags(words, engine_words(engine))
    kept = [word for said in reading.said for word in said.words]
    if len(kept) < len(words):  # the first of these only ends the flags
        words = [*words]
        words.remove("--")
    assert kept == words


def test_that_more_words_than_a_command_has_are_left_and_told_of() -> None:
    reading = read_flags(["--unknown"] * (MOST_WORDS + 1), engine_words("vllm"))
    assert len(reading.said) == MOST_WORDS
    assert any("log_paste" in problem for problem in reading.problems)
