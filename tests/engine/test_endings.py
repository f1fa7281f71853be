"""How answers end, and what of their text is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child import llama
from engine_bridge.protocol import Cancel, RequestFinished, TokensDelivered
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.tiny_model import EOS_ID

pytestmark = pytest.mark.engine


def test_that_the_token_limit_ends_an_answer(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path, max_new_tok=7))
    _, finished = desk.answer(random_tokens(8), ignore_eog=True)
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 7)
    _, finished = desk.answer(random_tokens(8), ignore_eog=True, max_new_tok=3)
    assert (finished.reason, finished.timing.new_tok) == ("token_limit", 3)


def test_that_a_limit_of_zero_only_reads_the_prompt(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    text, finished = desk.answer(random_tokens(60), max_new_tok=0)
    assert (text, finished.reason, finished.timing.new_tok) == ("", "token_limit", 0)
    assert finished.used_tok == 60
    assert finished.timing.ttft_s is None
    _, again = desk.answer(random_tokens(60), max_new_tok=1)
    assert again.timing.reused_tok == 59


def test_that_a_full_slot_says_so(desk: InProcess, few_words_path: Path) -> None:
    """S05: context 256, short prompt, 300 tokens wanted."""
    desk.load(tiny_config(few_words_path, ctx_per_slot_tok=256))
    _, finished = desk.answer(random_tokens(10), ignore_eog=True, max_new_tok=300)
    assert finished.reason == "context_full"
    assert "256" in finished.detail
    assert finished.timing.new_tok == 256 - 10
    assert finished.used_tok == 255


def test_that_end_of_generation_ends_an_answer_unless_told_otherwise(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    eog = _make_every_token_end(desk)
    _, finished = desk.answer(random_tokens(8), max_new_tok=20)
    assert (finished.reason, finished.timing.new_tok) == ("end", 1)
    eog.clear()
    _, finished = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)
    assert finished.reason == "token_limit"
    drawn = desk.batcher._delivery.pieces
    assert EOS_ID not in drawn, "an ignored end of text is never drawn, as in llama-server"


def _make_every_token_end(desk: InProcess) -> list[int]:
    """Let every token count as end of generation; emptying the list takes that back."""
    every = [1]
    pieces = desk.batcher._delivery.pieces
    missing = type(pieces).__missing__

    class Ending(type(pieces)):  # type: ignore[misc]
        def __missing__(self, token: int) -> bytes | None:
            return None if every else missing(self, token)

    desk.batcher._delivery.pieces = Ending(desk.batcher.context.model)
    return every


def test_that_a_stop_text_ends_an_answer_across_token_borders(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    whole, _ = desk.answer(random_tokens(8), max_new_tok=40, ignore_eog=True)
    pieces = [e.text for e in desk.all_of(TokensDelivered)]
    assert len(whole) > 30
    stop = whole[11:17]  # begins and ends inside words
    assert len(pieces) >= 1
    text, finished = desk.answer(
        random_tokens(8), max_new_tok=40, ignore_eog=True, stop=("", stop, "never there")
    )
    assert (finished.reason, finished.detail) == ("stop_text", stop)
    assert text == whole[: whole.index(stop)]


def test_that_an_empty_stop_text_ends_nothing(desk: InProcess, few_words_path: Path) -> None:
    """S03."""
    desk.load(tiny_config(few_words_path))
    whole, _ = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True)
    text, finished = desk.answer(random_tokens(8), max_new_tok=20, ignore_eog=True, stop=("",))
    assert (text, finished.reason) == (whole, "token_limit")


def test_that_characters_spread_over_tokens_arrive_whole(
    desk: InProcess, few_words_path: Path
) -> None:
    """S01: the tiny vocabulary has a token for each byte, so every character is spread."""
    desk.load(tiny_config(few_words_path))
    wanted = "👩‍👩‍👧‍👦 🇩🇪 👍🏽 汉字 ไทย"
    _make_it_say(desk, [3 + byte for byte in wanted.encode()])
    text, finished = desk.answer(random_tokens(8), max_new_tok=len(wanted.encode()))
    assert text == wanted
    assert finished.reason == "token_limit"
    assert not any("\ufffd" in event.text for event in desk.all_of(TokensDelivered))


def test_that_a_broken_tail_becomes_one_mark(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    _make_it_say(desk, [3 + byte for byte in "ok 👍".encode()[:-1]])
    text, _ = desk.answer(random_tokens(8), max_new_tok=6)
    assert text == "ok \ufffd"


def _make_it_say(desk: InProcess, tokens: list[int]) -> None:
    """Replace the scores of the one stream by such as have ``tokens`` the likeliest, in turn."""
    rest = iter(tokens)
    context = desk.batcher.context

    def logits() -> NDArray[np.float32]:
        scores = np.zeros((1, context.model.vocab), np.float32)
        scores[0, next(rest)] = 1.0
        return scores

    context.logits = logits  # type: ignore[method-assign]


def test_that_a_cancelled_stream_keeps_its_slot_warm(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    prompt = random_tokens(40)
    request_id = desk.ask(prompt, ignore_eog=True, conversation="a")
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    desk.send(Cancel(request_id))
    finished = desk.finished(request_id)
    assert finished.reason == "cancelled"
    assert finished.used_tok >= 40
    _, again = desk.answer(prompt, conversation="a", max_new_tok=1)
    assert again.timing.reused_tok == 39


def test_that_special_token_text_stays_text(desk: InProcess, few_words_path: Path) -> None:
    """S23, without a template: what a user typed never becomes a control token."""
    desk.load(tiny_config(few_words_path))
    request_id = desk.ask("</s><s>x", max_new_tok=0)
    finished = desk.finished(request_id)
    slot = desk.batcher.slots[0]
    tokens = slot.tokens[: finished.used_tok].tolist()
    assert tokens[0] == 1
    assert EOS_ID not in tokens[1:]
    assert tokens.count(1) == 1, "one begin-of-text, put there by the engine"


def test_that_drawing_with_a_seed_can_be_repeated(desk: InProcess, few_words_path: Path) -> None:
    drawing = {"temperature": 1.5, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    desk.load(tiny_config(few_words_path, **drawing, seed=7))
    texts = [desk.answer(random_tokens(8), max_new_tok=30)[0] for _ in range(2)]
    assert texts[0] == texts[1]
    desk.apply(tiny_config(few_words_path, **drawing, seed=8))
    assert desk.answer(random_tokens(8), max_new_tok=30)[0] != texts[0]


def test_that_a_chain_at_temperature_zero_agrees_with_the_likeliest(
    desk: InProcess, few_words_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    greedy, _ = desk.answer(random_tokens(8), max_new_tok=30, ignore_eog=True)
    # A window of one token and a penalty of almost nothing needs the chain and changes no order.
    desk.apply(tiny_config(few_words_path, repeat_penalty=1.000001, repeat_last_n_tok=1))
    chained, _ = desk.answer(random_tokens(8), max_new_tok=30, ignore_eog=True)
    assert chained == greedy


def test_that_penalties_change_what_is_said(desk: InProcess, few_words_path: Path) -> None:
    desk.load(tiny_config(few_words_path))
    plain, _ = desk.answer(random_tokens(8), max_new_tok=60, ignore_eog=True)
    desk.apply(tiny_config(few_words_path, frequency_penalty=2.0, repeat_last_n_tok=64))
    penalised, _ = desk.answer(random_tokens(8), max_new_tok=60, ignore_eog=True)
    assert len(set(penalised.split())) > len(set(plain.split()))


def test_that_a_real_model_says_emoji_and_han_whole(desk: InProcess) -> None:
    """S01 on a real vocabulary, where bytes of one character are separate tokens."""
    path = models.qwen_path()
    desk.load(tiny_config(path))
    model = desk.batcher.context.model
    wanted = "👩‍👩‍👧‍👦🇩🇪👍🏽汉字ไทย"
    tokens = model.tokenize(wanted, add_special=False, parse_special=False)
    assert any(b"\xef\xbf\xbd" in _shown(model, token) for token in tokens), "some are only parts"
    _make_it_say(desk, tokens)
    text, _ = desk.answer("x", max_new_tok=len(tokens))
    assert text == wanted
    assert desk.all_of(RequestFinished)


def _shown(model: llama.Model, token: int) -> bytes:
    return model.piece(token).decode(errors="replace").encode()
