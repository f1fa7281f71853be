"""How a text is taken apart for two contexts, and what is refused."""

from __future__ import annotations

import pytest

from engine_bridge.child.context_pair import QualityError, comparing_config
from engine_bridge.child.quality_run import QualityRun, chunks_of, steps_of, tokens_of
from engine_bridge.quality_messages import QualityRequest
from engine_bridge.settings.config import EngineConfig


def request(**values: object) -> QualityRequest:
    config = EngineConfig(model_path="m.gguf")
    told: dict[str, object] = {"base": config, "candidate": config, "text": "word"}
    return QualityRequest(**(told | values))  # type: ignore[arg-type]


def test_that_the_token_of_every_beginning_takes_the_place_of_a_chunks_first() -> None:
    chunks = chunks_of(range(100, 250), request(ctx_tok=64), bos=1)
    assert [len(chunk) for chunk in chunks] == [64, 64]
    assert chunks[0][:3] == (1, 101, 102)
    assert chunks[1][:3] == (1, 165, 166)


def test_that_chunks_are_as_they_stand_where_no_token_begins_a_text() -> None:
    chunks = chunks_of(range(100, 250), request(ctx_tok=64), bos=None)
    assert chunks[1] == tuple(range(164, 228))


class Words:
    """A tokenizer whose tokens are words; it remembers how much it was given."""

    def __init__(self) -> None:
        self.given = 0

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        assert add_special
        assert not parse_special
        self.given += len(text)
        return [0, *(len(word) for word in text.split())]


def test_that_a_long_text_is_taken_apart_no_further_than_wanted() -> None:
    words = Words()
    text = " ".join("x" * (1 + number % 9) for number in range(200_000))
    found = tokens_of(words, text, 1000)
    assert found[:1000] == words.tokenize(text, add_special=True, parse_special=False)[:1000]
    assert len(found) >= 1000
    assert words.given - len(text) < len(text) // 10


def test_that_long_words_take_more_of_the_text() -> None:
    text = " ".join("x" * 100 for _ in range(5000))
    assert len(tokens_of(Words(), text, 1000)) >= 1000
    assert len(tokens_of(Words(), "few words here", 1000)) == 4


def test_that_no_more_chunks_are_read_than_asked_for() -> None:
    assert len(chunks_of(range(1000), request(ctx_tok=64, chunks=3), bos=None)) == 3


def test_that_a_text_of_less_than_a_chunk_is_a_sentence() -> None:
    with pytest.raises(QualityError, match="has 63 tokens, and one chunk takes 64"):
        chunks_of(range(63), request(ctx_tok=64), bos=None)


@pytest.mark.parametrize("tokens", [64, 500, 512, 513, 1024, 2048, 4100])
@pytest.mark.parametrize("rows_most", [40, 256])
def test_that_steps_cover_a_chunk_with_few_rows_each(tokens: int, rows_most: int) -> None:
    steps = list(steps_of(tokens, rows_most))
    assert steps[0][0] == 0
    assert steps[-1][1] == tokens
    assert [end for _, end in steps[:-1]] == [begin for begin, _ in steps[1:]]
    first = tokens // 2
    assert all(0 < end - begin <= 512 for begin, end in steps)
    assert all(end - max(begin, first) <= rows_most for begin, end in steps)


def test_that_a_chunk_of_512_is_one_step_as_llama_perplexity_has_it() -> None:
    assert list(steps_of(512, 256)) == [(0, 512)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"text": " \n "}, "empty"),
        ({"ctx_tok": 32}, "at least 64"),
        ({"chunks": 0}, "At least one chunk"),
        ({"facts": 500}, "at most 100 facts"),
        ({"facts": -1}, "at most 100 facts"),
        ({"speed_steps": 400}, "at most 254"),
    ],
)
def test_that_what_makes_no_sense_is_a_sentence(values: dict[str, object], said: str) -> None:
    with pytest.raises(QualityError, match=said):
        QualityRun(request(**values), lambda _: None)


def test_that_both_caches_get_one_sequence_and_keep_their_types() -> None:
    config = EngineConfig(
        slots=4, ctx_per_slot_tok=32_768, spec_types=("ngram-simple",), cache_type_k="q8_0",
        kv_unified=True, ctx_total_tok=65_536, threads=3,
    )  # fmt: skip
    made = comparing_config(config, 512)
    assert (made.slots, made.pool_tok, made.spec_types) == (1, 512, ())
    assert (made.cache_type_k, made.threads, made.batch_tok) == ("q8_0", 3, 512)
