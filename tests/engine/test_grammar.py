"""Grammars in the engine: what they let pass, where they end, and that none brings it down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine_bridge.child import grammar
from engine_bridge.child.grammar import Grammar, GrammarError
from engine_bridge.child.llama import LIB, Model
from engine_bridge.protocol import Applied, Refused, TokensDelivered
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.gbnf import fault_in
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.unit.test_gbnf import FAULTY, READABLE

pytestmark = pytest.mark.engine
# The token of each byte in the tiny vocabulary.
_FIRST_BYTE = 3
PROMPT = random_tokens(20)
DIGITS = 'root ::= "<" [0-9]{4} ">"'


@pytest.fixture(scope="module")
def model(few_words_path: Path) -> Iterator[Model]:
    made = Model.load(str(few_words_path), EngineConfig())
    yield made
    made.close()


@pytest.fixture
def passes(model: Model) -> Callable[[EngineConfig, str], bool]:
    """Whether a whole text follows the grammar of a configuration."""

    def check(config: EngineConfig, text: str) -> bool:
        grammar = Grammar(config, model)
        begun, candidates = grammar.begun(), grammar.candidates
        try:
            for token in [*(_FIRST_BYTE + byte for byte in text.encode()), model.eos]:
                candidates.fill_one(token)
                candidates.apply(begun, 1)
                if candidates.tokens["logit"][0] == -float("inf"):
                    return False
                LIB.llama_sampler_accept(begun, token)
        finally:
            LIB.llama_sampler_free(begun)
            grammar.close()
        return True

    return check


# --- What passes ------------------------------------------------------------------------------

SCHEMAS: list[tuple[dict[str, object], list[str], list[str]]] = [
    ({}, ["{}", '{"a": [1, null, "x"]}', '{ "a":1.5e3 }'], ["[]", "3", '{"a"}', '{"a":01}']),
    ({"type": "string"}, ['"é\\n"', '""'], ['"a\nb"', "a", '"\\x"']),
    ({"enum": ["a", 3, None]}, ['"a"', "3", "null"], ['"b"', "4"]),
    ({"const": {"a": [1]}}, ['{"a":[1]}'], ['{"a":[2]}']),
    (
        {"properties": {"a": {"type": "null"}, "b": {}, "c": {}}, "required": ["b"]},
        ['{"b":1}', '{"b": 1, "a": null}', '{"b":1,"a":null,"c":[]}', '{"b":1,"c":2}'],
        ['{"a":null}', '{"b":1,"c":2,"a":null}', '{"b":1,"d":2}', '{"b":1,}', '{"b":1,"a":3}'],
    ),
    (
        {"properties": {"ab": {"type": "null"}}, "additionalProperties": {"type": "integer"}},
        ["{}", '{"ab":null}', '{"a":1}', '{"abc":1,"x":2}', '{"ab":null,"":-7}'],
        ['{"ab":1}', '{"a":"x"}', '{"a":1,"ab":null}'],
    ),
    ({"items": {"type": "boolean"}, "maxItems": 2}, ["[]", "[true]", "[true, false]"], ["[1]"]),
    ({"type": "array", "minItems": 2, "maxItems": 2}, ["[1,2]"], ["[1]", "[1,2,3]", "[]"]),
    ({"prefixItems": [{"const": 1}, {"const": 2}]}, ["[1,2]"], ["[1]", "[2,1]"]),
    ({"type": "integer", "minimum": 7, "exclusiveMaximum": 12}, ["7", "11"], ["6", "12", "07"]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"abc"'], ['"a"', '"abcd"']),
    (
        {"pattern": r"^(?:a|b)+[^x\d]{1,2}\.?$"},
        ['"ab-"', '"a-z."'],
        ['"ax"', '"a1"', '"-"', '"a""'],
    ),
    ({"format": "date"}, ['"2024-12-31"'], ['"2024-13-01"', '"24-01-01"']),
    (
        {"$defs": {"t": {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/$defs/t"}}]}},
         "$ref": "#/$defs/t"},
        ["null", "[]", "[[null], null]"],
        ["[1]", "[[]"],
    ),
    (
        {"allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 2}}}]},
        ['{"a":1,"b":2}'],
        ['{"a":1}'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), SCHEMAS, ids=lambda value: str(value)[:40])
def test_that_a_schema_lets_pass_what_fits_and_nothing_else(
    passes: Callable[[EngineConfig, str], bool],
    schema: dict[str, object],
    good: list[str],
    bad: list[str],
) -> None:
    config = EngineConfig(json_schema=json.dumps(schema))
    for text in good:
        assert passes(config, text), text
        json.loads(text)
    for text in bad:
        assert not passes(config, text), text


def test_that_the_reader_and_llama_cpp_agree(model: Model) -> None:
    """Grammars whose tokens no vocabulary has, and what llama.cpp would hang on, left out."""

    def is_taken(text: str) -> bool:
        vocabulary = LIB.llama_model_get_vocab(model.handle)
        sampler = LIB.llama_sampler_init_grammar(vocabulary, text.encode(), b"root")
        if sampler:
            LIB.llama_sampler_free(sampler)
        return bool(sampler)

    hopeless = ("{3,2}", "a? b")
    for text in [*READABLE, *(case[0] for case in FAULTY)]:
        if text and "<think>" not in text and not any(part in text for part in hopeless):
            assert is_taken(text) == (fault_in(text) is None), text


def test_that_the_deepest_grammar_allowed_does_not_overflow_the_stack(model: Model) -> None:
    text = "root ::= " + "(" * 128 + '"a"' + ")" * 128
    Grammar(EngineConfig(grammar=text), model).close()
    with pytest.raises(GrammarError, match="128"):
        Grammar(EngineConfig(grammar=text.replace('"a"', '("a")')), model)


# --- Answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [{}, {"temperature": 1.5, "seed": 7, "top_k": 3}])
def test_that_an_answer_follows_the_grammar_and_ends_with_it(
    desk: InProcess, few_words_path: Path, values: dict[str, object]
) -> None:
    desk.load(tiny_config(few_words_path, grammar=DIGITS, **values))
    text, finished = desk.answer(PROMPT, max_new_tok=30)
    assert (text[0], text[-1], len(text)) == ("<", ">", 6)
    assert text[1:-1].isdecimal()
    assert (finished.reason, finished.detail) == ("end", "")


def test_that_a_whole_answer_ends_though_its_end_is_ignored(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, grammar=DIGITS, ignore_eos=True))
    text, finished = desk.answer(PROMPT, max_new_tok=30)
    assert text[-1] == ">"
    assert (finished.reason, finished.detail) == ("end", "")


def test_that_a_dead_end_is_said_and_the_next_answer_runs(
    desk: InProcess, few_words_path: Path
) -> None:
    """The only token that the grammar allows is one that must not be drawn."""
    token = _FIRST_BYTE + 0xC3
    values = {"grammar": 'root ::= "é"', "logit_bias": (f"{token}-inf",)}
    desk.load(tiny_config(few_words_path, **values))
    text, finished = desk.answer(PROMPT, max_new_tok=30)
    assert (text, finished.reason) == ("", "failed")
    assert "no token that could follow" in finished.detail
    assert isinstance(desk.apply(tiny_config(few_words_path)), Applied)
    assert desk.answer(PROMPT, max_new_tok=3)[1].timing.new_tok == 3


def test_that_a_running_answer_keeps_its_grammar_and_the_next_one_takes_the_new(
    desk: InProcess, few_words_path: Path
) -> None:
    config = tiny_config(few_words_path, grammar='root ::= [0-9]{40} "."')
    desk.load(config)
    running = desk.ask(PROMPT, max_new_tok=60)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, running)))
    stream = desk.batcher.find(running)
    assert stream is not None
    assert stream.new_tok < 40
    changed = config.with_values({"grammar": 'root ::= "next"', "temperature": 0.5})
    assert isinstance(desk.apply(changed), Applied)
    desk.finished(running)
    assert desk.text(running)[:-1].isdecimal()
    assert desk.text(running)[-1] == "."
    assert desk.answer(PROMPT, max_new_tok=60)[0] == "next"


def test_that_a_grammar_that_takes_too_long_ends_its_own_answer_alone(
    desk: InProcess, few_words_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(few_words_path, grammar='root ::= [0-9]{200} "."', slots=2)
    desk.load(config)
    slow = desk.ask(PROMPT, max_new_tok=300)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, slow)))
    assert isinstance(desk.apply(config.with_values({"grammar": ""})), Applied)
    free = desk.ask(PROMPT, max_new_tok=40)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, free)))
    monkeypatch.setattr(grammar, "_LONGEST_NS", -1)
    finished = desk.finished(slow)
    assert finished.reason == "failed"
    assert "in so many ways" in finished.detail
    assert desk.text(slow).isdecimal()
    assert desk.finished(free).reason in ("end", "token_limit")


def test_that_drafts_that_break_the_grammar_are_not_taken(
    desk: InProcess, few_words_path: Path
) -> None:
    """What repeats itself is drafted, and the grammar asks for something else after a while."""
    grammar = 'root ::= ("ab" "ab" "ab" "ab" "c" [xyz]){3}'
    drafting = {"spec_types": ("ngram-simple",), "ngram_size_n": 2, "ngram_size_m": 5}
    plain = tiny_config(few_words_path, grammar=grammar)
    desk.load(plain)
    wanted, _ = desk.answer(PROMPT, max_new_tok=60)
    desk.apply(plain.with_values(drafting))
    text, finished = desk.answer(PROMPT, max_new_tok=60)
    assert text == wanted
    assert finished.timing.drafted_tok > finished.timing.accepted_tok > 0


# --- What cannot be used ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "key", "words"),
    [
        ({"grammar": "root ::= <no-such-token>"}, "grammar", "none of this model's"),
        ({"logit_bias": ("99999+1",)}, "logit_bias", "from 0 to 511"),
        ({"grammar": 'root ::= "a"', "json_schema": "{}"}, "json_schema", "at once"),
    ],
)
def test_that_what_a_model_cannot_follow_is_refused_and_the_old_goes_on(
    desk: InProcess, few_words_path: Path, values: dict[str, object], key: str, words: str
) -> None:
    desk.load(tiny_config(few_words_path))
    answer = desk.apply(tiny_config(few_words_path, **values))
    assert isinstance(answer, Refused)
    assert answer.problem.keys[0] == key
    assert words in answer.problem.message
    assert desk.answer(PROMPT, max_new_tok=3)[1].reason == "token_limit"


def test_that_a_grammar_for_another_model_ends_each_answer_with_a_sentence(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path, grammar="root ::= <no-such-token>"))
    _, finished = desk.answer(PROMPT, max_new_tok=3)
    assert finished.reason == "failed"
    assert "none of this model's" in finished.detail


def test_that_a_faulty_text_on_the_wire_is_refused_with_its_place(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    faulty = EngineConfig(**{**tiny_config(few_words_path).values(), "grammar": 'root ::= "a'})  # type: ignore[arg-type]
    answer = desk.apply(faulty)
    assert isinstance(answer, Refused)
    assert "Line 1, column 10" in answer.problem.message
